"""Random IRs with a TensorIterator, a Loop or an If."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from oracles.ir_generator import Dims, Input
from oracles.ir_graphs import Body, Builder, Net, Source, Step, integers, scalar

Entry = tuple[str, int, int, str]

# --- what a body computes ---------------------------------------------------------------------------------------------


def _add(make: Builder, x: int, values: list[int]) -> int:
    others = (*values, Input("f32", (1,), (1.0,)), Input("f32", (2, 1), (1.0, 2.0)))
    return make.add("Add", 1, x, make.random.choice(others))


def _concat(make: Builder, x: int, values: list[int]) -> int:
    return make.add("Concat", 1, x, make.random.choice(values), axis=make.random.choice((0, 1, -1)))


def _squeeze(make: Builder, x: int, values: list[int]) -> int:
    axes = (integers("i64", make.random.choice((0, 1))),) if make.random.random() < 0.5 else ()
    return make.add("Squeeze", 1, x, *axes)


def _unsqueeze(make: Builder, x: int, values: list[int]) -> int:
    return make.add("Unsqueeze", 1, x, integers("i64", make.random.choice((0, 1, -1))))


def _reduce(make: Builder, x: int, values: list[int]) -> int:
    keep = make.random.choice(("true", "false"))
    return make.add("ReduceSum", 1, x, integers("i64", make.random.choice((0, 1))), keep_dims=keep)


def _transpose(make: Builder, x: int, values: list[int]) -> int:
    return make.add("Transpose", 1, x, integers("i64", *range(make.random.randint(1, 3))))


def _slice(make: Builder, x: int, values: list[int]) -> int:
    return make.add("Slice", 8, x, *(integers("i64", number) for number in (0, make.random.choice((1, 2, -1)), 1)))


def _broadcast(make: Builder, x: int, values: list[int]) -> int:
    return make.add("Broadcast", 3, x, integers("i64", 2, 3), mode="bidirectional")


def _convert(make: Builder, x: int, values: list[int]) -> int:
    return make.add("Convert", 1, x, destination_type=make.random.choice(("f32", "f32", "f16")))


LAYERS: tuple[Callable[[Builder, int, list[int]], int], ...] = (
    _add, _concat, _squeeze, _unsqueeze, _reduce, _transpose, _slice, _broadcast, _convert,
)  # fmt: skip


def _compute(make: Builder, values: list[int], count: int) -> None:
    """Adds layers over the ``values`` of a body, each of which may be what it gives."""
    for _ in range(count):
        values.append(make.random.choice(LAYERS)(make, make.random.choice(values), values))


# --- TensorIterator and Loop ------------------------------------------------------------------------------------------

CUTS = (
    (0, -1, 1, 1), (-1, 0, -1, 1), (0, -1, 2, 2), (1, -1, 1, 1), (0, -2, 1, 1), (0, 3, 1, 1), (-1, 0, -2, 2), (2, 0, -1, 1),
)  # fmt: skip


def _port(random: Random, rank: int) -> str:
    """The attributes of a port that is sliced or concatenated."""
    axis = random.choice((0, 1, -1, rank)) if random.random() < 0.1 else random.randrange(max(rank, 1))
    if random.random() < 0.6:
        return f'axis="{axis}"'
    start, end, stride, size = random.choice(CUTS)
    return f'axis="{axis}" start="{start}" end="{end}" stride="{stride}" part_size="{size}"'


def _stated(random: Random, dims: Dims, text: str) -> Dims:
    """What a Parameter in a body states for an input of ``dims`` that may be cut into slices."""
    if random.random() < 0.05:
        return tuple(random.choice((1, 2, 3, -1)) for _ in range(random.randint(1, 3)))
    if random.random() < 0.1:
        return tuple(random.choice((-1, dim)) for dim in dims)
    return tuple(-1 if text or not isinstance(dim, int) else random.choice((-1, dim)) for dim in dims)


class Iteration(Builder):
    """A TensorIterator or a Loop; the builder itself holds the layers outside."""

    def __init__(self, random: Random) -> None:
        super().__init__(random)
        self.loop = random.random() < 0.5
        self.inner = Builder(random)
        self.outer: list[Source] = []
        self.entries: list[Entry] = []
        self.edges: list[tuple[int, int]] = []
        self.values: list[int] = []
        self.carried: list[int] = []
        self.remark = ""
        self.rank = random.randint(1, 3)

    def inputs(self) -> None:
        random = self.random
        dims = self.dims(self.rank, self.rank)
        cuts, cut, kinds = [], _port(random, self.rank), ("carried", "carried", "whole")
        for port in range(len(self.outer), len(self.outer) + random.randint(1, 3)):
            own = dims if random.random() < 0.7 else self.dims(self.rank, self.rank)
            self.outer.append(self.parameter("f32", None if random.random() < 0.04 else own))
            kind = random.choice(kinds if self.loop else (*kinds, "sliced", "sliced"))
            text = "" if kind != "sliced" else cut if random.random() < 0.9 else _port(random, self.rank)
            place = self.inner.parameter("f32", _stated(random, own, text))
            self.values.append(place)
            self.carried += [place] * (kind == "carried")
            cuts += [(text, own)] * (kind == "sliced")
            self.entries.append(("input", port, place, text))
        self.remark += " uneven" if len(set(cuts)) > 1 else ""

    def carry(self) -> None:
        """Back edges, most of them of values that keep their shapes."""
        random, inner = self.random, self.inner
        for place in self.carried:
            one = Input("f32", (1,), (1.0,))
            given = inner.add("Relu", 1, place) if random.random() < 0.7 else inner.add("Add", 1, place, one)
            self.values.append(given)
            if random.random() < 0.1:
                given, self.remark = random.choice(self.values), f"{self.remark} changes"
            self.edges.append((inner.add("Result", 1, given, outputs=0), place))

    def outputs(self) -> int:
        random, count = self.random, self.random.randint(1, 2)
        for port in range(len(self.outer), len(self.outer) + count):
            result = self.inner.add("Result", 1, random.choice(self.values), outputs=0)
            if self.edges and random.random() < 0.3:
                result = self.edges[0][0]
            self.entries.append(("output", port, result, _port(random, self.rank) if random.random() < 0.5 else ""))
        return count

    def trips(self) -> None:
        """The trip count and the condition of a Loop."""
        counts = *(scalar("i64", number) for number in (3, -1, 0, 1)), Input("i64", ()), integers("i32", 4)
        flags = (
            Input("boolean", (), (1,)),
            Input("boolean", (), (1,)),
            Input("boolean", (1,), (1,)),
            Input("boolean", ()),
        )
        self.outer += [self.random.choice(counts), self.random.choice(flags)]
        if self.random.random() < 0.4:
            place = self.inner.parameter("i64", self.random.choice(((), (1,))))
            self.entries.append(("input", -1, place, 'purpose="current_iteration"'))

    def condition(self) -> None:
        """What the body of a Loop says of going on."""
        random, inner = self.random, self.inner
        flag = Input("boolean", random.choice(((), (), (1,))), (random.choice((0, 1, 1)),))
        if random.random() < 0.2:
            free = inner.parameter("boolean", ())
            self.entries.append(("input", 1, free, ""))
            result = inner.add("Result", 1, inner.add("LogicalNot", 1, free), outputs=0)
            self.edges.append((result, free))
        else:
            result = inner.add("Result", 1, flag, outputs=0)
        self.entries.append(("output", -1, result, 'purpose="execution_condition"'))


def iterated(random: Random) -> Net:
    """A TensorIterator or a Loop."""
    make = Iteration(random)
    if make.loop:
        make.trips()
    make.inputs()
    _compute(make.inner, make.values, random.randint(1, 3))
    make.carry()
    outputs = make.outputs()
    if make.loop and random.random() < 0.95:
        make.condition()
    body = Body("body", tuple(make.inner.steps), tuple(make.entries), tuple(make.edges), make.remark)
    op, opset = ("Loop", 5) if make.loop else ("TensorIterator", 1)
    return Net((*make.steps, Step(op, opset, tuple(make.outer), (), outputs, (body,))))


# --- If ---------------------------------------------------------------------------------------------------------------


def _branch(random: Random, tag: str, inputs: int, rank: int, outputs: int) -> Body:
    make = Builder(random)
    entries: list[Entry] = []
    values: list[int] = []
    for port in range(1, inputs + 1):
        if port > 1 and random.random() < 0.3:
            continue
        values.append(make.parameter("f32", tuple(-1 for _ in range(rank))))
        entries.append(("input", port, values[-1], ""))
    _compute(make, values, random.randint(0, 2))
    for output in range(outputs):
        entries.append(("output", output, make.add("Result", 1, random.choice(values[-2:]), outputs=0), ""))
    return Body(tag, tuple(make.steps), tuple(entries))


def chosen(random: Random) -> Net:
    """An If."""
    make = Builder(random)
    flags = [Input("boolean", dims, values) for dims, values in (((), None), ((1,), None), ((), (1,)), ((), (0,)))]
    rank, outputs = random.randint(0, 3), random.randint(1, 2)
    dims = make.dims(rank, rank)
    sources: list[Source] = [random.choice(flags), make.parameter("f32", dims)]
    if random.random() < 0.6:
        sources.append(make.parameter("f32", dims if random.random() < 0.5 else make.dims(rank, rank)))
    bodies = tuple(_branch(random, tag, len(sources) - 1, rank, outputs) for tag in ("then_body", "else_body"))
    return Net((*make.steps, Step("If", 8, tuple(sources), (), outputs, bodies)))
