"""What the vendor's page ``docs/operators.md`` of onnx-tensorrt says of a release: it was not measured."""

from __future__ import annotations

import re
from collections.abc import Iterator

_OPSETS = re.compile(r"inclusive range of opset (\d+) to opset (\d+)")
_UP_TO = re.compile(r"up to Opset (\d+)")

_TYPE = re.compile(r"[A-Z]+\d*")
_MISSPELLED = {"INF64": "INT64"}

#: The first opset where the page names only the last one.
FIRST_OPSET = 7


def facts(text: str) -> Iterator[str]:
    """The facts that hold for the release of a page."""
    between, up_to = _OPSETS.search(text), _UP_TO.search(text)
    first, last = (int(between[1]), int(between[2])) if between else (FIRST_OPSET, int(up_to[1]) if up_to else 0)
    yield from (f"opset {version}" for version in range(first, last + 1))
    if "cast down INT64 to INT32" in text:
        yield "casts INT64"
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().removesuffix("|").removeprefix("|").split("|")]
        if len(cells) >= 2 and cells[1].startswith("Y"):
            yield from _operator(cells[0], *cells[2:4])


def _operator(name: str, types: str = "", restrictions: str = "") -> Iterator[str]:
    """The facts of a row; pages of early releases have no types."""
    yield f"op {name}"
    listed = [_MISSPELLED.get(each, each) for each in re.split(r"[,\s]+", types) if each]
    if all(map(_TYPE.fullmatch, listed)):
        yield from (f"type {name} {each}" for each in listed)
    else:
        restrictions = types
    yield from (f"restriction {name} {each}" for each in sentences(restrictions))


def sentences(text: str) -> Iterator[str]:
    """The sentences of a cell, without their stops."""
    for each in re.split(r"\.\s+(?=[`\"A-Z])|<br ?/>", text.replace("\\", "")):
        sentence = each.strip().rstrip(".").strip()
        if sentence:
            yield re.sub(r"\s+", " ", sentence)
