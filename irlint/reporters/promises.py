"""The ``[[models]]`` table of a configuration that promises the inputs and outputs of a model."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from irlint.reporters.pasted import comment, pasted

#: The beginning of the name of a symbol, if its size depends on the values of inputs.
UNKNOWN = re.compile(r"\b_")


def rendered(found: Mapping[str, Any]) -> str:
    """The table for the data of ``irlint contract --format json``. If nothing can be promised, only comments."""
    return pasted(_lines(found))


def _lines(found: Mapping[str, Any]) -> Iterator[str]:
    always = [each["condition"] for each in found["requires"] if "when" not in each]
    for each in found["requires"]:
        if "when" in each:
            yield comment(f"{each['condition']} must be true if {each['when']} runs, which a promise cannot express")
    promises = [*_types("takes", found["inputs"])]
    if always:
        promises.append(f"accepts = [{', '.join(map(_toml_string, always))}]")
    promises += _types("returns", found["outputs"])
    if not all(line.startswith("#") for line in promises):
        yield "[[models]]"
        yield f"file = {_toml_string(found['path'])}"
    yield from promises


def _types(key: str, ends: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    stated = [each for each in ends if each["dtype"] is not None and "(" not in each["dtype"]]
    for each in ends:
        if each not in stated:
            yield comment(f"{each['name']} is not a tensor, so a promise cannot express it")
    if stated:
        parts = (f"{_toml_key(each['name'])} = {_toml_string(_type(each))}" for each in stated)
        yield f"{key} = {{ {', '.join(parts)} }}"


def _type(end: Mapping[str, Any]) -> str:
    """The type of an input or output. A size that depends on the values of inputs is ``?``."""
    if end["shape"] is None:
        return str(end["dtype"])
    dims = ("?" if isinstance(dim, str) and UNKNOWN.search(dim) else str(dim) for dim in end["shape"])
    return f"{end['dtype']}[{', '.join(dims)}]"


def _toml_key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _toml_string(name)


def _toml_string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
