"""From a row to a prompt: one reader for each shape that people write conversations in."""
