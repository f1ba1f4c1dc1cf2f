"""Where sizes come from, and how they are computed."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path

import onnx
import pytest
from every import of_each

from irlint.inference.inputs import input_names
from irlint.inference.known import Known
from irlint.inference.origins import Makers, Trail, trail
from irlint.inference.walk import inferred
from irlint.model import Value
from irlint.model.tensor import Tensor
from irlint.parsers import read
from irlint.parsers.onnx import read as read_onnx

SOUND = sorted(
    path
    for path in (Path(__file__).parent.parent.parent / "fixtures").glob("*/good/*")
    if path.suffix in (".onnx", ".xml")
)
HEAD = '<ir_version: 10, opset_import: ["" : 28, "com.microsoft" : 1]>\n'


def output_trail(text: str, axis: int) -> Trail:
    """Where the size of an axis of the model's output comes from."""
    known = inferred(read_onnx("m.onnx", onnx.parser.parse_model(HEAD + text).SerializeToString()))
    assert not [problem.fault.message for problem in known.problems if problem.is_error]
    assert known.model.graph is not None
    found = trail(known.model.graph.outputs[0], axis, Makers(known))
    assert found is not None
    return found


# --- what keeps a size ------------------------------------------------------------------------------------------------

#: A node that makes y, the axis of y that is asked about, and the input and its axis that have the size.
KEPT = """
y = Relu (x)                                                     | -1 | x 1
y = Add (x, v)                                                   | -1 | x 1
y = Add (v, x)                                                   | -1 | v 0
y = Add (one, x)                                                 | -1 | x 1
y = Where (mask, x, v)                                           | -1 | x 1
y = Transpose (x)                                                |  0 | x 1
y = MatMul (x, w)                                                |  0 | x 0
y = MatMul (x, w)                                                | -1 | w 1
y = Gemm <transB = 1> (x, t)                                     | -1 | t 0
y = Concat <axis = 0> (x, x, x)                                  | -1 | x 1
y = CumProd (x, zero)                                            | -1 | x 1
y = CumSum (x, zero)                                             | -1 | x 1
y = Swish (x)                                                    | -1 | x 1
y = SwiGLU (x, x)                                                 | -1 | x 1
y = Einsum <equation = "ij,jk->ki"> (x, w)                       |  0 | w 1
y = Gather <axis = 1> (x, two)                                   |  0 | x 0
y = Gather <axis = 1> (x, two)                                   | -1 | two 0
y = Flatten (image)                                              |  0 | image 0
y = Conv <pads = [1, 1, 1, 1]> (image, filters)                  | -1 | image 3
y = Conv <pads = [1, 1, 1, 1]> (image, filters)                  |  1 | filters 0
y = Slice (x, zero, last, zero)                                  | -1 | x 1
y = com.microsoft.FastGelu (x)                                   | -1 | x 1
y = com.microsoft.FastGelu (x, v)                                | -1 | x 1
y = com.microsoft.BiasGelu (x, v)                                | -1 | x 1
y = com.microsoft.BiasAdd (b, v, b)                              | -1 | b 2
y = com.microsoft.SkipLayerNormalization (b, b, v)               | -1 | b 2
y = com.microsoft.QLinearSigmoid (q, scale, point, scale, point) | -1 | q 1
s = Shape (x) y = Reshape (b, s)                                 | -1 | x 1
s = Shape (x) n = Gather (s, zero) y = ConstantOfShape (n)       |  0 | x 0
""".strip().splitlines()

INPUTS = """float[2,64] x, float[64] v, float[1] one, bool[2,1] mask, float[64,8] w, float[8,64] t, int64[2] two,
  float[1,3,9,9] image, float[4,3,3,3] filters, float[2,1,64] b, uint8[2,64] q, float scale, uint8 point"""


@pytest.mark.parametrize("line", KEPT)
def test_a_size_that_an_operator_keeps(line: str) -> None:
    nodes, axis, source = (each.strip() for each in line.split("|"))
    constants = "int64[1] zero = {0}, int64[1] last = {1}"
    found = output_trail(f"g ({INPUTS}) => (float y) <{constants}> {{ {nodes} }}", int(axis))
    assert (found.value.name, found.axis) == (source.split()[0], int(source.split()[1]))


def test_a_fixed_size_that_an_open_one_has_to_equal() -> None:
    found = output_trail("g (float[n,c] x, float[64] v) => (float[n,64] y) { y = Add (x, v) }", 1)
    assert (found.value.name, found.axis, len(found.kept)) == ("v", 0, 1)


def test_contents_that_end_in_a_constant_leave_the_size_to_the_operator_that_read_them() -> None:
    found = output_trail("g (float[2,8] x) => (float[4,4] y) <int64[2] s = {4, 4}> { y = Reshape (x, s) }", 1)
    assert (found.value.name, found.kept) == ("y", ())


# --- a law: with another size there, another size comes here ----------------------------------------------------------


def sizes(known: Known) -> Iterator[tuple[Value, int, int]]:
    """The known sizes of what the nodes of the main graph make: the value, the axis, and the size."""
    assert known.model.graph is not None
    for node in known.model.graph.nodes:
        for value in node.outputs:
            tensor = known.types.get(value) if value is not None else None
            if value is not None and isinstance(tensor, Tensor):
                yield from ((value, axis, dim) for axis, dim in enumerate(tensor.shape or ()) if isinstance(dim, int))


def verified(path: Path) -> int:
    """How many sizes of a model change with the size of the input that they are reported to come from; fails for one
    that does not.

    A size that the model needs as it is cannot be changed: what raises a fault is passed over.
    """
    model = read(path)
    known = inferred(model)
    names = {value: name for name, value in input_names(model).items()}
    makers = Makers(known)
    count = 0
    for value, axis, dim in sizes(known):
        found = trail(value, axis, makers)
        source = known.types.get(found.value) if found is not None else None
        if found is None or not found.kept or found.value not in names or not isinstance(source, Tensor):
            continue
        shape = list(source.shape or ())
        shape[found.axis] = dim + 1
        other = inferred(model, {names[found.value]: tuple(shape)})
        if other.problems or other.requires != known.requires:
            continue
        changed = other.types[value]
        assert isinstance(changed, Tensor) and changed.shape is not None
        assert changed.shape[axis] == dim + 1, (path.name, value.name, axis, found)
        count += 1
    return count


def test_a_size_changes_with_the_one_that_it_comes_from() -> None:
    assert sum(verified(path) for path in SOUND) > 100


# --- how a size is computed -------------------------------------------------------------------------------------------

#: A node that makes y, the axis of y, and what its rule says of it.
ARITHMETIC = """
y = Conv <strides = [2, 2]> (image, filters)                           | 3 | (9 - 3) / 2 + 1 (kernel 3, stride 2)
y = Conv <strides = [4, 4], pads = [1, 1, 1, 1]> (image, filters)      | 3 | (9 + 1 + 1 - 3) / 4 + 1 (kernel 3, stride 4, pads 1+1)
y = Conv <strides = [4, 4]> (image, filters)                           | 3 | floor((9 - 3) / 4) + 1 (kernel 3, stride 4)
y = Conv <dilations = [2, 2]> (image, filters)                         | 3 | 9 - 5 + 1 (kernel 3, stride 1, dilation 2)
y = Conv <strides = [2, 2], auto_pad = "SAME_UPPER"> (image, filters)  | 3 | ceil(9 / 2) (kernel 3, stride 2, auto_pad SAME_UPPER)
y = Conv <auto_pad = "VALID"> (image, filters)                         | 3 | 9 - 3 + 1 (kernel 3, stride 1)
y = MaxPool <kernel_shape = [2, 2], strides = [2, 2], ceil_mode = 1> (image) | 3 | ceil((9 - 2) / 2) + 1 (kernel 2, stride 2)
y = ConvTranspose <strides = [2, 2], pads = [0, 1, 0, 1], output_padding = [1, 1]> (image, up) | 3 | (9 - 1) * 2 + 3 - 1 - 1 + 1 (kernel 3, stride 2, pads 1+1)
y = Concat <axis = 1> (x, x, w)                                        | 1 | 64 + 64 + 8 (axis 1 of its inputs)
y = Pad (x, pads)                                                      | 1 | 64 + 2 + 4 (pads 2+4 on axis 1)
y = Reshape (x, wide)                                                  | 0 | entry 0 of the shape [4, -1] (data [2, 64])
y = Reshape (x, wide)                                                  | 1 | the size inferred for -1 (shape [4, -1], data [2, 64])
y = Flatten (image)                                                    | 1 | 3 * 9 * 9 (axis 1, input [1, 3, 9, 9])
y = Resize (x, , , larger)                                             | 1 | entry 1 of the sizes [5, 7]
y = Slice (x, zero, last, zero)                                        | 0 | part of 2
a, y = Split <axis = 1> (x, parts)                                     | 1 | part of 64
y, a = TopK (x, last)                                                  | 1 | part of 64
y = CenterCropPad (x, larger)                                          | 1 | part of 64
y = CenterCropPad (x, larger)                                          | 0 |
y = Tile (x, larger)                                                   | 1 |
""".strip().splitlines()

LISTS = """int64[1] zero = {0}, int64[1] last = {1}, int64[2] wide = {4, -1}, int64[2] larger = {5, 7}, int64[2] parts = {4, 60},
  int64[4] pads = {0, 2, 0, 4}"""


@pytest.mark.parametrize("line", ARITHMETIC)
def test_how_a_size_is_computed(line: str) -> None:
    nodes, axis, wanted = (each.strip() for each in line.split("|"))
    inputs = "float[2,64] x, float[2,8] w, float[1,3,9,9] image, float[4,3,3,3] filters, float[3,4,3,3] up"
    found = output_trail(f"g ({inputs}) => (float y) <{LISTS}> {{ {nodes} }}", int(axis))
    assert found.value.name == "y"
    arithmetic, text = found.arithmetic, ""
    if arithmetic is not None:
        text = arithmetic.formula + f" ({arithmetic.details})" * bool(arithmetic.details) or (
            f"part of {arithmetic.part_of}"
        )
    assert text == wanted


@of_each({path.name: path for path in SOUND})
def test_a_formula_comes_to_the_size_that_it_explains(path: Path) -> None:
    known = inferred(read(path))
    makers = Makers(known)
    for value, axis, dim in sizes(known):
        arithmetic = makers.arithmetic(value, axis)
        if arithmetic is not None and re.fullmatch(r"(floor|ceil|[-+*/() \d])+", arithmetic.formula):
            assert eval(arithmetic.formula, {"floor": math.floor, "ceil": math.ceil}) == dim


def test_a_size_that_only_the_file_states() -> None:
    text = "g (float[2,6] x, int64[2] s) => (float[a,b] z) <float[3,4] y> { y = Reshape (x, s) z = Neg (y) }"
    found = output_trail(text, 1)
    assert (found.value.name, found.dim, found.left_open) == ("y", 4, True)
    assert not output_trail("g (float[2,6] x, float[2,6] y) => (float z) { z = Concat <axis = 0> (x, y) }", 0).left_open
