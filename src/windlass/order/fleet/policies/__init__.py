"""Order policies of a fleet, one file each; this folder is the registry."""
