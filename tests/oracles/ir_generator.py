"""Random IRs of one layer or a few, sound and broken, from one sound line for every version of every operation."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

Dims = tuple[int | str, ...]


@dataclass(frozen=True)
class Input:
    """A Parameter (``values`` is None), a Const, or a Const that a chain from ShapeOf stands in for.

    ``dims`` of None is an unknown rank; a dim is a number, -1 or an interval's text.
    """

    dtype: str
    dims: Dims | None
    values: tuple[float, ...] | None = None
    chain: str = ""

    def __str__(self) -> str:
        if self.values is None:
            return f"{self.dtype}[{'...' if self.dims is None else ','.join(map(str, self.dims))}]"
        text = ",".join(map(str, self.values))
        text = f"{self.dtype}={text}" if self.dims == () else f"{self.dtype}{{{text}}}"
        if self.dims not in ((), (len(self.values),)):
            text += f"as{list(self.dims or ())}"
        return f"{text}<{self.chain}>" if self.chain else text


@dataclass(frozen=True)
class Case:
    """One layer with its inputs; ``before`` are layers whose first input is the output of the one before."""

    op: str
    opset: int
    inputs: tuple[Input, ...]
    attributes: tuple[tuple[str, str], ...] = ()
    outputs: int = 1
    before: tuple[Case, ...] = ()

    def __str__(self) -> str:
        attributes = " ".join(f"{name}={value!r}" for name, value in self.attributes)
        own = f"{self.op}@{self.opset} {' '.join(map(str, self.inputs))} ; {attributes} -> {self.outputs}"
        return "\n    | ".join([*map(str, self.before), own])


@dataclass(frozen=True)
class Line:
    """A sound line of the table: the names and opsets that it stands for, and the choices for each attribute."""

    names: tuple[str, ...]
    opsets: range
    inputs: tuple[Input, ...]
    choices: tuple[tuple[str, tuple[str, ...]], ...]
    outputs: int

    def case(self, random: Random | None = None) -> Case:
        """The line as written, or with a name, an opset and attributes chosen at random."""
        name = random.choice(self.names) if random else self.names[0]
        opset = random.choice(self.opsets) if random else self.opsets[0]
        chosen = [(key, random.choice(values) if random else values[0]) for key, values in self.choices]
        attributes = tuple((key, value) for key, value in chosen if value != "~")
        return Case(name, opset, self.inputs, attributes, self.outputs)


def lines() -> list[Line]:
    """The table ``ir_operations.txt``."""
    table = Path(__file__).with_name("ir_operations.txt").read_text()
    return [line(text) for text in table.splitlines() if text.strip() and not text.startswith("#")]


def line(text: str) -> Line:
    """A line of the table."""
    head, _, tail = text.partition(";")
    tail, _, outputs = tail.partition(" -> ")
    head, _, bare = head.partition(" -> ")
    names, *inputs = head.split()
    names, _, opsets = names.partition("@")
    first, _, last = opsets.partition("-")
    choices = [part.partition("=") for part in tail.split()]
    return Line(
        tuple(names.split(",")),
        range(int(first), int(last or first) + 1),
        tuple(map(_input, inputs)),
        tuple((name, tuple(values.replace("_empty_", "").split("/"))) for name, _, values in choices),
        int(outputs or bare or 1),
    )


def _input(text: str) -> Input:
    if "[" in text:
        dtype, _, dims = text[:-1].partition("[")
        if dims == "...":
            return Input(dtype, None)
        return Input(dtype, tuple(int(dim) if dim.lstrip("-").isdecimal() else dim for dim in dims.split(",") if dim))
    dtype, _, values = text.rstrip("}").partition("{" if "{" in text else "=")
    entries = tuple(float(entry) if "." in entry else int(entry) for entry in values.split(",") if entry)
    return Input(dtype, (len(entries),) if "{" in text else (), entries)


# --- mutations --------------------------------------------------------------------------------------------------------

TYPES = ("f32", "f16", "i32", "i64", "boolean", "f64", "u8", "string", "bf16", "i8", "u64", "dynamic")
NUMBERS = (-9223372036854775808, -2, -1, 0, 1, 2, 3, 4, 100, 2147483647)


def mutated(case: Case, random: Random) -> Case:
    """The case with one thing changed."""
    kinds = ["dim"] * 6 + ["rank"] * 2 + ["unknown", "type", "value", "value", "value", "source", "chain", "chain"]
    kinds += ["attribute"] * 6 if case.attributes else []
    kinds += ["arity"] if random.random() < 0.3 else []
    kind = random.choice(kinds)
    if kind == "attribute":
        return replace(case, attributes=_attributes(case.attributes, random))
    if kind == "arity":
        return _arity(case, random)
    if not case.inputs:
        return case
    index = random.randrange(len(case.inputs))
    if kind in ("value", "source", "chain"):
        constants = [position for position, given in enumerate(case.inputs) if given.values is not None]
        index = random.choice(constants) if constants else index
    changed = _changed(kind, case.inputs[index], random)
    return replace(case, inputs=(*case.inputs[:index], changed, *case.inputs[index + 1 :]))


def _arity(case: Case, random: Random) -> Case:
    if case.inputs and random.random() < 0.7:
        return replace(case, inputs=case.inputs[:-1])
    extra = random.choice(case.inputs) if case.inputs else Input("f32", (2,))
    return replace(case, inputs=(*case.inputs, extra))


def _changed(kind: str, given: Input, random: Random) -> Input:
    if kind == "type":
        dtype = random.choice(TYPES)
        if given.values is None:
            return replace(given, dtype=dtype)
        small = all(0 <= value < 128 for value in given.values)
        return replace(given, dtype=random.choice(("i32", "i64", "f32", "u8" if small else "f64")))
    if given.values is None:
        return _parameter(kind, given, random)
    if kind == "source":
        return Input(given.dtype, given.dims)
    if kind == "unknown":
        return Input(given.dtype, random.choice((None, (-1,), (-1, -1), ())))
    if kind == "rank":
        shapes: list[Dims] = [(), (1,)] if len(given.values) == 1 else [(len(given.values),)]
        return replace(given, dims=random.choice([*shapes, (1, len(given.values))]))
    if kind == "chain":
        return _chained(given, random)
    return _revalued(given, random)


def _chained(given: Input, random: Random) -> Input:
    if given.dtype not in ("i64", "i32") or given.dims not in ((), (len(given.values or ()),)):
        return given
    ways = ("direct", "gather", "slice", "mixed", "add", "multiply", "open", "interval")
    return replace(given, chain=random.choice(ways))


def _revalued(given: Input, random: Random) -> Input:
    values = list(given.values or ())
    numbers = NUMBERS[1:-1] if given.dtype not in ("u8", "boolean") else (0, 1, 2, 3, 100)
    way = random.choice(("set", "set", "set", "drop", "append", "swap"))
    if way == "append" and given.dims != ():
        values.insert(random.randrange(len(values) + 1), random.choice(numbers))
    elif values and way == "drop" and given.dims != ():
        values.pop(random.randrange(len(values)))
    elif values and way == "swap":
        random.shuffle(values)
    elif values:
        values[random.randrange(len(values))] = random.choice(numbers)
    dims = given.dims if given.dims == () else (len(values),)
    return replace(given, values=tuple(values), dims=dims)


def _parameter(kind: str, given: Input, random: Random) -> Input:
    if kind == "unknown":
        return replace(given, dims=None)
    if given.dims is None:
        return given
    dims = list(given.dims)
    if kind == "rank":
        if dims and random.random() < 0.5:
            dims.pop(random.randrange(len(dims)))
        else:
            dims.insert(random.randrange(len(dims) + 1), random.choice((1, 1, 2, -1)))
    elif dims:
        axis = random.randrange(len(dims))
        dims[axis] = _dim(dims[axis], random)
    return replace(given, dims=tuple(dims))


def _dim(dim: int | str, random: Random) -> int | str:
    size = dim if isinstance(dim, int) and dim >= 0 else 3
    near = (f"{max(size - 1, 0)}..{size + 2}", f"..{size}", f"{size}..", f"..{size + 1}", f"{size + 1}..{size + 4}")
    numbers = (0, 1, 1, 2, size + 1, max(size - 1, 0), 2 * size)
    return random.choice((-1, -1, -1, random.choice(near), random.choice(near), random.choice(numbers)))


def _attributes(attributes: tuple[tuple[str, str], ...], random: Random) -> tuple[tuple[str, str], ...]:
    index = random.randrange(len(attributes))
    name, value = attributes[index]
    if random.random() < 0.15:
        return (*attributes[:index], *attributes[index + 1 :])
    return (*attributes[:index], (name, _attribute(value, random)), *attributes[index + 1 :])


def _attribute(value: str, random: Random) -> str:
    entries = value.split(",")
    if value in ("true", "false"):
        return random.choice(("true", "false", "True", "0", "1", "yes", ""))
    if not all(_is_number(entry) for entry in entries):
        return random.choice((value.upper(), value.title(), "unheard_of", "", value))
    whole = all(entry.lstrip("-").isdecimal() for entry in entries)
    numbers = ("-2", "-1", "0", "1", "2", "3", "5") if whole else ("-1.5", "0", "0.0", "1", "2.5", "1e3")
    way = random.choice(("set", "set", "set", "append", "drop", "text"))
    if way == "append" and (len(entries) > 1 or random.random() < 0.2):
        return ",".join([*entries, random.choice(numbers)])
    if way == "drop" and len(entries) > 1:
        return ",".join(entries[1:])
    if way == "text" and random.random() < 0.3:
        return random.choice(("", "abc", "1.7", " 1", "1,,2", "-0", "+1"))
    entries[random.randrange(len(entries))] = random.choice(numbers)
    return ",".join(entries)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def cases(random: Random, table: list[Line]) -> Iterator[Case]:
    """Cases without end: a line of the table with up to four changes, now and then behind other layers."""
    pool = [line for line in table if line.inputs and line.inputs[0].dtype == "f32" and line.inputs[0].values is None]
    while True:
        case = random.choice(table).case(random)
        if random.random() < 0.1 and case.inputs and case.inputs[0].values is None:
            before = [random.choice(pool).case(random) for _ in range(random.randrange(1, 5))]
            case = replace(case, before=tuple(replace(each, outputs=1) for each in before))
            if random.random() < 0.6:
                case = replace(case, before=(mutated(case.before[0], random), *case.before[1:]))
        for _ in range(random.choice((0, 1, 1, 1, 2, 2, 3, 4))):
            case = mutated(case, random)
        yield case


def settled(case: Case, random: Random) -> Case:
    """The case with a number for every size that it leaves open; chains that leave one open end in a Const."""
    before = tuple(settled(each, random) for each in case.before)
    return replace(case, inputs=tuple(input_settled(given, random) for given in case.inputs), before=before)


def input_settled(given: Input, random: Random) -> Input:
    """The input with a number for every size that it leaves open."""
    if given.values is not None:
        return replace(given, chain="settled" if given.chain in ("open", "interval") else given.chain)
    dims = given.dims
    if dims is None:
        dims = random.choice(((), (1,), (3,), (2, 3), (4, 4), (1, 3, 4), (2, 3, 4, 5), (1, 1, 1, 1, 1)))
    return replace(given, dims=tuple(_size(dim, random) for dim in dims))


def _size(dim: int | str, random: Random) -> int:
    if dim == -1:
        return random.choice((0, 1, 1, 2, 2, 3, 3, 4, 5, 6, 8, 16))
    if isinstance(dim, int):
        return dim
    low, _, high = dim.partition("..")
    return random.randint(int(low or 0), int(high) if high else int(low or 0) + 4)


# --- documents --------------------------------------------------------------------------------------------------------

FORMATS = {"f32": "f", "f64": "d", "f16": "e", "i64": "q", "u64": "Q", "i32": "i", "i8": "b", "u8": "B", "boolean": "?"}


class Document:
    """An IR under construction."""

    def __init__(self) -> None:
        self.layers: list[str] = []
        self.edges: list[str] = []
        self.weights = b""

    def layer(
        self,
        op: str,
        inputs: list[tuple[int, int]],
        attributes: tuple[tuple[str, str], ...] = (),
        outputs: int = 1,
        opset: int = 1,
        dims: Dims | None = None,
        inside: str = "",
    ) -> int:
        """Adds a layer whose inputs are (layer, output port); returns its id."""
        me = len(self.layers)
        data = " ".join(f'{name}="{value}"' for name, value in attributes)
        text = f'<layer id="{me}" name="{op}{me}" type="{op}" version="opset{opset}">'
        text += f"<data {data}/>" if data else ""
        if inputs:
            text += "<input>" + "".join(f'<port id="{port}"/>' for port in range(len(inputs))) + "</input>"
        sizes = "".join(f"<dim>{dim if isinstance(dim, int) else -1}</dim>" for dim in dims or ())
        if outputs:
            ports = range(len(inputs), len(inputs) + outputs)
            text += (
                "<output>" + "".join(f'<port id="{p}" precision="dynamic">{sizes}</port>' for p in ports) + "</output>"
            )
        for port, (layer, source) in enumerate(inputs):
            self.edges.append(f'<edge from-layer="{layer}" from-port="{source}" to-layer="{me}" to-port="{port}"/>')
        self.layers.append(f"{text}{inside}</layer>")
        return me

    def parameter(self, dtype: str, dims: Dims | None) -> tuple[int, int]:
        text = "..." if dims is None else ",".join("?" if dim == -1 else str(dim) for dim in dims)
        return self.layer("Parameter", [], (("element_type", dtype), ("shape", text)), dims=dims), 0

    def const(self, dtype: str, dims: Dims, values: tuple[float, ...]) -> tuple[int, int]:
        kind = FORMATS[dtype]
        whole = kind not in "fde"
        data = b"".join(struct.pack(f"<{kind}", int(value) if whole else value) for value in values)
        shape = ",".join(map(str, dims))
        attributes = (
            ("element_type", dtype),
            ("shape", shape),
            ("offset", str(len(self.weights))),
            ("size", str(len(data))),
        )
        self.weights += data
        return self.layer("Const", [], attributes, dims=dims), 0

    def input(self, given: Input) -> tuple[int, int]:
        if given.values is None:
            return self.parameter(given.dtype, given.dims)
        if not given.chain or not given.values:
            return self.const(given.dtype, given.dims or (), given.values)
        return self.chained(given, tuple(int(value) for value in given.values))

    def chained(self, given: Input, values: tuple[int, ...]) -> tuple[int, int]:
        """The values as the contents of a chain of layers from the shape of a Parameter."""
        dtype = given.dtype
        count = 0
        while count < len(values) and 0 <= values[count] < 2**31:
            count += 1
        if not count:
            return self.const(dtype, given.dims or (), values)
        shape: Dims = values[:count]
        if given.chain == "open":
            shape = (-1, *shape[1:])
        elif given.chain == "interval":
            shape = (*shape[:-1], f"{max(int(shape[-1]) - 1, 0)}..{int(shape[-1]) + 1}")
        if given.chain in ("multiply", "slice"):
            shape = (7, *shape)
        source = self.parameter("f32", shape)
        known: tuple[int, int] = (self.layer("ShapeOf", [source], (("output_type", dtype),), opset=3), 1)
        if given.chain in ("gather", "mixed"):
            order = self.const("i64", (count,), tuple(range(count)))
            known = self.layer("Gather", [known, order, self.const("i64", (), (0,))], opset=8), 3
        if given.chain in ("slice", "multiply"):
            bounds = [self.const("i64", (1,), (value,)) for value in (1, count + 1, 1)]
            known = self.layer("StridedSlice", [known, *bounds], (("begin_mask", "0"), ("end_mask", "0"))), 4
        if given.chain in ("add", "multiply"):
            neutral = self.const(dtype, (), (int(given.chain == "multiply"),))
            known = self.layer("Add" if given.chain == "add" else "Multiply", [known, neutral]), 2
        if count < len(values):
            rest = self.const(dtype, (len(values) - count,), values[count:])
            known = self.layer("Concat", [known, rest], (("axis", "0"),)), 2
        if given.dims == ():
            known = self.layer("Squeeze", [known, self.const("i64", (1,), (0,))]), 2
        return known

    def case(self, case: Case, first: tuple[int, int] | None = None) -> tuple[int, int]:
        for each in case.before:
            first = self.case(each, first)
        inputs = [first if index == 0 and first else self.input(given) for index, given in enumerate(case.inputs)]
        me = self.layer(case.op, inputs, case.attributes, case.outputs, case.opset)
        return me, len(case.inputs)

    def xml(self) -> bytes:
        layers, edges = "\n".join(self.layers), "\n".join(self.edges)
        text = (
            '<?xml version="1.0"?>\n<net name="g" '
            f'version="11">\n<layers>\n{layers}\n</layers>\n<edges>\n{edges}\n</edges>\n</net>\n'
        )
        return text.encode()


def document(case: Case) -> tuple[bytes, bytes]:
    """The IR of a case: xml and weights; a Result for every output of the last layer."""
    drawn = Document()
    layer, port = drawn.case(case)
    for output in range(case.outputs):
        drawn.layer("Result", [(layer, port + output)], outputs=0)
    return drawn.xml(), drawn.weights
