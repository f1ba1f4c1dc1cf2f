"""Snippets: the excerpts of models that reports show under findings."""
