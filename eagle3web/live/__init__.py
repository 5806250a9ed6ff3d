"""What viewers of one topic receive: a snapshot, then numbered deltas, over one WebSocket a page.

A `Reader` reads one topic from the database, a `Feed` keeps the newest state with a number on every part, and the `Hub` reads
each topic once for all its viewers. Nothing here knows a page: readers come from above (eagle3web.pages).
"""
