"""Order policies of one site, one file each; this folder is the registry."""
