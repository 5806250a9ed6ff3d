"""Prompts: what people have on disk → validated, normalised, stored under a content hash.

file ──▶ containers (bytes → rows) ──▶ formats (row → conversation) ──▶ reading (keys, duplicates, report) ──▶ revision
"""
