"""The live engines: what carries a policy's decisions out on a real system."""
