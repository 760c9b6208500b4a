"""Small tasks on many workers."""
