"""Suggestions for IRs that are broken as people break them: constants, attributes, declarations and lost layers."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest

import irlint

pytestmark = pytest.mark.oracle


class Operations:
    """The functions of ``openvino.opset13``, which is imported when a test runs."""

    def __getattr__(self, name: str) -> Any:
        from openvino import opset13

        return getattr(opset13, name)


ops = Operations()


def ints(*values, shape=None):
    return ops.constant(numpy.array(values, "int64").reshape(len(values) if shape is None else shape))


def floats(*shape):
    return ops.constant(numpy.full(shape, 0.5, "float32"))


def image(channels=3):
    return ops.parameter([-1, channels, -1, -1], numpy.float32, name="x")


def convolved(x, given, channels):
    y = ops.convolution(x, floats(channels, given, 3, 3), [1, 1], [1, 1], [1, 1], [1, 1])
    return ops.relu(ops.add(y, floats(1, channels, 1, 1)))


def down(x):
    return ops.max_pool(x, [2, 2], [1, 1], [0, 0], [0, 0], [2, 2]).output(0)


def up(x, given, channels):
    return ops.convolution_backprop_data(x, floats(given, channels, 2, 2), [2, 2])


def enlarged():
    x, y = image(), image(4)
    sizes = [ops.interpolate(each, ints(8, 8), "nearest", "sizes", axes=ints(2, 3)) for each in (x, y)]
    return ops.concat(sizes, 1), [x, y]


def unet():
    x = image()
    a = convolved(x, 3, 4)
    b = convolved(down(a), 4, 8)
    c = convolved(down(b), 8, 8)
    d = convolved(ops.concat([b, up(c, 8, 8)], 1), 16, 8)
    return convolved(ops.concat([a, up(d, 8, 4)], 1), 8, 4), [x]


def cached(*shape):
    shapes = {"past_key": [-1, 4, -1, 5], "past_value": list(shape)}
    past = [ops.parameter(each, numpy.float32, name=name) for name, each in shapes.items()]
    new = ops.parameter([-1, 4, -1, 5], numpy.float32, name="x")
    key, value = (ops.concat([each, new], 2) for each in past)
    return ops.matmul(ops.softmax(ops.matmul(new, key, False, True), -1), value, False, False), [*past, new]


def shuffled():
    x = image(1)
    wide = ops.convolution(x, floats(16, 1, 5, 5), [1, 1], [2, 2], [2, 2], [1, 1])
    y = ops.convolution(wide, floats(9, 16, 3, 3), [1, 1], [1, 1], [1, 1], [1, 1])
    sizes = ops.gather(ops.shape_of(y), ints(2, 3), ints(0, shape=[]))
    part = ops.constant(numpy.array([1]), name="part")
    target = ops.concat([ints(0), part, ints(3), ints(3), sizes], 0)
    return ops.transpose(ops.reshape(y, target, True), ints(0, 1, 4, 2, 5, 3)), [x]


def shuffled_twice():
    y = x = ops.parameter([-1, 4, 8, 8], numpy.float32, name="x")
    for block in range(2):
        parts = ops.reshape(y, ints(0, 2, 2, 8, 8), True)
        order = ops.constant(numpy.array([0, 2, 1, 3, 4], "int32"))
        turned = ops.transpose(parts, order, name=f"stage.{block}/shuffle/Transpose")
        y = ops.reshape(turned, ints(0, 4, 8, 8), True)
    return y, [x]


def rotated(axis):
    x = ops.parameter([-1, -1, 4, 6], numpy.float32, name="x")
    length = ops.gather(ops.shape_of(x), ints(1, shape=[]), ints(0, shape=[]))
    places = ops.range(ints(0, shape=[]), length, ints(1, shape=[]), "f32")
    column = ops.unsqueeze(places, ints(1, shape=[]))
    table = ops.unsqueeze(ops.multiply(column, floats(6)), ints(0, shape=[]))
    return ops.multiply(x, ops.unsqueeze(table, ints(axis, shape=[]))), [x]


def projected():
    x = ops.parameter([-1, -1, 6], numpy.float32, name="x")
    q, k, v = (ops.matmul(x, floats(6, 6), False, True) for _ in range(3))
    y = ops.matmul(ops.softmax(ops.matmul(q, k, False, True), -1), v, False, False)
    return ops.add(ops.matmul(y, floats(6, 6), False, True), x), [x]


def windows():
    x = ops.parameter([-1, -1, 6], numpy.float32, name="x")
    sizes, zero = ops.shape_of(x), ints(0, shape=[])
    batch = ops.gather(sizes, ints(0), zero)
    length = ops.gather(sizes, ints(1, shape=[]), zero)
    half = ops.unsqueeze(ops.multiply(length, ints(3, shape=[])), zero)
    y = ops.reshape(x, ops.concat([batch, half, ints(2)], 0), False)
    return ops.add(y, ops.broadcast(floats(1, 1, 2), ops.concat([batch, half, ints(2)], 0))), [x]


def repeated(start):
    """A value that is repeated to the shape of a part of x, which is empty unless it starts at 0."""
    x = ops.parameter([1, 6], numpy.float32, name="x")
    places = ops.parameter([2, -1], numpy.int64, name="places")
    column = ops.reshape(ops.gather(places, ints(1), ints(0, shape=[])), ints(-1, 1), False)
    part = ops.slice(x, ints(start + 1), ints(start + 1), ints(1), ints(0))
    return ops.broadcast(column, ops.shape_of(part), broadcast_spec="BIDIRECTIONAL"), [x, places]


def grid(axis):
    x = ops.parameter([-1, -1], numpy.float32, name="x")
    sizes = ops.shape_of(x)
    height, width = (ops.gather(sizes, ints(at, shape=[]), ints(0, shape=[])) for at in (0, 1))
    start, step = ints(0, shape=[]), ints(1, shape=[])
    rows, columns = (ops.range(start, each, step, "f32") for each in (height, width))
    one = ops.broadcast(ops.unsqueeze(rows, ints(1)), sizes)
    other = ops.broadcast(ops.unsqueeze(columns, ints(0)), sizes)
    return ops.concat([ops.unsqueeze(one, ints(axis)), ops.unsqueeze(other, ints(-1))], -1), [x]


def divided(*order):
    """Queries, keys and values in heads, and a cache of keys and values."""
    x = ops.parameter([-1, -1, 8], numpy.float32, name="x")
    past = [ops.parameter([-1, 2, -1, 4], numpy.float32, name=name) for name in ("past_key", "past_value")]
    shared = ints(*order)
    parts = [ops.matmul(x, floats(8, 8), False, True) for _ in range(3)]
    q, k, v = (ops.transpose(ops.reshape(each, ints(0, 0, 2, 4), True), shared) for each in parts)
    key, value = ops.concat([past[0], k], 2), ops.concat([past[1], v], 2)
    return ops.matmul(ops.softmax(ops.matmul(q, key, False, True), -1), value, False, False), [x, *past]


def embedded():
    x = ops.parameter([-1, -1], numpy.float32, name="x")
    table = ops.constant(numpy.arange(28, dtype="float32").reshape(7, 4))
    return ops.add(ops.gather(table, ops.convert(x, "i64"), ints(0, shape=[])), floats(1, 1, 4)), [x]


def tabled():
    """A convolution, and a table that fixes the sizes of the image."""
    x = image()
    return ops.add(convolved(x, 3, 8), floats(1, 8, 8, 8)), [x]


def summed(equation):
    """Four scores for each position, of which two weigh as many vectors."""
    x = ops.parameter([-1, -1, 4], numpy.float32, name="x")
    values = ops.parameter([-1, -1, 2, 5], numpy.float32, name="values")
    scores = ops.slice(x, ints(0), ints(2), ints(1), ints(2))
    return ops.einsum([scores, values], equation), [x, values]


def largest():
    x = ops.parameter([-1, 6], numpy.float32, name="x")
    return ops.relu(ops.topk(x, ints(2, shape=[]), -1, "max", "value").output(0)), [x]


def layered():
    x = ops.parameter([-1, 4], numpy.float32, name="x")
    return ops.matmul(ops.relu(ops.matmul(x, floats(4, 6), False, False)), floats(6, 3), False, False), [x]


def iterated():
    """A recurrence over the second axis of x."""
    import openvino

    x, start = (ops.parameter(shape, numpy.float32, name=name) for shape, name in (([4, 20, 3], "x"), ([4, 6], "h")))
    part, state = ops.parameter([4, 1, 3], numpy.float32), ops.parameter([4, 6], numpy.float32)
    joined = ops.concat([state, ops.squeeze(part, ints(1))], 1)
    new = ops.tanh(ops.matmul(joined, floats(9, 6), False, False))
    results = [ops.result(new), ops.result(ops.unsqueeze(new, ints(1)))]
    loop = ops.tensor_iterator()
    loop.set_body(openvino.Model(results, [part, state], "body"))
    loop.set_sliced_input(part, x.output(0), 0, 1, 1, -1, 1)
    loop.set_merged_input(state, start.output(0), results[0].output(0))
    joined = loop.get_concatenated_slices(results[1].output(0), 0, 1, 1, -1, 1)
    loop.validate_and_infer_types()
    return joined, [x, start]


def unsliced(text, kind):
    """The document without the slicing of the first input or output of a port map."""
    entry = re.search(rf"<{kind} [^>]*axis=[^>]*>", text)[0]
    return text.replace(entry, re.sub(r' (axis|start|end|stride|part_size)="-?\d+"', "", entry))


def normalized():
    """Normalizations of groups of 4 channels."""
    y = x = image(8)
    for block, width in enumerate((8, 16, 24, 16, 24, 16)):
        y = ops.convolution(y, floats(width, (8, 8, 16, 24, 16, 24)[block], 1, 1), [1, 1], [0, 0], [0, 0], [1, 1])
        y = ops.group_normalization(y, floats(width), floats(width), width // 4, 1e-5)
    return y, [x]


def without(type: str, at: int) -> Callable[[str], str]:
    """Removes the layer of a type with this index, and leads its first input to its users."""

    def changed(text: str) -> str:
        found = list(re.finditer(rf'<layer id="(\d+)"[^>]*type="{type}".*?</layer>\s*', text, re.DOTALL))[at]
        id, text = found[1], text.replace(found[0], "")
        into = rf'<edge from-layer="(\d+)" from-port="(\d+)" to-layer="{id}" to-port="0" />\s*'
        source = re.search(into, text)
        assert source
        text = re.sub(rf'<edge [^>]*to-layer="{id}"[^>]*/>\s*', "", text)
        start = rf'from-layer="{id}" from-port="\d+"'
        return re.sub(start, f'from-layer="{source[1]}" from-port="{source[2]}"', text)

    return changed


def replacing(old: str, new: str, at: int = 0) -> Callable[[str], str]:
    """Replaces one occurrence of a text."""

    def changed(text: str) -> str:
        parts = text.split(old)
        assert len(parts) > at + 1
        return old.join(parts[: at + 1]) + new + old.join(parts[at + 1 :])

    return changed


def with_other_offset(text: str) -> str:
    """Gives the constant ``part`` the offset of the list [2, 3]."""
    offset = re.search(r'shape="2" offset="(\d+)"', text)
    assert offset
    head, found, rest = text.partition('name="part"')
    assert found
    return head + found + re.sub(r'offset="\d+"', f'offset="{offset[1]}"', rest, count=1)


def along_other_axis(text: str, at: int) -> str:
    """Declares a bias of shape [1, 8, 1, 1], and the port that it leads to, as [1, 1, 8, 1]."""
    dims = r"(<dim>1</dim>\s*)(<dim>8</dim>\s*)(<dim>1</dim>\s*)(<dim>1</dim>)"
    places = list(re.finditer(dims, text))[2 * at : 2 * at + 2]
    for place in reversed(places):
        one, width, other, last = place.groups()
        text = text[: place.start()] + one + other + width + last + text[place.end() :]
    return replacing('shape="1, 8, 1, 1"', 'shape="1, 1, 8, 1"', at)(text)


def channels_last(text: str) -> str:
    """Declares the image x with its channels on the last axis. The port that takes it keeps its dims."""
    size, channels = r"<dim>-1</dim>\s*", r"<dim>3</dim>\s*"
    text = re.sub(f"({size})({channels})({size})({size})", r"\1\3\4\2", text, count=1)
    return text.replace('shape="?,3,?,?"', 'shape="?,?,?,3"')


def reversed_shape(text: str, shape: str) -> str:
    """Declares a matrix with its two sizes exchanged. The port that takes it keeps its dims."""
    one, other = shape.split(", ")
    text = replacing(f'shape="{shape}"', f'shape="{other}, {one}"')(text)
    dims = rf"<dim>{one}</dim>(\s*)<dim>{other}</dim>"
    return re.sub(dims, rf"<dim>{other}</dim>\1<dim>{one}</dim>", text, count=1)


def with_exchanged_offsets(text: str) -> str:
    one, other = re.findall(r'shape="(?:4, 6|6, 3)" offset="(\d+)"', text)
    text = text.replace(f'shape="4, 6" offset="{one}"', f'shape="4, 6" offset="{other}"')
    return text.replace(f'shape="6, 3" offset="{other}"', f'shape="6, 3" offset="{one}"')


def with_shorter_list(text: str) -> str:
    """The document with one number less in the second constant of 5 numbers, as its bytes, and as its ports declare."""
    places = [each.start() for each in re.finditer(r'shape="5" offset="\d+" size="20"', text)]
    return text[: places[1]] + text[places[1] :].replace('shape="5"', 'shape="4"', 1).replace('"20"', '"16"', 1)


def past_the_end(text: str) -> str:
    """Gives the matrix of 6 rows an offset behind its bytes, which end the weights."""
    return re.sub(r'(shape="6, 3" offset=)"\d+"', r'\1"200"', text)


def with_smaller_size(text: str) -> str:
    """Gives one of two constants that share 8 bytes the size 4."""
    offsets = re.findall(r'shape="1" offset="(\d+)" size="8"', text)
    shared = next(each for each in offsets if offsets.count(each) > 1)
    return replacing(f'shape="1" offset="{shared}" size="8"', f'shape="1" offset="{shared}" size="4"')(text)


def without_edge_into_reshape(text: str) -> str:
    """Removes the edge into input 0 of the first Reshape."""
    id = re.search(r'<layer id="(\d+)" name="\w+" type="Reshape"', text)
    assert id
    return re.sub(rf'<edge [^>]*to-layer="{id[1]}" to-port="0" />\s*', "", text)


def unchanged(text: str) -> str:
    return text


def batched():
    """Two sizes of x as lists, each of which a Reshape makes from a Gather."""
    x = ops.parameter([-1, -1, 6], numpy.float32, name="x")
    zero = ints(0, shape=[])
    sizes = [ops.gather(ops.shape_of(x), ints(at, shape=[]), zero) for at in (0, 1)]
    joined = ops.concat([ops.reshape(each, ints(-1), False) for each in sizes], 0)
    product = ops.multiply(*sizes)
    return ops.reduce_sum(ops.concat([joined, ops.unsqueeze(product, zero)], 0), zero, False), [x]


#: A model, the change of its document, and the suggestion for the first error or warning; "" if there is none.
BROKEN = {
    "a broadcast that is switched off at one of several layers": (
        unet,
        replacing('auto_broadcast="numpy"', 'auto_broadcast="none"', 3),
        r'set auto_broadcast="numpy" in Add \(layer \d+\)',
    ),
    "a bias along another axis": (
        unet,
        lambda text: along_other_axis(text, 2),
        r'reshape constant layer \d+ "\w+" from \[1, 1, 8, 1\] to \[1, 8, 1, 1\]',
    ),
    "numbers of groups by the channels of the other groups": (
        normalized,
        lambda text: text.replace('num_groups="4"', 'num_groups="32"', 1).replace(
            'num_groups="6"', 'num_groups="32"', 1
        ),
        r'set num_groups="4", and set num_groups="6" in GroupNormalization \(layer \d+\); this also fixes 1 more',
    ),
    "an input that is sliced along another axis": (
        iterated,
        lambda text: re.sub(r'(<input [^>]*axis=)"1"', r'\1"0"', text, count=1),
        r'set axis="1" in entry 0 of the port map; this also fixes \d more',
    ),
    "an input that is no longer sliced": (
        iterated,
        lambda text: unsliced(text, "input"),
        r'set axis="1" in entry 0 of the port map; this also fixes \d more',
    ),
    "an output that no longer joins slices": (
        lambda: (ops.matmul(floats(4, 7, 20), (joined := iterated())[0], False, False), joined[1]),
        lambda text: unsliced(text, "output"),
        r'set axis="1" in entry 2 of the port map; this also fixes \d more',
    ),
    "a removed pooling layer": (
        unet,
        without("MaxPool", 1),
        r'insert a MaxPool, like layer \d+ "\w+", before input 0 in Convolution \(layer \d+\)',
    ),
    "an input in another layout than its sister": (
        lambda: cached(-1, 4, 5, -1),
        unchanged,
        r'declare input layer \d+ "past_value" as \[\?, 4, \?, 5\]; this also fixes 1 more',
    ),
    "a truth value that is written as a number": (
        layered,
        replacing('transpose_b="false"', 'transpose_b="1"'),
        r'set transpose_b="0".*',
    ),
    "an input with its channels at the end": (
        unet,
        channels_last,
        r'declare input layer \d+ "x" as \[\?, 3, \?, \?\](; this also fixes \d more)?',
    ),
    "a target that an edge leads elsewhere": (
        lambda: repeated(0),
        unchanged,
        "",
    ),
    "an order of axes that several layers share": (
        lambda: divided(0, 1, 2, 3),
        unchanged,
        r'change \[0, 1, 2, 3\] to \[0, 2, 1, 3\] in constant layer \d+ "\w+"',
    ),
    "a constant with the shape of its transpose": (
        embedded,
        lambda text: reversed_shape(text, "7, 4"),
        r'set shape="7,4" in Const \(layer \d+\), and change 4 and 7 to 7 and 4 on axes 0 and 1 of output port 0; '
        "this also fixes 2 more; or transpose its numbers, if only their order is wrong",
    ),
    "an input with more channels before a table": (
        tabled,
        lambda text: text.replace('shape="?,3,?,?"', 'shape="?,4,?,?"').replace("<dim>3</dim>", "<dim>4</dim>", 1),
        r'change 4 to 3 on axis 1 of input layer \d+ "x"',
    ),
    "letters of an equation": (
        lambda: summed("bkt,btkc->btc"),
        unchanged,
        'set equation="btk,btkc->btc", or set equation="bkt,bktc->btc"; this also fixes 1 more',
    ),
    "weights with the offsets of each other": (
        layered,
        with_exchanged_offsets,
        r'set offset="\d+", and set offset="\d+" in Const \(layer \d+\)',
    ),
    "an offset past the end of the weights": (
        layered,
        past_the_end,
        r'set offset="96"',
    ),
    "a size of a part of shared bytes": (
        shuffled,
        with_smaller_size,
        r'set size="8"',
    ),
    "a removed edge that two layers of one kind may replace": (
        batched,
        without_edge_into_reshape,
        r'connect layer \d+ "Gather_\d+" as input 0, or connect layer \d+ "Gather_\d+" as input 0',
    ),
    "a list in place of a scalar": (
        largest,
        lambda text: re.sub(
            r'shape="" (offset="\d+" size="8" />\s*<output>\s*)<port id="0" precision="I64" />',
            r'shape="1" \1<port id="0" precision="I64"><dim>1</dim></port>',
            text,
        ),
        r'reshape constant layer \d+ "\w+" from \[1\] to \[\]',
    ),
    "one of two new axes in another place": (
        lambda: grid(0),
        unchanged,
        r'change -1 to 0 in constant layer \d+ "\w+", or change 0 to -1 in constant layer \d+ "\w+"; '
        "this also fixes 1 more",
    ),
    "a part of a target": (
        shuffled,
        with_other_offset,
        r'change 2 to 1 in constant layer \d+ "part"',
    ),
    "an order of too few axes": (
        shuffled,
        lambda text: re.sub(
            r'shape="6" offset="(\d+)" size="48" />(\s*<output>\s*<port [^>]*>\s*)<dim>6',
            r'shape="5" offset="\1" size="40" />\2<dim>5',
            text,
        ),
        "",
    ),
    "an order of fewer axes than in another block": (
        shuffled_twice,
        with_shorter_list,
        r'set shape="5"(, offset="\d+")? and size="20"(; this also fixes \d more)?',
    ),
    "a new axis in another place": (
        lambda: rotated(0),
        unchanged,
        r'change 0 to 2 in constant layer \d+ "\w+"',
    ),
    "an input that is too wide": (
        projected,
        lambda text: text.replace('shape="?,?,6"', 'shape="?,?,8"').replace("<dim>6</dim>", "<dim>8</dim>", 1),
        r'change 8 to 6 on axis 2 of input layer \d+ "x"(; this also fixes 3 more)?',
    ),
    "an older version in which an input is another one": (
        enlarged,
        lambda text: text.replace('type="Interpolate" version="opset11"', 'type="Interpolate" version="opset8"'),
        r'set version="opset11", and set version="opset11" in Interpolate \(layer \d+\); this also fixes 1 more',
    ),
    "a removed Unsqueeze before two lists": (
        windows,
        without("Unsqueeze", 0),
        r'insert an Unsqueeze with axes="0" before input 1, and insert an Unsqueeze with axes="0" before input 1 in '
        r"Concat \(layer \d+\); this also fixes 1 more",
    ),
}


def run(path: Path) -> None:
    """Runs an IR with 8 for each dynamic size."""
    import openvino

    model = openvino.Core().read_model(path)
    shapes = [[dim.get_length() if dim.is_static else 8 for dim in each.partial_shape] for each in model.inputs]
    openvino.compile_model(model, "CPU")([numpy.ones(shape, "float32") for shape in shapes])


@pytest.mark.parametrize("what", BROKEN)
def test_suggestion(what: str, tmp_path: Path) -> None:
    import openvino

    built, change, expected = BROKEN[what]
    output, inputs = built()
    path = tmp_path / "m.xml"
    openvino.serialize(openvino.Model([output], inputs, "m"), path, path.with_suffix(".bin"))
    path.write_text(change(path.read_text()))
    with pytest.raises(RuntimeError):
        run(path)
    found = [each for each in irlint.check(path, ignore=["IRL9"]).findings if not each.because]
    assert re.fullmatch(expected, found[0].suggestion)
    if found[0].fix is not None:
        path.write_bytes(irlint.fix(path, unsafe=True).data)
        run(path)


def test_offset_of_weights_that_may_be_incomplete(tmp_path: Path) -> None:
    """If bytes at two places are unused, the file may be cut, and the offset is not written."""
    import openvino

    output, inputs = layered()
    path = tmp_path / "m.xml"
    weights = path.with_suffix(".bin")
    openvino.serialize(openvino.Model([output], inputs, "m"), path, weights)
    text = re.sub(r'(shape="4, 6" offset=)"0"', r'\1"72"', path.read_text())
    path.write_text(re.sub(r'(shape="6, 3" offset=)"96"', r'\1"168"', text))
    weights.write_bytes(bytes(192))
    with pytest.raises(RuntimeError):
        run(path)
    (found,) = [each for each in irlint.check(path, ignore=["IRL9"]).findings if not each.because]
    assert (found.suggestion, found.fix) == ("", None)
    assert found.help == (
        "fixed by offset 0: the 72 bytes there belong to no other constant; if m.bin is incomplete, copy it again "
        "together with the model"
    )


#: By how many bytes the offsets behind a gap are too high, how many bytes the file lacks, and the help.
MOVED = {
    (56, 0): "56 bytes behind `second` are used by no constant: subtract 56 from the offsets behind it",
    (
        64,
        -8,
    ): "64 bytes behind `second` are used by no constant: subtract 64 from the offsets behind it, or copy m.bin again "
    "together with the model",
    (56, 8): "copy m.bin again together with the model",
    (0, 40): "copy m.bin again together with the model",
}


@pytest.mark.parametrize(("moved", "cut"), MOVED)
def test_offsets_behind_a_constant_that_became_smaller(moved: int, cut: int, tmp_path: Path) -> None:
    import openvino

    x = y = ops.parameter([-1, 4], numpy.float32, name="x")
    for name, shape in (("first", (4, 4)), ("second", (5, 4)), ("third", (2, 5)), ("fourth", (3, 2))):
        weights = ops.constant(numpy.full(shape, len(name), "float32"))
        weights.set_friendly_name(name)
        y = ops.matmul(y, weights, False, True)
    path = tmp_path / "m.xml"
    stored = path.with_suffix(".bin")
    openvino.serialize(openvino.Model([y], [x], "m"), path, stored)
    run(path)
    text = path.read_text()
    for offset, shape in (("144", "2, 5"), ("184", "3, 2")):
        assert f'shape="{shape}" offset="{offset}"' in text
        text = text.replace(f'offset="{offset}"', f'offset="{int(offset) + moved}"')
    path.write_text(text)
    data = stored.read_bytes()
    stored.write_bytes(data[: len(data) - cut] + bytes(max(-cut, 0)))
    with pytest.raises(RuntimeError):
        run(path)
    found = next(each for each in irlint.check(path, ignore=["IRL9"]).findings if each.rule.code == "IRL702")
    assert found.help == MOVED[moved, cut]


def chosen(path: Path) -> str:
    """Writes an If of two outputs, and returns its document."""
    import openvino

    condition, x = ops.parameter([], bool, name="c"), ops.parameter([2, 4], numpy.float32, name="x")
    choice, bodies = ops.if_op(condition), []
    for first, second in ((ops.relu, ops.negative), (ops.exp, ops.abs)):
        given = ops.parameter([2, 4], numpy.float32)
        results = [ops.result(each(given)) for each in (first, second)]
        for at, each in enumerate(results):
            each.set_friendly_name(f"kept_{at}")
        bodies.append((openvino.Model(results, [given]), given, results))
    (then, of_then, results), (other, of_other, others) = bodies
    choice.set_then_body(then)
    choice.set_else_body(other)
    choice.set_input(x.output(0), of_then, of_other)
    outputs = [choice.set_output(*pair) for pair in zip(results, others)]
    openvino.serialize(openvino.Model(outputs, [condition, x], "m"), path, path.with_suffix(".bin"))
    run(path)
    return path.read_text()


@pytest.mark.parametrize("side", ["then", "else"])
@pytest.mark.parametrize("at", [0, 1])
def test_the_help_names_the_entry_that_a_port_map_lacks(side: str, at: int, tmp_path: Path) -> None:
    path = tmp_path / "m.xml"
    text = chosen(path)
    port_map = re.search(rf"<{side}_port_map>.*?</{side}_port_map>", text, re.DOTALL)
    assert port_map
    entry = re.findall(r"<output external_port_id.*?/>", port_map[0])[at]
    path.write_text(text.replace(port_map[0], port_map[0].replace(entry, "")))
    with pytest.raises(RuntimeError):
        run(path)
    (found,) = [each for each in irlint.check(path).findings if each.severity.value == "error"]
    result = re.findall(r"\d+", entry)[1]
    assert f"no entry is for output {at}, or for Result {result} (`kept_{at}`)" in found.message
    added = re.fullmatch(rf"add (<output .*/>) to {side}_port_map", found.help)
    assert added
    path.write_text(path.read_text().replace(f"</{side}_port_map>", f"{added[1]}</{side}_port_map>"))
    run(path)


def test_the_help_names_the_first_output_without_entry(tmp_path: Path) -> None:
    path = tmp_path / "m.xml"
    text = chosen(path)
    port_map = re.search(r"<else_port_map>.*?</else_port_map>", text, re.DOTALL)
    assert port_map
    path.write_text(text.replace(port_map[0], re.sub(r"<output [^>]*>", "", port_map[0])))
    with pytest.raises(RuntimeError):
        run(path)
    (found,) = [each for each in irlint.check(path).findings if each.severity.value == "error"]
    assert "no entry is for output 0, or for Results 3 (`kept_0`), 4 (`kept_1`) of the body" in found.message
    assert found.help == 'add an <output> with external_port_id="2" and the id of its Result to else_port_map'


def test_the_help_names_the_input_port_that_a_layer_lost(tmp_path: Path) -> None:
    path = tmp_path / "m.xml"
    text = chosen(path)
    layer = re.search(r'<layer id="(\d+)"[^>]*type="If".*?</input>', text, re.DOTALL)
    assert layer
    without = re.sub(r'<port id="1".*?</port>', "", layer[0], flags=re.DOTALL)
    edge = rf'<edge [^>]*to-layer="{layer[1]}" to-port="1"[^>]*>'
    path.write_text(re.sub(edge, "", text.replace(layer[0], without)))
    with pytest.raises(RuntimeError):
        run(path)
    found = next(each for each in irlint.check(path).findings if each.severity.value == "error")
    assert "restore input port 1 with an edge to the source of Parameter" in found.help
    assert "the output ports begin at 2, so this port is missing" in found.help
