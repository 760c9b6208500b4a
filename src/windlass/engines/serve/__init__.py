"""A request router for Ray Serve that learns how fast replicas are while it routes."""
