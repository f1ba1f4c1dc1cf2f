"""Edits of a model as data: which edits fix a finding, and how they are written into the bytes of a file."""
