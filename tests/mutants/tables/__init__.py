"""The changes, by the room that they are in."""
