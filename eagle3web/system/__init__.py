"""The whole system as one foreground program, for a laptop and for the demo. A team's hosts use systemd units instead."""
