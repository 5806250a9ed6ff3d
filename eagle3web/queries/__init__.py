"""Reads that pages share. Each function says what it costs; none of them changes anything."""
