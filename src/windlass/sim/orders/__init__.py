"""Jobs whose tasks are fixed to sites, under an order of the jobs."""
