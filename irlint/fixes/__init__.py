"""Edits of a model as data: which ones a finding asks for, and how they are written into the bytes of a file."""
