"""Finds the origin of a size: the node that computes the size, not the nodes that pass it on.

The rule of a node is asked again with a fresh symbol in place of a size of one input. If the symbol appears in an
output, the node passes the size on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

from irlint.dims import Dim, MaybeDim, Shape, same, symbol
from irlint.findings.statements import Arithmetic, collected_arithmetic
from irlint.inference.known import Known
from irlint.inference.questions import Asked, outputs_for, questions
from irlint.model import Constant, Graph, Node, Value
from irlint.model.order import graphs
from irlint.model.tensor import UNKNOWN, Tensor, Type, tensor_shape
from irlint.records import record

#: A size is traced back through at most this many operators.
FARTHEST = 400

#: The limit in place of FARTHEST for a single question about a model.
ANYWHERE = 20_000

#: At most this many input positions of a node are examined for a size.
MOST_POSITIONS = 64

#: The symbol that replaces a size. No size of a model has a name with a space.
FRESH = symbol("a new size", 1)


@record
class Maker:
    """The source of a value of ``graph``: a node, a constant, or an input of the graph."""

    graph: Graph
    node: Node | None = None
    constant: Constant | None = None
    #: Whether the value is a constant of the file.
    is_constant: bool = False


@record
class Trail:
    """The origin of a size: the axis ``axis`` of ``value``."""

    dim: MaybeDim
    value: Value
    axis: int
    #: The source of ``value``.
    maker: Maker | None
    #: The nodes that pass the size on, in the order of the graph.
    kept: tuple[Node, ...]
    #: How the rule computes the size, if the rule explains it.
    arithmetic: Arithmetic | None = None
    #: Whether the size comes from a declaration, because the rule leaves the size unknown.
    left_open: bool = False


@record
class Position:
    """The place of a size at a node: an axis of an input or output, or an element of its value."""

    #: The index of the input or output.
    port: int
    #: The index of the axis or element.
    index: int
    #: Whether the size is an element.
    in_contents: bool = False


class Makers:
    """The sources of the values and sizes of one model."""

    def __init__(self, known: Known) -> None:
        self.known = known
        self._sources: dict[tuple[Node, Position], Position | None] = {}
        self._decided: dict[tuple[Node, Position], tuple[Position, ...]] = {}
        self._answers: dict[tuple[Node, tuple[Position, ...]], tuple[Type | None, ...]] = {}
        self._arithmetic: dict[Node, tuple[Arithmetic, ...]] = {}

    @cached_property
    def ask(self) -> Asked:
        """``ask(node, inputs, call)``: as ``asked_again``."""
        return questions(self.known)

    @cached_property
    def of(self) -> Callable[[Value], Maker | None]:
        """``of(value)``: the source of a value, or None if nothing defines it."""
        return _makers(self.known).get

    def source(self, node: Node, output: Position) -> Position | None:
        """The first input position whose size the node passes on to ``output``.

        None if the node computes the size, if the node has a fault, or if the size is unknown.
        """
        key = (node, output)
        if key not in self._sources:
            self._sources[key] = self._source(node, output)
        return self._sources[key]

    def _source(self, node: Node, output: Position) -> Position | None:
        dim = _size(self._type(node.outputs[output.port]), output)
        if dim is None or node in self.known.faulted:
            return None
        for positions in self._groups(node, output, dim):
            if not self.comes_out(node, positions, output):
                continue
            for position in self._fewest(node, positions, output):
                if same(_size(self._type(node.inputs[position.port]), position), dim):
                    return position
        return None

    def _groups(self, node: Node, output: Position, dim: Dim) -> Iterator[tuple[Position, ...]]:
        """Groups of input positions that may determine the output size ``dim``, the likely groups first.

        - Axes aligned with the output's axis from the end, then from the start, that may be equal to ``dim``.
        - Each position with the same size, except elements of constants.
        - All positions with the same size.
        """
        types = inputs_of(node, self.known)
        sizes = list(_axes(types))
        shape = tensor_shape(self._type(node.outputs[output.port]))
        if shape is not None and not output.in_contents:
            ends = [len(tensor_shape(each) or ()) + output.index - len(shape) for each in types]
            yield tuple(at for at, each in sizes if at.index == ends[at.port] and same(each, dim) is not False)
            if any(end != output.index for end in ends):
                yield tuple(at for at, each in sizes if at.index == output.index and same(each, dim) is not False)
        equal = tuple(position for position, each in sizes if same(each, dim))
        everywhere = (*equal, *(position for position, each in _entries(types) if same(each, dim)))[:MOST_POSITIONS]
        for position in everywhere:
            if not (position.in_contents and self.is_constant(node.inputs[position.port])):
                yield (position,)
        yield everywhere

    def deciding(self, node: Node, output: Position) -> tuple[Position, ...]:
        """The input positions that determine an output size, except positions in constants; () if unknown."""
        key = (node, output)
        if key not in self._decided:
            self._decided[key] = self._deciding(node, output)
        return self._decided[key]

    def _deciding(self, node: Node, output: Position) -> tuple[Position, ...]:
        dim = _size(self._type(node.outputs[output.port]), output)
        if dim is None or node in self.known.faulted or any(node.bodies):
            return ()
        types = [
            None if self.is_constant(value) else known for value, known in zip(node.inputs, inputs_of(node, self.known))
        ]
        positions = [position for position, each in (*_axes(types), *_entries(types)) if each is not None]
        if len(positions) > MOST_POSITIONS:
            return ()
        return tuple(position for position in positions if self._alters(node, position, output, dim))

    def _alters(self, node: Node, position: Position, output: Position, dim: Dim) -> bool:
        """Whether the fresh symbol at a position changes the size of the output.

        An output size that becomes unknown counts as changed, unless the symbol removes values on which it may depend.
        """
        outputs = self._asked(node, (position,))
        if output.port >= len(outputs):
            return False
        size, given = _size(outputs[output.port], output), self._type(node.inputs[position.port])
        if size is None and not position.in_contents and isinstance(given, Tensor) and given.value is not None:
            return False
        return size != dim

    def arithmetic(self, value: Value, axis: int) -> Arithmetic | None:
        """How the rule of the node computes the size of an axis, or None."""
        maker, dim = self.of(value), _size(self._type(value), Position(0, axis))
        node = maker.node if maker is not None else None
        if node is None or node in self.known.faulted or any(node.bodies):
            return None
        if node not in self._arithmetic:
            with collected_arithmetic() as found:
                self._answers[node, ()] = outputs_for(self.known, node, inputs_of(node, self.known)) or ()
            self._arithmetic[node] = tuple(found)
        fitting = (each for each in self._arithmetic[node] if each.axis == axis)
        return next((each for each in fitting if each.dim is None or same(each.dim, dim)), None)

    def leaves_open(self, value: Value, axis: int) -> bool:
        """Whether the size of an axis comes from a declaration, because the rule leaves the size unknown."""
        maker = self.of(value)
        node = maker.node if maker is not None else None
        known = _size(self._type(value), Position(0, axis))
        if node is None or not isinstance(known, int) or any(node.bodies):
            return False
        outputs, port = self._asked(node, ()), node.outputs.index(value)
        return port < len(outputs) and _size(outputs[port], Position(port, axis)) is None

    def _type(self, value: Value | None) -> Type | None:
        return None if value is None else self.known.types.get(value, UNKNOWN)

    def is_constant(self, value: Value | None) -> bool:
        """Whether a value is a constant of the file."""
        maker = self.of(value) if value is not None else None
        return maker is not None and maker.is_constant

    def is_stored(self, value: Value | None) -> bool:
        """Whether a value is a constant, or an Identity of one."""
        maker = self.of(value) if value is not None else None
        node = maker.node if maker is not None and maker.constant is None else None
        is_copy = node is not None and node.op == "Identity" and bool(node.inputs)
        return self.is_stored(node.inputs[0]) if is_copy and node is not None else self.is_constant(value)

    def _fewest(self, node: Node, positions: tuple[Position, ...], output: Position) -> tuple[Position, ...]:
        """A minimal subset of the positions that determines the size. More than MOST_POSITIONS are all returned."""
        if len(positions) > MOST_POSITIONS:
            return positions
        for position in reversed(positions):
            fewer = tuple(each for each in positions if each is not position)
            if self.comes_out(node, fewer, output):
                positions = fewer
        return positions

    def comes_out(self, node: Node, positions: tuple[Position, ...], output: Position) -> bool:
        """Whether the fresh symbol at all ``positions`` becomes the size of the output."""
        if not positions:
            return False
        outputs = self._asked(node, positions)
        return output.port < len(outputs) and _size(outputs[output.port], output) == FRESH

    def _asked(self, node: Node, positions: tuple[Position, ...]) -> tuple[Type | None, ...]:
        """The outputs with the fresh symbol at all ``positions``; () if the rule cannot be asked or refuses them."""
        key = (node, positions)
        outputs = self._answers.get(key)
        if outputs is None:
            inputs = inputs_of(node, self.known)
            by_port: dict[int, list[Position]] = {}
            for position in positions:
                by_port.setdefault(position.port, []).append(position)
            for port, here in by_port.items():
                inputs[port] = _with_fresh(inputs[port], here)
            answer = self.ask(node, inputs, None)
            outputs = self._answers[key] = answer.outputs or () if answer is not None else ()
        return outputs


def _makers(known: Known) -> dict[Value, Maker]:
    found: dict[Value, Maker] = {}
    for graph in graphs(known.model):
        for value in graph.inputs:
            found[value] = Maker(graph)
        for value, constant in graph.constants.items():
            found[value] = Maker(graph, None, constant, True)
        for node in graph.nodes:
            for output in node.outputs:
                if output is not None:
                    held = graph.constants.get(output)
                    is_constant = held is not None or node.op == known.format.constant_node
                    found[output] = Maker(graph, node, held, is_constant)
    return found


def _with_fresh(known: Type | None, positions: list[Position]) -> Type | None:
    """The type with the fresh symbol at the positions. If a position is an axis, the values become unknown."""
    if not isinstance(known, Tensor):
        return known
    shape, value = list(known.shape or ()), list(known.value or ())
    for position in positions:
        (value if position.in_contents else shape)[position.index] = FRESH
    contents = None if known.value is None or not all(position.in_contents for position in positions) else tuple(value)
    return Tensor(known.dtype, None if known.shape is None else tuple(shape), contents)


def _axes(types: Sequence[Type | None]) -> Iterator[tuple[Position, MaybeDim]]:
    for port, known in enumerate(types):
        for axis, dim in enumerate(tensor_shape(known) or ()):
            yield Position(port, axis), dim


def _entries(types: Sequence[Type | None]) -> Iterator[tuple[Position, MaybeDim]]:
    for port, known in enumerate(types):
        entries = known.ints if isinstance(known, Tensor) else None
        for index, entry in enumerate(entries or ()):
            yield Position(port, index, True), entry


def _size(known: Type | None, position: Position) -> MaybeDim:
    if not isinstance(known, Tensor):
        return None
    sizes = (known.ints if position.in_contents else known.shape) or ()
    return sizes[position.index] if position.index < len(sizes) else None


def trail(value: Value, axis: int, makers: Makers, farthest: int = FARTHEST) -> Trail | None:
    """The origin of the size of an axis.

    The origin of a size that is computed as a value is the axis with this size: for Shape, Mul and Reshape in a row, an
    axis of Reshape's output. None for an unknown shape, a missing axis, or an origin beyond ``farthest`` operators.
    """
    shape = shape_of(value, makers.known)
    if shape is None or not -len(shape) <= axis < len(shape):
        return None
    axis %= len(shape)
    dim = shape[axis]
    kept: list[Node] = []
    passed: list[Node] = []
    at, position = value, Position(0, axis)
    for _ in range(farthest):
        maker = makers.of(at)
        node = maker.node if maker is not None else None
        source = None
        if node is not None:
            source = makers.source(node, Position(node.outputs.index(at), position.index, position.in_contents))
        given = node.inputs[source.port] if node is not None and source is not None else None
        if node is None or source is None or given is None:
            arithmetic, left_open = makers.arithmetic(value, axis), makers.leaves_open(value, axis)
            return Trail(dim, value, axis, makers.of(value), tuple(reversed(kept)), arithmetic, left_open)
        passed.append(node)
        at, position = given, source
        if not source.in_contents:
            value, axis = at, source.index
            kept += passed
            passed.clear()
    return None


def read_from(value: Value, position: Position, makers: Makers, farthest: int = FARTHEST) -> tuple[Value, Position]:
    """The origin of an element that operators pass on.

    The origin is an element of a constant or of a computed value, or an axis that a node such as Shape reads.
    """
    at = value
    for _ in range(farthest):
        maker = makers.of(at)
        node = maker.node if maker is not None and maker.constant is None else None
        if node is None or not position.in_contents:
            break
        source = makers.source(node, Position(node.outputs.index(at), position.index, True))
        given = node.inputs[source.port] if source is not None else None
        if source is None or given is None:
            break
        at, position = given, source
    return at, position


def held_by(node: Node, output: Position, makers: Makers) -> tuple[Value, int] | None:
    """(constant, index of the element), if the node passes an element of a constant on to ``output``; else None."""
    known = inputs_of(node, makers.known)
    dim = _size(makers.known.types.get(node.outputs[output.port]), output)  # type: ignore[arg-type]
    for position, entry in _entries(known):
        value = node.inputs[position.port]
        if value is None or not makers.is_constant(value) or not same(entry, dim):
            continue
        if makers.comes_out(node, (position,), output):
            return value, position.index
    return None


def chain(value: Value, axis: int, makers: Makers, farthest: int = FARTHEST) -> list[Trail]:
    """The origin of the size of an axis, then the origin of the size that determines it, and so on.

    The chain ends at a declaration, or at a node that combines several sizes.
    """
    found: list[Trail] = []
    seen: set[tuple[Value, int]] = set()
    following = trail(value, axis, makers, farthest)
    while following is not None and (following.value, following.axis) not in seen and len(found) < farthest:
        found.append(following)
        seen.add((following.value, following.axis))
        following = _further(following, makers, farthest)
    return found


def _further(found: Trail, makers: Makers, farthest: int) -> Trail | None:
    """The origin of the size that determines the size ``found``; None unless exactly one size determines it."""
    at, position = found.value, Position(0, found.axis)
    for _ in range(0 if found.left_open else farthest):
        maker = makers.of(at)
        node = maker.node if maker is not None and maker.constant is None else None
        if node is None:
            return None
        output = Position(node.outputs.index(at), position.index, position.in_contents)
        source = makers.source(node, output) if position.in_contents else None
        deciding = makers.deciding(node, output) if source is None else (source,)
        sizes = {(node.inputs[each.port], each.index, each.in_contents): each for each in deciding}
        if len(sizes) != 1:
            return None
        ((given, _, _), position) = next(iter(sizes.items()))
        if given is None:
            return None
        if not position.in_contents:
            return trail(given, position.index, makers, farthest)
        at = given
    return None


def steps(value: Value, axis: int, makers: Makers, farthest: int = FARTHEST) -> Iterator[tuple[Node, Value, int]]:
    """The nodes on the path of a size, the last node first: (node, output, axis).

    The path ends at a node that combines several sizes, or at an input or constant.
    """
    at, position = value, Position(0, axis)
    for _ in range(farthest):
        maker = makers.of(at)
        node = maker.node if maker is not None and maker.constant is None else None
        if node is None:
            return
        output = Position(node.outputs.index(at), position.index, position.in_contents)
        if not position.in_contents:
            yield node, at, position.index
        source = makers.source(node, output)
        deciding = (source,) if source is not None else makers.deciding(node, output)
        sizes = {(node.inputs[each.port], each.index, each.in_contents): each for each in deciding}
        if len(sizes) != 1:
            return
        ((given, _, _), position) = next(iter(sizes.items()))
        if given is None:
            return
        at = given


def sources(value: Value, axis: int, makers: Makers, farthest: int = FARTHEST) -> list[tuple[Value, int]]:
    """The axes of inputs and constants that determine the size of an axis, within ``farthest`` positions."""
    found: dict[tuple[Value, int], None] = {}
    seen: set[tuple[Value, int, bool]] = set()
    waiting = [(value, Position(0, axis))]
    while waiting and len(seen) < farthest:
        at, position = waiting.pop()
        if (at, position.index, position.in_contents) in seen:
            continue
        seen.add((at, position.index, position.in_contents))
        maker = makers.of(at)
        if maker is None:
            continue
        node = maker.node if maker.constant is None else None
        if node is None or node.op in (makers.known.format.input_node, makers.known.format.constant_node):
            found.update({} if position.in_contents else {(at, position.index): None})
            continue
        output = Position(node.outputs.index(at), position.index, position.in_contents)
        source = makers.source(node, output)
        for each in (source,) if source is not None else makers.deciding(node, output):
            given = node.inputs[each.port]
            if given is not None:
                waiting.append((given, each))
    return list(found)


def shape_of(value: Value | None, known: Known) -> Shape | None:
    """The inferred shape; None for an unknown rank."""
    found = known.types.get(value) if value is not None else None
    return found.shape if isinstance(found, Tensor) else None


def inputs_of(node: Node, known: Known) -> list[Type | None]:
    """The types of a node's inputs; None for an omitted input."""
    return [None if value is None else known.types.get(value, UNKNOWN) for value in node.inputs]
