"""What order policies of one site share: the profile of idle processors over time."""
