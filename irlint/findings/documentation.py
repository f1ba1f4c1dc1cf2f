"""The published address of the rule pages."""

from __future__ import annotations

from functools import cache

#: The label of the address in the package's metadata, in lower case.
LABEL = "documentation"


def url(code: str) -> str:
    """The address of a rule's page, or "" if the metadata of the package names no documentation."""
    root = address()
    return f"{root}/rules/{code}" if root else ""


@cache
def address() -> str:
    """The address of the documentation in the package's metadata, without a slash at its end, or ""."""
    # Importing importlib.metadata takes a third of the time of a small check.
    import os
    import sys

    from irlint import __version__

    for folder in sys.path:
        try:
            with open(os.path.join(folder, f"irlint-{__version__}.dist-info", "METADATA"), encoding="utf-8") as file:
                return _address_in(file.read())
        except (OSError, ValueError):
            continue
    return ""


def _address_in(metadata: str) -> str:
    for line in metadata.splitlines():
        field, _, text = line.partition(":")
        if not line:
            break
        if field.lower() == "project-url":
            label, _, found = text.partition(",")
            if label.strip().lower() == LABEL and found.strip().startswith(("https://", "http://")):
                return found.strip().rstrip("/")
    return ""
