"""Jobs over the sites of a fleet."""
