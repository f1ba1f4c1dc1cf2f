"""The differences of two model files, as data."""

from __future__ import annotations

import os
from collections.abc import Iterator

from irlint.contracts.changes import Change
from irlint.contracts.difference import differences
from irlint.contracts.identity import TENSORS, Digest
from irlint.costs.changes import cost_changes
from irlint.lazy_typing import Any
from irlint.model import Constant
from irlint.model.order import graphs
from irlint.parsers.digests import Digests
from irlint.run.listing import error_notes
from irlint.run.opened import Opened, opened


def diff_data(old: str, new: str, data: tuple[bytes | None, bytes | None] = (None, None)) -> dict[str, Any]:
    """The data of ``irlint diff --format json``. ``data`` has the bytes of each model that is in memory.

    Raises OSError if a file cannot be opened, and ValueError if a file is not a readable model.
    """
    before, after = opened(old, data[0]), opened(new, data[1])
    notes = [*error_notes(before.known, old), *error_notes(after.known, new)]
    unreadable: list[str] = []
    if before.known.format is after.known.format:
        unreadable = [*_unreadable_constants(before, old), *_unreadable_constants(after, new)]
    digests = Digests()
    hashes = _digest(before, digests, bool(unreadable)), _digest(after, digests, bool(unreadable))
    changes = [*differences(before.known, after.known, hashes), *cost_changes(before.known, after.known)]
    found: dict[str, Any] = {
        "schema": "irlint-diff-1",
        "old": _model_entry(before, old),
        "new": _model_entry(after, new),
        "compatible": not any(each.breaking for each in changes),
        "changes": [_change_entry(each) for each in changes],
    }
    notes += [f"weights are compared only by their types: {each}" for each in unreadable]
    return {**found, "notes": notes} if notes else found


def _model_entry(model: Opened, path: str) -> dict[str, Any]:
    known = model.known.model
    return {
        "path": path.replace(os.sep, "/"),
        "format": model.known.format.name,
        "format_version": known.format_version,
        "nodes": known.nodes,
    }


def _change_entry(change: Change) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "kind": change.kind,
        "breaking": change.breaking,
        "message": change.message,
        "name": change.name,
    }
    if change.graph:
        entry["graph"] = change.graph
    return {**entry, "follow": change.follow} if change.follow else entry


def _unreadable_constants(model: Opened, path: str) -> Iterator[str]:
    """If some constants of a model cannot be read, a sentence about them."""
    reasons = [why for each in _constants(model) if (why := Digests.lack(each))]
    if reasons:
        what = "1 constant" if len(reasons) == 1 else f"{len(reasons)} constants"
        yield f"{what} of {path} cannot be read ({reasons[0]})"


def _constants(model: Opened) -> Iterator[Constant]:
    for graph in graphs(model.known.model):
        yield from graph.constants.values()
        for node in graph.nodes:
            for attribute in node.attributes.values():
                if attribute.kind in TENSORS and attribute.value is not None:
                    yield attribute.value


def _digest(model: Opened, digests: Digests, by_type: bool) -> Digest:
    """A function that returns the hash of a constant. With ``by_type``, it returns None for large constants."""
    found: dict[int, str | None] = {}

    def digest(constant: Constant) -> str | None:
        if by_type and constant.tensor.value is None:
            return None
        if id(constant) not in found:
            found[id(constant)] = digests.of(constant, model.known.model.path, model.data, source=model.source)
        return found[id(constant)]

    return digest
