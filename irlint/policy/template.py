"""The ``irlint.toml`` that ``irlint init`` writes."""

from __future__ import annotations

from irlint.policy.keys import KEYS, Key, explained

FILE = "irlint.toml"

HEAD = """\
# The configuration of irlint. Every key is optional; options on the command line take precedence.
#
# RULES are codes (IRL201), prefixes of codes (IRL2) or names (broadcast-mismatch); `irlint rules` lists them.
# A GLOB without a slash matches files and folders at any depth. A GLOB with a slash is relative to the folder of this
# file; ** matches any number of folders. To set a key, remove the "# " before it. Keep all keys above the [tables].
"""

#: The headers of keys whose values are tables, by the kind of the key.
TABLES = {
    "levels": "[{}]",
    "rules by glob": "[{}]",
    "models": "[[{}]]",
    "operators": "[[{}]]",
    "suppressions": "[[{}]]",
}

#: The largest width of explanations, in columns, without ``# ``.
WIDTH = 118


def text() -> str:
    """The text of the file: every key with its explanation and an example, in comments."""
    in_order = sorted(KEYS, key=lambda key: key.kind in TABLES)
    return "\n".join([HEAD, *map(_section, in_order)])


def _section(key: Key) -> str:
    from textwrap import wrap

    head = TABLES.get(key.kind)
    setting = f"{key.name} = {key.example}" if head is None else f"{head.format(key.name)}\n{key.example}"
    lines = [*wrap(explained(key, '"'), WIDTH), *setting.split("\n")]
    return "".join(f"# {line}\n" for line in lines)
