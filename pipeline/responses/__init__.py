"""Answers on disk: appended once each, counted only when they are there, found again without reading them.

HOME/projects/SLUG/responses/DATASET/
    part-00001.jsonl …   one Response a line, in order of completion; a new part every 64 MiB
    index.bin            52 bytes for each of these lines: what a resumed run needs to know of it
    errors.jsonl         one Failure a line: prompts that gave no answer, and why
    manifest.json        parts by hash, counts by dataset revision and sampling; written when a run ends
    lock                 held by the one process that may append

The parts are the truth and the index a copy. A line is written to its part, then to the index, then told to anybody. A kill
at any moment can therefore leave a torn last line (cut and reported when the store is opened next), or lines that the index
does not know yet (read then). A missing or damaged index is built again from the parts.
"""
