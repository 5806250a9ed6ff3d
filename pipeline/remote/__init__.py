"""`python -m pipeline remote`: the dashboard's API at a shell. It knows addresses and words, and nothing of Django."""
