"""Where each size of a value comes from, as data."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from irlint.dims import Shape
from irlint.inference.known import Known
from irlint.inference.origins import ANYWHERE, Makers, Trail, chain, trail
from irlint.lazy_typing import Any
from irlint.model import Node
from irlint.model.tensor import Tensor
from irlint.parsers.opening import file_bytes
from irlint.records import NOTHING, replaced
from irlint.run.listing import dim_entry, entry_of, inferred_file, notes_on
from irlint.run.names import Resolved, resolved
from irlint.run.one_file import NOWHERE, positions_of
from irlint.snippets.finding import Snippets
from irlint.snippets.reasons import NAMED, cause, text

#: A function that returns the line of a node, or None if the file has no lines.
Lines = Callable[[Node], int | None]


def why_data(
    path: str,
    name: str,
    axis: int | None = None,
    data: bytes | None = None,
    shapes: Mapping[str, Shape] | None = None,
    given_by: Mapping[str, str] = NOTHING,
    *,
    limit: int | None = NAMED,
) -> dict[str, Any]:
    """The data of ``irlint why --format json`` for the value ``name``. If ``axis`` is None, describes all axes.

    A sentence names at most ``limit`` nodes that keep a size; None means no limit. Raises like
    ``listing.shapes_data``. Also raises NotOneValue, and ValueError for an axis that the value does not have.
    """
    known = inferred_file(path, data, shapes, given_by)
    subject = resolved(name, known.model)
    axes = _axes(subject, axis, known)
    if data is None and known.format.has_lines:
        data = file_bytes(path, "document")
    snippets = Snippets(replaced(known.model, path=""), Makers(known), data)
    trails = [_trails(subject, each, snippets.makers) for each in axes]
    lines = _lines(known, [step for steps in trails for step in steps], data)
    return {
        "schema": "irlint-why-1",
        "path": path.replace(os.sep, "/"),
        "format": known.format.name,
        **notes_on(known),
        **entry_of(subject.graph, subject.value, known),
        "axes": [
            {
                "axis": each,
                "size": dim_entry(steps[0].dim) if steps else None,
                "steps": [_step_entry(step, snippets, lines, limit) for step in steps],
            }
            for each, steps in zip(axes, trails)
        ],
    }


def _trails(subject: Resolved, axis: int, makers: Makers) -> list[Trail]:
    """The origins of a size, nearest first. If the last one is a sum, the origins of its terms follow."""
    found = chain(subject.value, axis, makers, ANYWHERE)
    return [*found, *_terms(found[-1], makers)] if found else []


def _terms(found: Trail, makers: Makers) -> list[Trail]:
    """The origins of the sizes that a node adds to compute the size of ``found``; [] if ``found`` is no sum."""
    node = found.maker.node if found.maker is not None else None
    if node is None or found.arithmetic is None:
        return []
    values = dict.fromkeys(node.inputs[index] for index, _ in found.arithmetic.terms)
    trails = [trail(value, found.axis, makers, ANYWHERE) for value in values if value is not None]
    return [each for each in trails if each is not None]


def _axes(subject: Resolved, axis: int | None, known: Known) -> list[int]:
    """The given axis counted from 0, or all axes. Raises ValueError if the value does not have the axis."""
    found = known.types.get(subject.value)
    rank = found.rank if isinstance(found, Tensor) else None
    if axis is None:
        return list(range(rank or 0))
    if rank is None:
        raise ValueError(f"--axis {axis}: the number of axes of {subject.name} is not known")
    if not -rank <= axis < rank:
        axes = f"has the axes 0 to {rank - 1}" if rank > 1 else "has the axis 0 only" if rank else "is a scalar"
        raise ValueError(f"--axis {axis}: {subject.name} {axes}")
    return [axis % rank]


def _lines(known: Known, steps: list[Trail], data: bytes | None) -> Lines:
    nodes = [node for step in steps for node in (step.maker.node if step.maker else None, *step.kept) if node]
    positions = positions_of(known.model, [node.place for node in nodes], data)
    return lambda node: positions.get(node.place, NOWHERE)[0]


def _step_entry(step: Trail, snippets: Snippets, lines: Lines, limit: int | None) -> dict[str, Any]:
    node = step.maker.node if step.maker is not None else None
    arithmetic = step.arithmetic
    return {
        "size": dim_entry(step.dim),
        "from": cause(step, snippets.known),
        "graph": step.maker.graph.path if step.maker is not None else None,
        **_node_entry(node, lines),
        "value": step.value.name,
        "axis": step.axis,
        "formula": arithmetic.formula or None if arithmetic is not None else None,
        "details": arithmetic.details or None if arithmetic is not None else None,
        "kept": [_node_entry(each, lines) for each in step.kept],
        "text": text(step, snippets.painter, limit),
    }


def _node_entry(node: Node | None, lines: Lines) -> dict[str, Any]:
    if node is None:
        return {"node": None, "op": None, "line": None}
    return {"node": node.label, "op": node.op, "line": lines(node)}
