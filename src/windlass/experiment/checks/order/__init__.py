"""Checks for ordering policies: of one site, in ``site``, and of the sites of a fleet, in ``fleet``."""
