"""Random IRs in which the shapes of layers come from the shapes of others, through chains of arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from oracles.ir_generator import Input
from oracles.ir_graphs import Builder, Net, integers, scalar

Made = tuple[int, int]


class Lists(Builder):
    """Lists of integers that come from shapes: (step, how many entries they have)."""

    def __init__(self, random: Random) -> None:
        super().__init__(random)
        self.dtype = random.choice(("i64", "i64", "i32"))
        self.made: list[Made] = []

    def source(self) -> Made:
        """The shape of a Parameter, or of what a layer makes of one."""
        dims, way = self.dims(), self.random.random()
        data = self.parameter("f32", dims)
        count = len(dims)
        if way < 0.1:
            data, count = self.add("NonZero", 3, data, output_type=self.dtype), 2
        elif way < 0.15:
            data, count = self.add("Unique", 10, data, outputs=4), 1
        elif way < 0.25:
            data = self.add("Relu", 1, data)
        return self.add("ShapeOf", 3, data, output_type=self.dtype), count

    def list(self) -> Made:
        """A list that was made before, or a new one, changed up to three times."""
        if self.made and self.random.random() < 0.4:
            return self.random.choice(self.made)
        step, count = self.source()
        for _ in range(self.random.randrange(4)):
            step, count = self.random.choice(CHANGES)(self, step, count)
        self.made.append((step, count))
        return step, count

    def numbers(self, count: int, least: int = 0, most: int = 4) -> Input:
        return integers(self.dtype, *(self.random.randint(least, most) for _ in range(count)))

    def one(self) -> int:
        """A scalar out of a list."""
        step, count = self.list()
        return self.entry(step, self.random.randrange(max(count, 1)))

    def entry(self, step: int, place: int) -> int:
        return self.add("Gather", 8, step, scalar("i64", place), scalar("i64", 0))

    def data(self, count: int) -> int:
        """A Parameter, most often with as many axes as the list has entries."""
        dims = self.dims(count, count) if self.random.random() < 0.8 else self.dims()
        return self.parameter("f32", dims)


# --- one list from another --------------------------------------------------------------------------------------------


def gathered(make: Lists, step: int, count: int) -> Made:
    places = make.numbers(make.random.randint(1, 3), -count, max(count - 1, 0))
    return make.add("Gather", 8, step, places, scalar("i64", 0)), len(places.values or ())


def part(make: Lists, step: int, count: int) -> Made:
    start = make.random.randrange(max(count, 1))
    length = make.random.randint(1, max(count - start, 1))
    ends = [integers("i64", start), integers("i64", start + length), integers("i64", 1)]
    if make.random.random() < 0.5:
        return make.add("Slice", 8, step, *ends), length
    return make.add("StridedSlice", 1, step, *ends, begin_mask="0", end_mask="0"), length


def computed(make: Lists, step: int, count: int) -> Made:
    op = make.random.choice(("Add", "Subtract", "Multiply", "Divide", "Maximum", "Minimum"))
    other = make.numbers(make.random.choice((1, max(count, 1))), 1, 4)
    pair = (other, step) if make.random.random() < 0.15 else (step, other)
    return make.add(op, 1, *pair), max(count, 1)


def computed_together(make: Lists, step: int, count: int) -> Made:
    other, length = make.source()
    if length not in (count, 1):
        return step, count
    op = make.random.choice(("Add", "Subtract", "Multiply", "Maximum", "Minimum", "Divide"))
    return make.add(op, 1, step, other), count


def joined(make: Lists, step: int, count: int) -> Made:
    if make.random.random() < 0.5:
        other, length = make.source()
        return make.add("Concat", 1, step, other, axis=0), count + length
    more = make.numbers(make.random.randint(1, 2), -1, 4)
    pair = (step, more) if make.random.random() < 0.5 else (more, step)
    return make.add("Concat", 1, *pair, axis=0), count + len(more.values or ())


def reduced(make: Lists, step: int, count: int) -> Made:
    op = make.random.choice(("ReduceProd", "ReduceSum", "ReduceMax", "ReduceMin"))
    return make.add(op, 1, step, integers("i64", 0), keep_dims="true"), 1


def selected(make: Lists, step: int, count: int) -> Made:
    op = make.random.choice(("Equal", "Greater", "Less", "GreaterEqual", "NotEqual"))
    asked = make.add(op, 1, step, scalar(make.dtype, make.random.choice((-1, 0, 1, 2, 4))))
    return make.add("Select", 1, asked, step, make.numbers(1)), count


def converted(make: Lists, step: int, count: int) -> Made:
    between = make.add("Convert", 1, step, destination_type=make.random.choice(("i32", "f32", "i64")))
    return make.add("Convert", 1, between, destination_type=make.dtype), count


def scaled(make: Lists, step: int, count: int) -> Made:
    between = make.add("Convert", 1, step, destination_type="f32")
    op, factor = make.random.choice((("Multiply", 0.5), ("Multiply", 2.0), ("Divide", 2.0), ("Multiply", 1.5)))
    between = make.add(op, 1, between, scalar("f32", factor))
    between = make.add(make.random.choice(("Floor", "Ceiling")), 1, between)
    return make.add("Convert", 1, between, destination_type=make.dtype), count


def updated(make: Lists, step: int, count: int) -> Made:
    place = integers("i64", make.random.randrange(max(count, 1)))
    return make.add("ScatterUpdate", 3, step, place, make.numbers(1), scalar("i64", 0)), count


def split(make: Lists, step: int, count: int) -> Made:
    count = max(count, 1)
    return make.add("Split", 1, step, scalar("i64", 0), outputs=count, num_splits=count), 1


def reshaped(make: Lists, step: int, count: int) -> Made:
    if make.random.random() < 0.4:
        return make.add("Reshape", 1, step, integers("i64", -1), special_zero="false"), count
    if count == 1 and make.random.random() < 0.5:
        return make.add("Unsqueeze", 1, make.add("Squeeze", 1, step), integers("i64", 0)), 1
    one = make.entry(step, make.random.randrange(max(count, 1)))
    return make.add("Unsqueeze", 1, one, scalar("i64", 0)), 1


CHANGES: tuple[Callable[[Lists, int, int], Made], ...] = (
    gathered, part, part, computed, computed, computed_together, joined, reduced, selected, converted, scaled, updated,
    split, reshaped,
)  # fmt: skip


# --- layers that take a list for a shape ------------------------------------------------------------------------------


def reshape(make: Lists, shape: int, count: int) -> None:
    random, rest = make.random, integers(make.dtype, -1)
    data = make.data(count)
    if random.random() < 0.4:
        ends = random.choice(((make.numbers(1, -1, 4), shape), (shape, make.numbers(1, -1, 4)), (shape, rest)))
        shape = make.add("Concat", 1, *ends, axis=0)
    make.add("Reshape", 1, data, shape, special_zero=random.choice(("true", "false")))


def flatten(make: Lists, shape: int, count: int) -> None:
    data = make.data(count)
    known = make.add("ShapeOf", 3, data, output_type="i64")
    first = make.add("Gather", 8, known, integers("i64", 0), scalar("i64", 0))
    target = make.add("Concat", 1, first, integers("i64", -1), axis=0)
    make.add("Reshape", 1, data, target, special_zero="true")


def broadcast(make: Lists, shape: int, count: int) -> None:
    random = make.random
    mode = random.choice(("numpy", "numpy", "bidirectional", "bidirectional", "explicit", "pdpd"))
    dims = tuple(random.choice((1, 1, make.dim())) for _ in range(random.randint(0, count)))
    third = (integers("i64", *sorted(random.sample(range(count), len(dims)))),) if mode == "explicit" else ()
    make.add("Broadcast", 3, make.parameter("f32", dims), shape, *third, mode=mode)


def tile(make: Lists, shape: int, count: int) -> None:
    make.add("Tile", 1, make.data(count), shape)


def pad(make: Lists, shape: int, count: int) -> None:
    random, numbers = make.random, make.numbers(count)
    ends = random.choice(((shape, numbers), (numbers, shape), (shape, shape)))
    mode = random.choice(("constant", "edge", "reflect"))
    make.add("Pad", 1, make.data(count), *ends, scalar("f32", 0.0), pad_mode=mode)


def interpolate(make: Lists, shape: int, count: int) -> None:
    axes = integers("i64", *range(count))
    make.add("Interpolate", 11, make.data(count), shape, axes, mode="nearest", shape_calculation_mode="sizes")


def resize(make: Lists, shape: int, count: int) -> None:
    """To a size that is computed from the image's own."""
    image = make.parameter("f32", (1, make.dim(), make.dim(), make.dim()))
    known = make.add("ShapeOf", 3, image, output_type="i64")
    size = make.add("Slice", 8, known, integers("i64", 2), integers("i64", 4), integers("i64", 1))
    op = make.random.choice(("Multiply", "Divide", "Add", "Subtract"))
    inputs = [image, make.add(op, 1, size, integers("i64", 2)), integers("i64", 2, 3)]
    opset = make.random.choice((4, 11))
    if opset == 4:
        inputs.insert(2, Input("f32", (2,), (1.0, 1.0)))
    make.add("Interpolate", opset, *inputs, mode="linear", shape_calculation_mode="sizes")


def count_up(make: Lists, shape: int, count: int) -> None:
    random, kind = make.random, make.dtype
    start, step = scalar(kind, random.choice((0, 1, -1, 2))), scalar(kind, random.choice((1, 2, -1)))
    ends = (start, make.one()) if random.random() < 0.7 else (make.one(), scalar(kind, 8))
    make.add("Range", 4, *ends, step, output_type=random.choice(("i64", "f32")))


def top(make: Lists, shape: int, count: int) -> None:
    axis = make.random.randrange(-1, max(count, 1))
    attributes = {"axis": axis, "mode": "max", "sort": "value", "index_element_type": "i32"}
    found = make.add("TopK", 11, make.data(count), make.one(), outputs=2, **attributes)
    if make.random.random() < 0.5:
        make.add("Slice", 8, found, *(integers("i64", number) for number in (0, 2, 1, axis)))


def one_hot(make: Lists, shape: int, count: int) -> None:
    indices = make.parameter("i64", make.dims(1, 2))
    make.add("OneHot", 1, indices, make.one(), scalar("f32", 1.0), scalar("f32", 0.0), axis=-1)


def _ends(make: Lists, shape: int, count: int) -> list[int | Input]:
    random = make.random
    ends = [
        (make.numbers(count, -2, 2), shape),
        (shape, make.numbers(count, -2, 8)),
        (make.numbers(count, 0, 1), shape),
    ]
    return [*random.choice(ends), integers(make.dtype, *(random.choice((1, 1, 2, -1)) for _ in range(count)))]


def cut(make: Lists, shape: int, count: int) -> None:
    make.add("Slice", 8, make.data(count), *_ends(make, shape, count))


def cut_by_masks(make: Lists, shape: int, count: int) -> None:
    random, masks = make.random, {}
    for name, often in (("begin_mask", 1), ("end_mask", 1), ("shrink_axis_mask", 0.2), ("new_axis_mask", 0.2)):
        if random.random() < often:
            masks[name] = ",".join(random.choice("0001") for _ in range(count))
    make.add("StridedSlice", 1, make.data(count), *_ends(make, shape, count), **masks)


def part_by_lengths(make: Lists, shape: int, count: int) -> None:
    axis = scalar("i64", make.random.randrange(max(count, 1)))
    make.add("VariadicSplit", 1, make.data(count), axis, shape, outputs=max(count, 1))


def part_evenly(make: Lists, shape: int, count: int) -> None:
    make.add("Split", 1, make.data(count), make.one(), outputs=2, num_splits=2)


def fill(make: Lists, shape: int, count: int) -> None:
    ends = scalar("f32", 0.0), scalar("f32", 1.0)
    make.add("RandomUniform", 8, shape, *ends, output_type="f32", global_seed=0, op_seed=0)


def eye(make: Lists, shape: int, count: int) -> None:
    batch = (shape,) if make.random.random() < 0.5 else ()
    make.add("Eye", 9, make.one(), make.one(), scalar(make.dtype, 0), *batch, output_type="f32")


def axes(make: Lists, shape: int, count: int) -> None:
    op = make.random.choice(("Squeeze", "Unsqueeze", "ReduceSum"))
    keep = {"keep_dims": make.random.choice(("true", "false"))} if op == "ReduceSum" else {}
    make.add(op, 1, make.data(count), make.random.choice((shape, make.one())), **keep)


def blocks(make: Lists, shape: int, count: int) -> None:
    inputs = make.numbers(count, 1, 2), integers(make.dtype, *[0] * count), shape
    make.add(make.random.choice(("SpaceToBatch", "BatchToSpace")), 2, make.data(count), *inputs)


def transform(make: Lists, shape: int, count: int) -> None:
    signal = make.parameter("f32", (*make.dims(count, count), 2))
    make.add("DFT", 7, signal, integers(make.dtype, *range(count)), shape)


def suppress(make: Lists, shape: int, count: int) -> None:
    boxes = make.dim()
    inputs = make.parameter("f32", (1, boxes, 4)), make.parameter("f32", (1, make.dim(), boxes)), make.one()
    make.add("NonMaxSuppression", make.random.choice((3, 5, 9)), *inputs, scalar("f32", 0.5), scalar("f32", 0.1))


def roll(make: Lists, shape: int, count: int) -> None:
    make.add("Roll", 7, make.data(count), shape, make.numbers(count, 0, max(count - 1, 0)))


def enlarge(make: Lists, shape: int, count: int) -> None:
    image = make.parameter("f32", (1, 4, make.dim(), make.dim()))
    size = make.add("ShapeOf", 3, make.parameter("f32", (make.dim(), make.dim())), output_type="i64")
    window = {"strides": "2,2", "dilations": "1,1", "pads_begin": "0,0", "pads_end": "0,0"}
    mode = make.random.choice(("explicit", "same_upper"))
    make.add("ConvolutionBackpropData", 1, image, Input("f32", (4, 2, 3, 3)), size, **window, auto_pad=mode)


USES: tuple[Callable[[Lists, int, int], None], ...] = (
    reshape, reshape, flatten, broadcast, broadcast, tile, pad, interpolate, resize, count_up, top, one_hot, cut,
    cut_by_masks, part_by_lengths, part_evenly, fill, eye, axes, blocks, transform, suppress, roll, enlarge,
)  # fmt: skip


def chain(random: Random) -> Net:
    """A layer or two whose shapes come from other shapes."""
    make = Lists(random)
    for _ in range(random.choice((1, 1, 1, 2))):
        random.choice(USES)(make, *make.list())
    if random.random() < 0.2:
        make.add("ShapeOf", 3, len(make.steps) - 1)
    return Net(tuple(make.steps))
