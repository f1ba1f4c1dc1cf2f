"""Snippets: the excerpt of the model that a report shows under a finding, with its lines, its shapes, and the origin of
the sizes."""
