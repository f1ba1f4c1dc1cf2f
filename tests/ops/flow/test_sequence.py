"""Sequences and optional values against ONNX's node tests and what ONNX Runtime does."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx.parser
import pytest
from oracles.engines import irlint_on_onnx

from irlint.dims import symbol
from irlint.findings.faults import Fault
from irlint.findings.statements import stated
from irlint.model.tensor import Optional, Tensor
from irlint.model.tensor import Sequence as SequenceType
from irlint.ops.flow.sequence import (
    concat_from_sequence,
    optional_has_element,
    sequence_at,
    sequence_construct,
    sequence_erase,
    sequence_insert,
    sequence_length,
    split_to_sequence,
)

N = symbol("N")


def model(text: str, opset: int = 17) -> onnx.ModelProto:
    return onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : {opset}]>\n{text}')


def runs(built: onnx.ModelProto) -> bool:
    """Whether ONNX Runtime loads the model and computes it for zeros."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(built.SerializeToString(), options, ["CPUExecutionProvider"])
        kinds = {"tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(int64)": np.int64}
        session.run(None, {i.name: np.zeros(i.shape, kinds[i.type]) for i in session.get_inputs()})
    except Exception:
        return False
    return True


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("y = SequenceConstruct (x, z)", None),
        ("y = SequenceConstruct (x, d)", "IRL402"),
        ("y = SequenceEmpty ()", None),
        ("y = SequenceEmpty <dtype = 4294967297> ()", "IRL510"),
        ("s = SequenceConstruct (x) i = Constant <value_int = 0> () t = "
            "SequenceAt (s, i) y = SequenceConstruct (t)", None),
        ("s = SequenceConstruct (x) i = Constant <value_int = -1> () t = "
            "SequenceAt (s, i) y = SequenceConstruct (t)", None),
        ("s = SequenceConstruct (x) i = Constant <value_int = 1> () t = "
            "SequenceAt (s, i) y = SequenceConstruct (t)", "IRL397"),
        ("s = SequenceConstruct (x) i = Constant <value_int = -2> () t = "
            "SequenceAt (s, i) y = SequenceConstruct (t)", "IRL397"),
        ("s = SequenceConstruct (x) i = Constant <value_int = 1> () y = SequenceInsert (s, x, i)", None),
        ("s = SequenceConstruct (x) i = Constant <value_int = 2> () y = SequenceInsert (s, x, i)", "IRL397"),
        ("s = SequenceConstruct (x) y = SequenceInsert (s, d)", "IRL402"),
        ("s = SequenceConstruct (x) y = SequenceErase (s)", None),
        ("s = SequenceEmpty () y = SequenceErase (s)", "IRL397"),
        ("y = SplitToSequence (x)", None),
        ("y = SplitToSequence <axis = 2> (x)", "IRL300"),
        ("c = Constant <value_int = 4> () y = SplitToSequence (x, c)", None),
        ("c = Constant <value_int = -1> () y = SplitToSequence (x, c)", "IRL398"),
        ("c = Constant <value_ints = [6, 0]> () y = SplitToSequence (x, c)", None),
        ("c = Constant <value_ints = [4, 3]> () y = SplitToSequence (x, c)", "IRL398"),
        ("c = Constant <value_ints = [7, -1]> () y = SplitToSequence (x, c)", "IRL398"),
        ("s = SequenceConstruct (x, x) t = ConcatFromSequence <axis = -2> (s) y = SequenceConstruct (t)", None),
        ("s = SequenceConstruct (x, x) t = ConcatFromSequence <axis = 2> (s) y = SequenceConstruct (t)", "IRL300"),
        ("s = SequenceConstruct (x, x) t = ConcatFromSequence <axis = 2, "
            "new_axis = 1> (s) y = SequenceConstruct (t)", None),
        ("s = SequenceConstruct (x, x) t = ConcatFromSequence <axis = 3, "
            "new_axis = 1> (s) y = SequenceConstruct (t)", "IRL300"),
        ("s = SequenceConstruct (n, n) t = ConcatFromSequence <axis = 0> (s) y = SequenceConstruct (t)", "IRL300"),
        ("s = SequenceConstruct (n, n) t = ConcatFromSequence <axis = 0, "
            "new_axis = 1> (s) y = SequenceConstruct (t)", None),
        ("s = SequenceEmpty () t = ConcatFromSequence <axis = 0> (s) y = SequenceConstruct (t)", "IRL397"),
        ("o = Optional (x) t = OptionalGetElement (o) y = SequenceConstruct (t)", None),
        ("o = Optional <type = float[2]> () t = OptionalGetElement (o) y = SequenceConstruct (t)", "IRL399"),
        ("o = Optional () b = OptionalHasElement (o) y = SequenceConstruct (x)", "IRL399"),
    ],
)  # fmt: skip
def test_onnx(text: str, code: str | None) -> None:
    built = model(f"g (float[6,2] x, float[2] z, double[6,2] d, float n) => (y) {{ {text} }}")
    value = built.graph.output[0]
    value.type.sequence_type.elem_type.tensor_type.elem_type = onnx.TensorProto.FLOAT
    ours = irlint_on_onnx(built)
    assert (ours[:6] if isinstance(ours, str) else None) == code, ours
    assert runs(built) == (code is None)


def test_pieces_of_no_size_are_an_error() -> None:
    """ONNX ends with a division by zero."""
    with pytest.raises(Fault) as caught:
        split_to_sequence(Tensor("float32", (6,)), Tensor("int64", (), (0,)))
    assert caught.value.rule.code == "IRL398"


def _floats(*shapes: tuple[Any, ...]) -> tuple[Tensor, ...]:
    return tuple(Tensor("float32", shape) for shape in shapes)


@pytest.mark.parametrize(
    ("split", "keepdims", "size", "result"),
    [
        (None, 1, N, SequenceType(Tensor("float32", (1, 2)), N)),
        (None, 0, N, SequenceType(Tensor("float32", (2,)), N)),
        (Tensor("int64", (), (2,)), 1, 2 * N, SequenceType(Tensor("float32", (2, 2)), N)),
        (Tensor("int64", (), (4,)), 1, N, SequenceType(Tensor("float32", (None, 2)), (N + 3) // 4)),
        (Tensor("int64", (), (4,)), 1, 3, SequenceType(Tensor("float32", (3, 2)), 1)),
        (Tensor("int64", (2,), (3, 3)), 1, 6, SequenceType(Tensor("float32", (3, 2)), 2, _floats((3, 2), (3, 2)))),
        (Tensor("int64", (2,), (4, 2)), 1, 6, SequenceType(Tensor("float32", (None, 2)), 2, _floats((4, 2), (2, 2)))),
        (Tensor("int64", (N,)), 1, 6, SequenceType(Tensor("float32", (None, 2)), N)),
    ],
)
def test_split(split: Tensor | None, keepdims: int, size: Any, result: SequenceType) -> None:
    assert split_to_sequence(Tensor("float32", (size, 2)), split, keepdims=keepdims) == result


def test_split_states_what_it_needs() -> None:
    with stated() as statements:
        split_to_sequence(Tensor("float32", (N,)), Tensor("int64", (2,), (4, 2)))
    assert [requirement.condition for requirement in statements.requirements] == ["N == 6"]


def test_symbolic_lengths() -> None:
    known = SequenceType(Tensor("float32", (N, 2)), N)
    with stated() as statements:
        assert sequence_at(known, Tensor("int64", (), (2,))) == Tensor("float32", (N, 2))
        assert sequence_erase(known) == SequenceType(Tensor("float32", (N, 2)), N - 1)
    assert [requirement.condition for requirement in statements.requirements] == ["N >= 3", "N >= 1"]
    assert sequence_length(known) == Tensor("int64", (), (N,))
    assert concat_from_sequence(known, axis=1) == Tensor("float32", (N, 2 * N))
    assert concat_from_sequence(known, axis=0, new_axis=1) == Tensor("float32", (N, N, 2))


def test_what_a_sequence_holds() -> None:
    empty = SequenceType(Tensor("float32"), 0)
    one = sequence_insert(empty, Tensor("float32", (N, 2)))
    assert one == SequenceType(Tensor("float32", (N, 2)), 1)
    assert sequence_insert(one, Tensor("float32", (3, 2))) == SequenceType(Tensor("float32", (None, 2)), 2)


def test_the_elements_of_a_sequence() -> None:
    mixed = sequence_construct(*_floats((2,), (2, 3)))
    assert mixed == SequenceType(Tensor("float32"), 2, _floats((2,), (2, 3)))
    assert sequence_at(mixed, Tensor("int64", (), (-1,))) == Tensor("float32", (2, 3))
    more = sequence_insert(mixed, Tensor("float32", (4,)), Tensor("int64", (), (1,)))
    assert more == SequenceType(Tensor("float32"), 3, _floats((2,), (4,), (2, 3)))
    assert sequence_erase(more) == SequenceType(Tensor("float32"), 2, _floats((2,), (4,)))
    unknown = Tensor("int64", ())
    assert sequence_at(mixed, unknown) == Tensor("float32")
    assert sequence_insert(mixed, Tensor("float32", (4,)), unknown) == SequenceType(Tensor("float32"), 3)
    assert sequence_construct(*_floats(*[(2,)] * 65)) == SequenceType(Tensor("float32", (2,)), 65)


@pytest.mark.parametrize(
    ("given", "present"),
    [
        (None, (False,)),
        (Optional(Tensor("float32", ()), True), (True,)),
        (Optional(Tensor("float32", ()), False), (False,)),
        (Optional(Tensor("float32", ())), None),
        (Tensor("float32", ()), (True,)),
        (Tensor(), None),
    ],
)
def test_optional_has_element(given: Any, present: Any) -> None:
    assert optional_has_element(given) == Tensor("bool", (), present)
