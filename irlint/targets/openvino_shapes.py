"""What follows in releases of OpenVINO that give the whole shape for a part of it."""

from __future__ import annotations

from collections.abc import Iterator

from irlint.inference.known import Known
from irlint.inference.walk import inferred
from irlint.model import Model, Node, Problem
from irlint.records import replaced
from irlint.targets import tables
from irlint.targets.objections import RESTRICTED_IN_RELEASE, Objection

NAME = "openvino"

#: The attributes that say which part, and the opset in which they came.
PART = ("start", "end")
SINCE = 15


def objections(known: Known, releases: int, opset: int | None = None) -> Iterator[tuple[int, Objection]]:
    """What does not fit any more where a Shape of the main graph gives all sizes."""
    parts = [node for node in known.model.graph.nodes if _is_part(node)] if known.model.graph is not None else []
    if not parts:
        return
    stated = opset or known.model.opsets.get("", 0)
    form = "onnx-form Shape.part" if stated >= SINCE else "onnx-form Shape.part-early"
    refusing = releases & ~tables.holds(NAME, form)
    found = _first_new(known, inferred(_with_whole_shapes(known.model))) if refusing else None
    if found is not None and found.node is not None:
        text = f"the release gives the whole shape where Shape has start or end; then {found.node.op}: {found.fault.message}"
        yield refusing, Objection(RESTRICTED_IN_RELEASE, text, "take the part with Slice or Gather")


def _is_part(node: Node) -> bool:
    return node.op == "Shape" and not node.domain and any(name in node.attributes for name in PART)


def _with_whole_shapes(model: Model) -> Model:
    graph = model.graph
    assert graph is not None
    nodes = tuple(_whole(node) if _is_part(node) else node for node in graph.nodes)
    return replaced(model, graph=replaced(graph, nodes=nodes))


def _whole(node: Node) -> Node:
    return replaced(node, attributes={name: each for name, each in node.attributes.items() if name not in PART})


def _first_new(before: Known, after: Known) -> Problem | None:
    """The first error about shapes at a node that had none."""
    wrong = {problem.node for problem in before.problems if problem.is_error}
    return next(
        (
            each
            for each in after.problems
            if each.is_error
            and each.node is not None
            and each.node not in wrong
            and each.fault.rule.code[:4] in ("IRL2", "IRL3")
        ),
        None,
    )
