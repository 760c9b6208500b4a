"""Checks of the policies that say which job goes first: at one site, in ``site``, and over all, in ``fleet``."""
