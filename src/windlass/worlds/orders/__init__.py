"""Jobs whose tasks are fixed to sites."""
