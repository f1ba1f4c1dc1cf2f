"""Checks the outputs of an ONNX model, and whether its inputs and outputs have declared shapes."""

from __future__ import annotations

from collections.abc import Iterator

from irlint.findings.faults import Fault, Rule, Severity
from irlint.findings.wording import first_few
from irlint.inference.known import Known
from irlint.model import Graph, Problem, Value
from irlint.model.order import has_only_constants
from irlint.model.tensor import SparseTensor, Tensor

NO_OUTPUTS = Rule(
    "IRL116",
    "graph-without-outputs",
    Severity.WARNING,
    "The model has no outputs.",
    why=(
        "ONNX Runtime loads the model, but returns no results. If the only nodes are Constants, it refuses the "
        "model; in that case, irlint reports an error."
    ),
    fix="Add the results of the model to the outputs of its graph.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => () { y = Relu (x) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) { y = Relu (x) }""",
    role="absence",
)


DUPLICATE_OUTPUT = Rule(
    "IRL117",
    "output-listed-twice",
    Severity.NOTE,
    "The model lists one value as an output more than once.",
    why=(
        "Runtimes return the value once for each entry, always under the same name. A caller that collects outputs "
        "by name gets fewer of them."
    ),
    fix="List the output once, or give the second one its own name with an Identity.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y, float[2,3] y) { y = Relu (x) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) { y = Relu (x) }""",
)


NO_SHAPE = Rule(
    "IRL118",
    "interface-without-shape",
    Severity.WARNING,
    "An input or output of the model is declared without its shape, or an output without its type.",
    why=(
        "The ONNX specification requires the type and the shape of every input and output of the main graph; sizes "
        "in the shape may be dynamic. The ONNX checker refuses a model without them. ONNX Runtime infers them if it "
        "can. In the text format of ONNX, as in the example, `float[]` is a type without a shape; a scalar is `float`."
    ),
    fix=(
        "Declare the shape with a name for each dynamic size. For outputs, onnx.shape_inference adds the shapes that "
        "it can infer."
    ),
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[] y) { y = Relu (x) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[N,3] y) { y = Relu (x) }""",
)


#: The maximum number of values in a message.
_SHOWN = 8


def problems(known: Known) -> list[Problem]:
    """The problems of the inputs and outputs of the main graph, and of class names in the metadata."""
    graph = known.model.graph
    assert graph is not None
    found = [*_no_outputs(graph), *_duplicate_outputs(graph), *_without_shape(graph)]
    if "names" in known.model.metadata:
        from irlint.checks.classes import problems as of_classes

        found += of_classes(known)
    return found


def _no_outputs(graph: Graph) -> Iterator[Problem]:
    """The problem of a model without outputs; an error if ONNX Runtime refuses it."""
    if graph.outputs:
        return
    nodes = "only Constants as nodes" if graph.nodes else "no nodes"
    empty = has_only_constants(graph)
    text = "the graph has no outputs" + (f", and {nodes}; ONNX Runtime refuses it" if empty else "")
    yield Problem(
        NO_OUTPUTS.fault(
            text,
            help="add the results of the model to the outputs",
            severity=Severity.ERROR if empty else None,
        )
    )


def _duplicate_outputs(graph: Graph) -> Iterator[Problem]:
    if len(set(graph.outputs)) == len(graph.outputs):
        return
    counts: dict[Value, int] = {}
    for value in graph.outputs:
        counts[value] = counts.get(value, 0) + 1
    parts = [f"{value.name!r}" for value, count in counts.items() if count > 1]
    fault = DUPLICATE_OUTPUT.fault(
        f"{first_few(parts, _SHOWN)} {'is' if len(parts) == 1 else 'are'} listed more than once among the outputs",
        help="list each output once",
    )
    yield Problem(fault, value=next(value.name for value, count in counts.items() if count > 1))


def _without_shape(graph: Graph) -> Iterator[Problem]:
    inputs_without_shape = [
        value for value in graph.inputs if value.name and _lacks_shape(value, "input", ignore_undeclared=True)
    ]
    outputs_without_shape = [
        value for value in dict.fromkeys(graph.outputs) if _lacks_shape(value, "output", ignore_undeclared=False)
    ]
    parts = [_listed("input", inputs_without_shape), _listed("output", outputs_without_shape)]
    if inputs_without_shape or outputs_without_shape:
        have = "has" if len(inputs_without_shape) + len(outputs_without_shape) == 1 else "have"
        yield Problem(
            _no_shape_fault(f"{' and '.join(filter(None, parts))} {have}"),
            value=(inputs_without_shape or outputs_without_shape)[0].name,
        )


def _no_shape_fault(places: str) -> Fault:
    return NO_SHAPE.fault(
        f"{places} no declared shape; the ONNX checker refuses the model",
        help="declare the shape, with a name for each dynamic size",
    )


def _lacks_shape(value: Value, by: str, *, ignore_undeclared: bool) -> bool:
    """Whether the declaration of a value as ``by`` ("input" or "output") has no shape. A missing declaration counts
    unless ``ignore_undeclared``."""
    declared = next((each.type for each in value.declared if each.by == by), None)
    if declared is None:
        return not ignore_undeclared
    return isinstance(declared, (Tensor, SparseTensor)) and declared.shape is None


def _listed(kind: str, values: list[Value]) -> str:
    return (
        f"{kind}{'s' * (len(values) > 1)} {first_few([repr(value.name) for value in values], _SHOWN)}" if values else ""
    )
