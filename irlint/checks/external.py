"""Finds ONNX constants that determine a shape but are external data, which ONNX shape inference does not read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from irlint.binding.calls import Call
from irlint.checks.initializers import replaceable
from irlint.dims import symbol, symbols
from irlint.findings.faults import Rule, Severity
from irlint.inference.known import Known
from irlint.inference.questions import outputs_for
from irlint.model import Constant, Graph, Node, Problem, Value
from irlint.model.order import graphs
from irlint.model.tensor import Tensor, Type

SHAPE_CONSTANT_EXTERNAL = Rule(
    "IRL707",
    "shape-constant-external",
    Severity.ERROR,
    "A constant that determines a shape is stored as external data.",
    why=(
        "ONNX shape inference reads shapes, axes and pads from the model file, but not from external files. ONNX "
        'Runtime refuses the model with "Cannot parse data from external tensors". Weights and indices may be '
        "external. onnx.save with `size_threshold=0` writes such models."
    ),
    fix=(
        "Keep small tensors in the model file: onnx.save(model, path, save_as_external_data=True) does so for "
        "tensors below its default size_threshold of 1024 bytes."
    ),
)

#: (graph, node, index of the input).
_Use = tuple[Graph, Node, int]


def problems(known: Known, external_constants: Mapping[Value, Constant]) -> list[Problem]:
    """One problem for each external constant that decides a shape, at the first node where it does."""
    constants: set[Value] = set()
    for graph in graphs(known.model):
        constants |= graph.constants.keys() - replaceable(graph, known.model)
    constants |= {
        value
        for graph in graphs(known.model)
        for node in graph.nodes
        if node.op == "Constant"
        for value in node.outputs
        if value
    }
    found = []
    for value, users in _users(known, external_constants).items():
        for graph, node, index in users:
            if _is_read(known, node, index, constants) and _decides(known, node, index, external_constants[value]):
                found.append(_problem(value, external_constants[value], graph, node, index, known))
                break
    return found


def _users(known: Known, external_constants: Mapping[Value, Constant]) -> dict[Value, list[_Use]]:
    users: dict[Value, list[_Use]] = {}
    for graph in graphs(known.model):
        for node in graph.nodes:
            for index, value in enumerate(node.inputs):
                if value is not None and value in external_constants:
                    users.setdefault(value, []).append((graph, node, index))
    return users


def _problem(value: Value, constant: Constant, graph: Graph, node: Node, index: int, known: Known) -> Problem:
    assert constant.stored is not None
    fault = SHAPE_CONSTANT_EXTERNAL.fault(
        f"input {index}, {value.name!r}, determines the shape of an output, but is stored in {constant.stored.file}, "
        "where ONNX Runtime does not read it",
        help="store it in the model file: onnx.save with size_threshold=1024 keeps small tensors there",
        input=index,
        severity=None if _has_known_operands(known, node) else Severity.WARNING,
    )
    return Problem(fault, graph.path, node)


def _has_known_operands(known: Known, node: Node) -> bool:
    """Whether the inputs of a node have only known or named sizes. Inputs with a declared shape are not examined.

    For other sizes, ONNX shape inference may not know the rank either. Then it does not read the constant.
    """
    for value in node.inputs:
        operand = (
            None if value is None or (isinstance(value.type, Tensor) and value.type.shape) else known.types.get(value)
        )
        if isinstance(operand, Tensor) and any(
            name.startswith("_") for dim in operand.shape or () if dim is not None for name in symbols(dim)
        ):
            return False
    return True


def _decides(known: Known, node: Node, index: int, constant: Constant) -> bool:
    """Whether output shapes depend on the values of the constant, with the input sizes that are known or without
    them."""
    inputs = known.types_of(node.inputs)
    tensor = constant.tensor
    empty = tensor.shape == (0,)
    if tensor.value is None and not empty:
        return False
    declared = Tensor(tensor.dtype, tensor.shape, tensor.value or ())
    without_values = Tensor(tensor.dtype, (None,) if empty else tensor.shape)
    unsized = [_with_unknown_sizes(each, position) for position, each in enumerate(inputs)]
    return any(
        _shapes(known, node, case, index, declared) != _shapes(known, node, case, index, without_values)
        for case in (inputs, unsized)
    )


def _shapes(known: Known, node: Node, inputs: Sequence[Type | None], index: int, tensor: Tensor) -> object:
    outputs = outputs_for(known, node, [*inputs[:index], tensor, *inputs[index + 1 :]])
    return None if outputs is None else [each.shape if isinstance(each, Tensor) else each for each in outputs]


def _with_unknown_sizes(known: Type | None, position: int) -> Type | None:
    """A tensor type with unknown sizes; scalars, known values and other types are unchanged."""
    if not isinstance(known, Tensor) or not known.shape or known.value is not None:
        return known
    return Tensor(known.dtype, tuple(symbol(f"size_{position}_{axis}") for axis in range(len(known.shape))))


def _is_read(known: Known, node: Node, index: int, constants: set[Value]) -> bool:
    """Whether ONNX shape inference reads the values of an input.

    If several inputs have the same type variable, such as those of a Range, it reads them only if all are constants.
    """
    call = known.calls.get(node)
    if call is None or _is_declared_unread(known, node, call, index):
        return False
    if node.domain or call.schema is None or index >= len(call.schema.inputs):
        return True
    variables = [formal.variable for formal in call.schema.inputs]
    of_one_type = [value for value, variable in zip(node.inputs, variables) if variable == variables[index]]
    return all(value is None or value in constants for value in of_one_type)


def _is_declared_unread(known: Known, node: Node, call: Call, index: int) -> bool:
    """Whether ``may_be_external`` of the operator states that ONNX shape inference does not read an input."""
    if call.operator is None or call.signature is None or index >= len(call.signature.inputs):
        return False
    name, conditions = call.signature.inputs[index], call.operator.may_be_external
    if name not in conditions:
        return False
    condition = conditions[name]
    return condition is None or condition(known.types_of(node.inputs), call.attributes or {})
