"""Hypothesis draws the same cases in every run; ``--hypothesis-profile=wild`` lets it look elsewhere."""

from pathlib import Path

from hypothesis import settings

settings.register_profile("steady", derandomize=True)
settings.register_profile("wild", derandomize=False)
settings.load_profile("steady")

#: Tests of the source tree, left out where only an installed irlint is there.
OF_THE_SOURCES = [
    "policy/test_keys.py",
    "test_contributing.py",
    "test_index.py",
    "test_layers.py",
    "test_messages.py",
    "test_operator_names.py",
    "test_pre_commit.py",
    "test_release.py",
]
collect_ignore = [] if (Path(__file__).parent.parent / "irlint").is_dir() else OF_THE_SOURCES
