"""Every kind of type at every place that declares one: irlint has an error where ONNX Runtime refuses the model, and
else none."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import onnx
import onnx.parser
import pytest
from onnx import TypeProto
from oracles.engines import onnxruntime_verdict

import irlint
from irlint.findings.faults import Severity

pytestmark = pytest.mark.oracle

HEAD = '<ir_version: 10, opset_import: ["" : 21, "ai.onnx.ml" : 3, "f" : 1]>\n'

BASES = {
    "nodes": "g (float[2] x) => (float[2] y) <float[2] t> { t = Relu (x) y = Neg (t) }",
    "sequences": "g (float[2] x) => (seq(float[2]) y) <seq(float[2]) t> { t = SequenceConstruct (x) y = SequenceInsert "
    "(t, x) }",
    "optionals": "g (float[2] x) => (optional(float[2]) y) <optional(float[2]) t> { "
    "t = Optional (x) y = Identity (t) }",
    "maps": "g (float[2,2] x) => (seq(map(int64, float)) y) { y = "
    "ai.onnx.ml.ZipMap <classlabels_int64s = [1, 2]> (x) }",
    "branches": "g (bool c, float[2] x) => (float[2] y) { y = If (c) <then_branch = t () => (float[2] a) <float[2] b> "
    "{ b = Relu (x) a = Neg (b) }, else_branch = e () => (float[2] d) { d = Neg (x) }> }",
    "loop": "g (bool c, seq(float[2]) x) => (seq(float[2]) y, float[k] z) <int64 m = {3}> { y, z = Loop (m, c, x) "
    "<body = b "
    "(int64 i, bool d, seq(float[2]) s) => (bool e, seq(float[2]) u, float w) "
    "{ e = Identity (d) u = Identity (s) w = Constant <value_float = 1.0> () }> }",
    "scan": "g (float[2] s, float[5,2] x) => (float[2] y, float[5,2] z) { y, z = Scan <num_scan_inputs = 1, body = b "
    "(float[2] i, float[2] xi) => (float[2] o, float[2] w) { o = Add (i, xi) w = Neg (o) }> (s, x) }",
    "function": "g (float[2] x) => (float[2] y) <float[2] t> { t = f.F (x) y = Neg (t) }\n"
    '<domain: "f", opset_import: ["" : 21]>\nF (a) => (b) <float[2] v> { v = Relu (a) b = Neg (v) }',
}


def tensor(number: int | None) -> TypeProto:
    """A tensor of two elements; of no element type where ``number`` is None."""
    known = TypeProto()
    known.tensor_type.shape.dim.add(dim_value=2)
    if number is not None:
        known.tensor_type.elem_type = number
    return known


def holding(kind: str, element: TypeProto | None) -> TypeProto:
    """A sequence, an optional or a map to ``element``."""
    known = TypeProto()
    inner = getattr(known, f"{kind}_type")
    inner.SetInParent()
    if kind == "map":
        inner.key_type = 7
    if element is not None:
        (inner.value_type if kind == "map" else inner.elem_type).CopyFrom(element)
    return known


def sparse(number: int) -> TypeProto:
    known = TypeProto()
    known.sparse_tensor_type.elem_type = number
    return known


TYPES = {
    **{f"tensor of {number}": tensor(number) for number in (1, 7, 8, 11, 17, 0, 99, -1, None)},
    **{
        f"{kind} of {name}": holding(kind, element)
        for kind in ("sequence", "optional", "map")
        for name, element in {
            "floats": tensor(1),
            "integers": tensor(7),
            "undefined": tensor(0),
            "sequences": holding("sequence", tensor(1)),
            "anything": TypeProto(),
            "nothing": None,
        }.items()
    },
    **{f"sparse tensor of {number}": sparse(number) for number in (0, 1, 7)},
}


def places(model: onnx.ModelProto) -> Iterator[tuple[str, TypeProto]]:
    """Every type that a model declares, by what declares it."""
    waiting: list[tuple[str, onnx.GraphProto | onnx.FunctionProto]] = [("", model.graph)]
    waiting += [("function", function) for function in model.functions]
    while waiting:
        path, graph = waiting.pop()
        listed = ("value_info",) if path == "function" else ("input", "output", "value_info")
        for what in listed:
            yield from ((f"{path} {what} {info.name}", info.type) for info in getattr(graph, what))
        for node in graph.node:
            waiting += [(each.name, each.g) for each in node.attribute if each.type == onnx.AttributeProto.GRAPH]


def declare_again(model: onnx.ModelProto) -> Iterator[tuple[str, TypeProto]]:
    """A ``value_info`` for an input and an output of the model."""
    for info in (model.graph.input[0], model.graph.output[0]):
        added = model.graph.value_info.add(name=info.name)
        added.type.CopyFrom(info.type)
        yield f"value_info of {info.name}", added.type


@pytest.mark.parametrize("find", [places, declare_again])
@pytest.mark.parametrize("base", BASES)
def test_declared_types(
    base: str, find: Callable[[onnx.ModelProto], Iterator[tuple[str, TypeProto]]], tmp_path: Path
) -> None:
    sound = onnx.parser.parse_model(HEAD + BASES[base])
    wrong = []
    count = len(list(find(onnx.parser.parse_model(HEAD + BASES[base]))))
    for position in range(count):
        for name, known in TYPES.items():
            model = onnx.ModelProto()
            model.CopyFrom(sound)
            place, declared = list(find(model))[position]
            declared.CopyFrom(known)
            path = tmp_path / "model.onnx"
            path.write_bytes(model.SerializeToString())
            errors = [each for each in irlint.check(path).findings if each.severity is Severity.ERROR]
            refusal = onnxruntime_verdict(model)
            if isinstance(refusal, str) != bool(errors):
                wrong.append(f"{place} as {name}: {str(refusal)[:150]} against {[each.message for each in errors]}")
    assert not wrong, "\n".join(wrong)
