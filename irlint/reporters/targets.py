"""Which releases take a model, as a matrix for people."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from irlint.lazy_typing import Any
from irlint.reporters.plain import safe, spelled

#: The runtime whose releases were not asked.
LISTED = "tensorrt"

#: The most reasons of a release for refusing a model that a report lists.
SHOWN = 6


def rendered(found: dict[str, Any], encoding: str = "utf-8") -> str:
    """A block for each runtime, a line for releases that do the same, and what keeps the model from them; what
    ``encoding`` does not have is escaped."""
    lines = [f"{safe(found['path'])} ({found['format']})"]
    for name, entries in groupby(found["targets"], key=lambda each: each["name"]):
        lines += ["", *_runtime(name, list(entries))]
    if "restamp" in found:
        lines += ["", _advice(found["restamp"])]
    return spelled("\n".join([*lines, ""]), encoding)


def _advice(stamp: dict[str, Any]) -> str:
    """``save with opset 17 and IR version 8: runs on onnxruntime from 1.15 on``."""
    first: dict[str, str] = {}
    for each in stamp["runs"]:
        first.setdefault(each["name"], each["release"])
    runtimes = ", ".join(f"{name} from {release} on" for name, release in first.items())
    return f"save with opset {stamp['opset']} and IR version {stamp['ir_version']}: runs on {runtimes}"


def _runtime(name: str, entries: list[dict[str, Any]]) -> Iterator[str]:
    yield name if name != LISTED else f"{name} (by its vendor's list: not measured)"
    groups = [
        list(alike) for _, alike in groupby(entries, key=lambda each: (each["verdict"], str(each.get("reasons"))))
    ]
    spans = [_span(group, entries) for group in groups]
    width = max(map(len, spans))
    for span, group in zip(spans, groups):
        verdict = "not known" if group[0]["verdict"] == "unknown" else group[0]["verdict"]
        yield f"  {span:{width}}  {verdict}"
        yield from _reasons(group[0].get("reasons", ()), width + 4)


def _span(group: list[dict[str, Any]], entries: list[dict[str, Any]]) -> str:
    first, last = group[0]["release"], group[-1]["release"]
    span = first if first == last else f"{first} to {last}"
    return f"{span} (newest)" if group[-1] is entries[-1] else span


def _reasons(reasons: Any, indent: int) -> Iterator[str]:
    for each in reasons[:SHOWN]:
        nodes = f" ({each['nodes']} nodes)" if each.get("nodes", 0) > 1 else ""
        yield f"{' ' * indent}{safe(each['message'])}{nodes}"
        if each.get("help"):
            yield f"{' ' * indent}  -> {safe(each['help'])}"
    if len(reasons) > SHOWN:
        yield f"{' ' * indent}and {len(reasons) - SHOWN} more"
