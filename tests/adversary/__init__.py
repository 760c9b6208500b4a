"""An adversary for the live drivers: fake systems in virtual time that fail while a driver is killed and restarted."""
