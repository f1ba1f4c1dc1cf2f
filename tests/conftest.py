"""Hypothesis draws the same cases in every run; ``--hypothesis-profile=wild`` lets it look elsewhere."""

from hypothesis import settings

settings.register_profile("steady", derandomize=True)
settings.register_profile("wild", derandomize=False)
settings.load_profile("steady")
