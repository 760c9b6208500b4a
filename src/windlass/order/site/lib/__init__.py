"""What order policies of one site share: ``profile``, idle processors over time."""
