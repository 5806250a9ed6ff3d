"""Rows for measuring: a project with as much in it as a team makes in years. Nothing of it has files."""
