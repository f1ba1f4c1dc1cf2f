"""Writes what follows from the rows of the configuration's keys and of the forms of a report:
``irlint/irlint.schema.json`` and two tables of the guide."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from irlint.policy.keys import KEYS, Key, explained
from irlint.reporters.forms import ROWS

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = ROOT / "irlint" / "irlint.schema.json"
GUIDE = ROOT / "irlint" / "guide"

#: What several keys have in common.
DEFINITIONS = {
    "text": {"type": "string", "pattern": r"\S"},
    "rule": {
        "description": "A code (IRL201), the first letters of codes (IRL2), or a name (broadcast-mismatch).",
        "type": "string",
        "pattern": r"\S",
    },
    "glob": {
        "description": "Without a slash it fits at any depth, with one it starts from the folder of the configuration; "
        "** is any folders.",
        "type": "string",
        "pattern": r"\S",
    },
}

DIM = r"([0-9]+|[^\W\d]\w*|[?])"
DIMS = {"type": "string", "pattern": rf"^( *{DIM} *(, *{DIM} *)*| *)$"}
COUNT = {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "string", "pattern": r"^\d{1,18}(\.\d{1,9})?[KMG]?$"}]}
DATE = {"type": "string", "format": "date", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}


def reference(name: str) -> dict[str, Any]:
    """A value as one of the definitions has it."""
    return {"$ref": f"#/definitions/{name}"}


def listed(name: str, key: Key) -> dict[str, Any]:
    return {"type": "array", **({"minItems": 1} if key.filled else {}), "items": reference(name)}


def chosen(key: Key) -> dict[str, Any]:
    return {"enum": list(key.values), **({"default": key.default} if key.default else {})}


def table(values: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": values}


def entries(key: Key) -> dict[str, Any]:
    entry: dict[str, Any] = {"type": "object", "additionalProperties": False}
    entry["required"] = [part.name for part in key.parts if part.needed]
    if key.one_of:
        entry["anyOf"] = [{"required": [name]} for name in key.one_of]
    entry["properties"] = {part.name: described(part) for part in key.parts}
    return {"type": "array", "items": entry}


#: What may stand for a key of each kind.
KINDS: Mapping[str, Callable[[Key], dict[str, Any]]] = {
    "choice": chosen,
    "switch": lambda key: {"type": "boolean", "default": key.default},
    "text": lambda key: reference("text"),
    "file": lambda key: reference("text"),
    "rule or glob": lambda key: reference("text"),
    "glob": lambda key: reference("glob"),
    "globs": lambda key: listed("text", key),
    "targets": lambda key: listed("text", key),
    "rules": lambda key: listed("rule", key),
    "levels": lambda key: table(chosen(key)),
    "rules by glob": lambda key: table(listed("rule", key)),
    "date": lambda key: DATE,
    "shapes": lambda key: table(DIMS),
    "count": lambda key: COUNT,
    "models": entries,
    "operators": entries,
    "types": lambda key: table(reference("text")),
    "conditions": lambda key: listed("text", key),
    "signature": lambda key: reference("text"),
    "suppressions": entries,
}


def described(key: Key) -> dict[str, Any]:
    """The schema of a key's value."""
    return {"description": explained(key, "`"), **KINDS[key.kind](key)}


def schema() -> str:
    """The text of the JSON schema."""
    document = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "irlint",
        "description": "The configuration of irlint: irlint.toml, .irlint.toml, or the table tool.irlint of "
        "pyproject.toml.",
        "type": "object",
        "additionalProperties": False,
        "properties": {key.name: described(key) for key in KEYS},
        "definitions": DEFINITIONS,
    }
    return json.dumps(document, indent=2) + "\n"


def keys_table() -> str:
    """The guide's table of keys."""
    rows = [f"| `{f'[[{key.name}]]' if key.parts else key.name}` | {explained(key, '`')} |" for key in KEYS]
    return "\n".join(["| key | what it sets |", "|---|---|", *rows]) + "\n"


def forms_table() -> str:
    """The guide's table of formats."""
    rows = [f"| `{form.name}` | {form.purpose} |" for form in ROWS]
    return "\n".join(["| `--format` | what it is for |", "|---|---|", *rows]) + "\n"


#: The tables of the guide, by their pages; each stands between marks.
TABLES: Mapping[Path, tuple[str, Callable[[], str]]] = {
    GUIDE / "configuration.md": ("keys", keys_table),
    GUIDE / "formats.md": ("forms", forms_table),
}


def page(path: Path) -> str:
    """A page of the guide with its table made anew."""
    mark, made = TABLES[path]
    head, begin, rest = path.read_text("utf-8").partition(f"<!-- {mark}:begin -->\n")
    _, end, tail = rest.partition(f"<!-- {mark}:end -->")
    return head + begin + made() + end + tail


#: What is written, and the text that it has to have.
WRITTEN: Mapping[Path, Callable[[], str]] = {SCHEMA: schema, **{path: partial(page, path) for path in TABLES}}


def main() -> None:
    """Writes the files that differ."""
    for path, text in WRITTEN.items():
        path.write_text(text(), encoding="utf-8", newline="\n")
        print(f"wrote {path.relative_to(ROOT)}")


if __name__ == "__main__":
    sys.exit(main())
