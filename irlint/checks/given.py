"""Compares the input shapes from --shape or the configuration with the declared ones."""

from __future__ import annotations

from irlint.dims import MaybeDim, Shape, same
from irlint.findings.faults import Fault, Rule, Severity
from irlint.findings.wording import counted
from irlint.inference.known import Known
from irlint.inference.questions import outputs_for
from irlint.model import Node, Problem, Value
from irlint.model.tensor import Tensor, shape_text, size_text, tensor_shape

GIVEN_SHAPE_CONTRADICTED = Rule(
    "IRL604",
    "given-shape-not-as-declared",
    Severity.WARNING,
    "The shape from --shape or the configuration contradicts the declared shape.",
    why=(
        "ONNX Runtime refuses an input of such a shape, and OpenVINO accepts it only after the model is reshaped. "
        "The other findings of this check are about the shape that you gave, not about the declared one."
    ),
    fix="Give sizes that the declaration allows, or declare the size as dynamic (a name, or -1 in an IR).",
    role="given",
)


def problems(known: Known) -> list[Problem]:
    """One problem for each input for which the user passed a shape that contradicts its declaration."""
    graph = known.model.graph
    assert graph is not None
    found = []
    for node in graph.nodes if known.format.input_node else ():
        value = node.outputs[0] if node.op == known.format.input_node and node.outputs else None
        if value is not None and value in known.overridden:
            found.append(_problem(value, node, known))
    if not known.format.input_node:
        found = [_problem(value, None, known) for value in graph.inputs if value in known.overridden]
    return [each for each in found if each is not None]


def _problem(value: Value, node: Node | None, known: Known) -> Problem | None:
    declared, given = declared_shape(value, node, known), known.types.get(value)
    if declared is None or not isinstance(given, Tensor) or given.shape is None:
        return None
    name = value.name if node is None else node.name
    fault = _fault(name, given.shape, declared, known.overridden[value])
    stated = node.attributes.get("shape") if node is not None else None
    place = (node.located(stated.place) if stated is not None else None) or node.place if node is not None else None
    return None if fault is None else Problem(fault, "", node, value.name, place)


def declared_shape(value: Value, node: Node | None, known: Known) -> Shape | None:
    """The declared shape of an input. ``node`` is its node, in formats whose inputs are nodes."""
    outputs = outputs_for(known, node, ()) if node is not None else None
    return tensor_shape(outputs[0] if outputs else value.type)


def _fault(name: str, given: Shape, declared: Shape, given_by: str) -> Fault | None:
    allowed = [_allowed_text(dim) for dim in declared]
    if len(given) != len(declared):
        difference = f"it has {counted(len(given), 'axis', 'axes')} against {len(declared)}"
    else:
        axes = [axis for axis, (one, other) in enumerate(zip(given, declared)) if same(one, other) is False]
        if not axes:
            return None
        difference = ", ".join(f"axis {axis} is {given[axis]} against {allowed[axis]}" for axis in axes)
    return GIVEN_SHAPE_CONTRADICTED.fault(
        f"{given_by} gives the input {name!r} the shape {shape_text(given)}, but the file declares "
        f"[{', '.join(allowed)}]: {difference}",
        help="use sizes that the declaration allows, or declare the sizes as dynamic",
    )


def _allowed_text(dim: MaybeDim) -> str:
    """A declared size as text. If the size has limits, only these: ``2 to 8``."""
    text = size_text(dim)
    return text.partition(" (")[2].removesuffix(")") if text.endswith(")") and " (" in text else text
