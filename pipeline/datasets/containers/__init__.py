"""From bytes to rows: one reader for each kind of file. Streaming: memory holds one row, whatever the file's size."""
