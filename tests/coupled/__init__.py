"""Parts that share time and nodes."""
