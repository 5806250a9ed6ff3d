"""Whether a system tells the truth: a second opinion that reads files, database and /proc by itself.

Nothing here imports `eagle3web`, `pipeline` or Django: what the system believes of its own files is what is in question. It
knows the formats from their description alone (JSON lines, SQL tables, /proc), and finds contradictions between them.
"""
