"""Finds nodes that ONNX Runtime refuses because it uses a declared number for a size that it cannot infer."""

from __future__ import annotations

from irlint.checks.declared import SHAPE_CONTRADICTED
from irlint.dims import Expr
from irlint.findings.faults import Fault, Severity
from irlint.inference.known import Known
from irlint.inference.loading import refused_at_load
from irlint.inference.questions import asked_again
from irlint.model import Node, Problem, Value
from irlint.model.order import graphs
from irlint.model.tensor import Tensor, Type, shape_text, tensor_shape
from irlint.records import record


@record
class Refusal:
    """A node that fails with the declared sizes of one of its inputs, and the fault of the node."""

    node: Node
    fault: Fault


def refusals(known: Known) -> dict[Value, Refusal]:
    """For each value, the first node that ONNX Runtime refuses because of the declared sizes of the value."""
    found: dict[Value, Refusal] = {}
    for graph in graphs(known.model):
        merged = {
            value: merged_type
            for node in graph.nodes
            for value in node.outputs
            if value is not None
            and value.declared
            and (merged_type := _merged_type(value, known.types.get(value))) is not None
        }
        if not merged:
            continue
        for node in graph.nodes:
            cause = next((value for value in node.inputs if value in merged), None)
            if cause is None or node in known.faulted or cause in found:
                continue
            fault = _load_fault(known, node, merged)
            if fault is not None:
                found[cause] = Refusal(node, fault)
    return found


def _merged_type(value: Value, inferred: Type | None) -> Tensor | None:
    """The inferred type after declared numbers have replaced its symbolic sizes; None if none is replaced."""
    shape = tensor_shape(inferred)
    if shape is None or not any(isinstance(dim, Expr) for dim in shape):
        return None
    for declaration in value.declared:
        declared = tensor_shape(declaration.type)
        if declared is None or len(declared) != len(shape):
            continue
        dims = tuple(b if isinstance(a, Expr) and isinstance(b, int) else a for a, b in zip(shape, declared))
        if dims != shape:
            assert isinstance(inferred, Tensor)
            return Tensor(inferred.dtype, dims)
    return None


def _load_fault(known: Known, node: Node, merged: dict[Value, Tensor]) -> Fault | None:
    """The first fault for which ONNX Runtime refuses a node with the ``merged`` types of its inputs."""
    inputs = [None if value is None else merged.get(value) or known.types.get(value) for value in node.inputs]
    answer = asked_again(known, node, inputs)
    faults = answer.faults if answer is not None else ()
    call = known.calls.get(node)
    refused = (
        each
        for each in faults
        if each.severity is Severity.ERROR and refused_at_load(each.rule, call, known.format.loaded_by)
    )
    return next(refused, None)


def with_refusals(found: list[Problem], known: Known) -> list[Problem]:
    """The problems and an error for each refusal. The error replaces the problem of the same value, if there is one."""
    refused = refusals(known)
    if not refused:
        return found
    errors: dict[tuple[Node | None, str | None], Problem] = {}
    for graph, node in ((each, node) for each in graphs(known.model) for node in each.nodes):
        outputs = tuple(each for each in node.outputs if each is not None)
        for value in [each for each in outputs if each in refused]:
            fault = _refusal_fault(value, node.outputs.index(value), refused[value], known)
            errors[node, value.name] = Problem(fault, graph.path, node, value.name, node.place, disputes=outputs)
    return [errors.pop((each.node, each.value), each) for each in found] + list(errors.values())


def _refusal_fault(value: Value, port: int, refusal: Refusal, known: Known) -> Fault:
    inferred = known.types[value]
    declared = next(each.type for each in value.declared if isinstance(each.type, Tensor))
    assert isinstance(inferred, Tensor)
    assert isinstance(declared, Tensor)
    return SHAPE_CONTRADICTED.fault(
        f"output {port} is declared as {shape_text(declared.shape)}; the operator computes "
        f"{shape_text(inferred.shape)}: ONNX Runtime uses a declared size that it cannot infer, and refuses "
        f"{refusal.node.op} {refusal.node.label!r} ({refusal.fault.message})",
        help=f"declare {shape_text(inferred.shape)}, or remove the declaration",
        severity=Severity.ERROR,
    )
