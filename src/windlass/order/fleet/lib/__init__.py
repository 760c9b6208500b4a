"""What order policies of a fleet share: checked arrays, instants of finish, the search behind SWAG."""
