"""Candidates that declare an input of the model like its sisters (inputs with similar names), outputs or ports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice, takewhile

from irlint.checks.declared import SHAPE_CONTRADICTED
from irlint.dims import Expr, MaybeDim, Shape, symbol, symbols
from irlint.fixes.candidate import MANY, OTHERS, Candidate
from irlint.fixes.editor import GROUP, Editor
from irlint.fixes.inserted import TRANSPOSE
from irlint.fixes.names import GENERATED
from irlint.fixes.other_values import EVIDENT, POSSIBLE
from irlint.fixes.sizes import IMAGE, nodes_before
from irlint.inference.origins import shape_of
from irlint.lazy_typing import Any
from irlint.model import Graph, Node, Problem, Value
from irlint.model.order import downstream
from irlint.model.tensor import INTEGERS, Tensor

#: A shape with another order of axes has at least this many axes.
PAIR = 2

#: Inputs of this many nodes, the nearest to the faulty one, may lack their first axis.
FARTHER = 32


def declared_in_order(node: Node, editor: Editor) -> Iterator[Candidate]:
    """Declares an input of the model before a node with its sizes in another order.

    Several other inputs have this order, or one input with a similar name, or an output of the node that is a new
    state, or the ports that take the input.
    """
    shapes = {value: shape_of(value, editor.known) or () for value in editor.graph.inputs}
    before = {value for each in nodes_before(node, editor.makers) for value in each.inputs}
    for value in (each for each in shapes if each in before and each not in editor.known.overridden):
        others = {each: shape for each, shape in shapes.items() if each is not value}
        states = _declared_states(node, editor.graph) if value in node.inputs else {}
        others |= states
        related = {each for each in others if each in states or are_sisters(each, value)}
        ports = _ports_of(value, editor)
        sources: Mapping[Any, Shape] = ports or others
        named = {each for each in others if each not in related}
        orders = {each: _in_order(shapes[value], shape, named=each in named) for each, shape in sources.items()}
        found = {each: shape for each, shape in orders.items() if shape is not None}
        is_sure = len(found) > 1 or bool(ports) or not related.isdisjoint(found)
        shape = next(iter(found.values()), shapes[value])
        if is_sure and len(set(found.values())) == 1 and shape != shapes[value]:
            count = len(found)
            yield Candidate(
                (editor.declared(value, shape),), EVIDENT, evidence=count, subject=value, sure=count > 1 > len(ports)
            )
            order = tuple(shapes[value].index(dim) for dim in shape)
            if not states.keys().isdisjoint(found) and len(set(order)) == len(order):
                edit = editor.inserted(TRANSPOSE, node, node.inputs.index(value), (("perm", order),))
                yield Candidate((edit,), EVIDENT, evidence=count)


def _declared_states(node: Node, graph: Graph) -> Mapping[Value, Shape]:
    """The new states that a node computes, with their declared shapes. New states are the outputs of the model that are
    outputs of the node after its first one."""
    states = (each for each in node.outputs[1:] if each in graph.outputs)
    return {each: each.type.shape or () for each in states if each is not None and isinstance(each.type, Tensor)}


def _ports_of(value: Value, editor: Editor) -> Mapping[tuple[Node, int], Shape]:
    """The shapes that input ports declare for a value, if all differ from its own shape."""
    users = editor.users.get(value, ()) if editor.known.format.ports_declare else ()
    places = ((user, at) for user in users for at, given in enumerate(user.inputs) if given is value)
    shapes = {(user, at): user.input_ports[at].type.shape or () for user, at in places if at < len(user.input_ports)}
    own = [_fixed(dim) for dim in shape_of(value, editor.known) or ()]
    return shapes if all([_fixed(dim) for dim in shape] != own for shape in shapes.values()) else {}


def _in_order(shape: Shape, other: Shape, *, named: bool) -> Shape | None:
    """The sizes of ``shape`` in the order of ``other``. None unless both have the same sizes, and some are dynamic.

    With ``named``, the dynamic sizes must also have the same names.
    """
    dynamic = [dim for dim in shape if isinstance(dim, Expr)]
    if not dynamic or len(shape) < PAIR or sorted(map(_fixed, shape)) != sorted(map(_fixed, other)):
        return None
    if sorted(map(str, shape)) == sorted(map(str, other)):
        return other
    left = iter(dynamic)
    return None if named else tuple(dim if isinstance(dim, int) else next(left) for dim in other)


def _fixed(dim: MaybeDim) -> int:
    return dim if isinstance(dim, int) else -1


def are_sisters(one: Value, other: Value) -> bool:
    """Whether two inputs are sisters: their names start with the same letters, as in ``past_key``, ``past_value``."""
    return _letters(one.name) == _letters(other.name) != one.name


def declared_as_similar_input(node: Node, editor: Editor) -> Iterator[Candidate]:
    """Declares an input before a node with the shape of another input, or with the dynamic batch axis of outputs.

    The other shape has the same sizes and one axis more or fewer.
    """
    inputs = [value for value in editor.graph.inputs if value not in editor.known.overridden]
    shapes = {value: shape for value in inputs if (shape := shape_of(value, editor.known)) is not None}
    before = {value for each in nodes_before(node, editor.makers) for value in each.inputs}
    for value in (each for each in shapes if each in before):
        others = {each: shape for each, shape in shapes.items() if each is not value}
        similar = (
            shape
            for each, shape in others.items()
            if _is_one_axis_apart(shapes[value], shape) or _lacks_last_axis(value, each, editor)
        )
        for other in dict.fromkeys(similar):
            yield Candidate((editor.declared(value, other),), EVIDENT, evidence=1, subject=value)
        if (image := _as_image(value, shapes[value], editor)) is not None:
            yield Candidate((editor.declared(value, image),), EVIDENT, evidence=1, subject=value)
            continue
        has_batch = any(shape and isinstance(shape[0], Expr) for shape in others.values())
        for batch in _batch_of_outputs(editor.graph, shapes.values()) if not has_batch else ():
            yield Candidate((editor.declared(value, (batch, *shapes[value])),), EVIDENT, evidence=1, subject=value)


def _as_image(value: Value, shape: Shape, editor: Editor) -> Shape | None:
    """The shape with the axis that a convolution needs, which applies filters with one more axis to the input.

    The batch and a spatial size are dynamic. If axis 1 has the channels of the filters, a spatial axis is added at the
    end. If all sizes are dynamic, and there are several channels, axis 1 is added: no Unsqueeze makes several channels.
    """
    if len(shape) < IMAGE - 1 or not isinstance(shape[0], Expr) or not any(isinstance(dim, Expr) for dim in shape[2:]):
        return None
    users = [user for user in editor.users.get(value, ()) if user.inputs[0] is value]
    next_values = [each for user in users for each in user.outputs[:1]]
    padded = [each for each in next_values if len(shape_of(each, editor.known) or ()) == len(shape)]
    for given in filter(None, (value, *padded)):
        for user in editor.users.get(given, ()):
            channels = _channels(user, len(shape) + 1, editor) if user.inputs[0] is given else None
            if channels is not None and shape[1] == channels:
                return (*shape, symbol(f"{value.name}_{len(shape)}"))
            if channels is not None and channels > 1 and all(isinstance(dim, Expr) for dim in shape):
                return (shape[0], channels, *shape[1:])
    return None


def _channels(node: Node, rank: int, editor: Editor) -> int | None:
    """The number of channels that a convolution with filters of this rank takes; None for other nodes."""
    filters = shape_of(node.inputs[1], editor.known) if len(node.inputs) > 1 else None
    call = editor.known.calls.get(node)
    if filters is None or len(filters) != rank or call is None or call.operator is None or not call.operator.macs:
        return None
    count = filters[1]
    return count * (editor.value_of(node, GROUP) or 1) if isinstance(count, int) else None


def _batch_of_outputs(graph: Graph, given: Iterable[Shape]) -> Iterator[Expr]:
    """The dynamic first size of all outputs, if no input has it, and no exporter invented its name."""
    declared = [each.type.shape or () for each in graph.outputs if isinstance(each.type, Tensor)]
    firsts = {shape[0] if shape else None for shape in declared}
    sizes = {dim for shape in given for dim in shape}
    yield from (
        each
        for each in firsts
        if len(firsts) == 1 and isinstance(each, Expr) and each not in sizes and GENERATED not in str(each)
    )


def _is_one_axis_apart(one: Shape, other: Shape) -> bool:
    """Whether the shorter shape is the other one without one axis, and has at least two known sizes that are not 1."""
    short, long = sorted((one, other), key=len)
    without = [(*long[:axis], *long[axis + 1 :]) for axis in range(len(long))]
    named = [dim for dim in short if dim not in (1, None)]
    return len(short) + 1 == len(long) and len(named) > 1 and short in without


def _lacks_last_axis(one: Value, other: Value, editor: Editor) -> bool:
    """Whether ``other`` has the shape of ``one`` and one more axis at the end, as tokens and their mask may have.

    Both have the same integer type, and all their axes are dynamic.
    """
    first, second = editor.known.types.get(one), editor.known.types.get(other)
    if not isinstance(first, Tensor) or not isinstance(second, Tensor) or first.dtype not in INTEGERS:
        return False
    shape = second.shape or ()
    is_longer = first.dtype == second.dtype and first.shape == shape[:-1] != ()
    return is_longer and all(isinstance(dim, Expr) for dim in shape)


def declared_as_several_inputs(node: Node, editor: Editor) -> Iterator[Candidate]:
    """Declares an input before a node with the one shape that all its sisters have, if one size differs."""
    shapes = {value: shape_of(value, editor.known) or () for value in editor.graph.inputs}
    for value in (each for each in shapes if each not in editor.known.overridden):
        named = [each for each in shapes if each is not value and are_sisters(each, value)]
        others = {shapes[each] for each in named}
        shape = others.pop() if len(others) == 1 < len(named) else ()
        differing = [pair for pair in zip(shapes[value], shape) if pair[0] != pair[1]]
        is_apart = len(differing) == 1 and all(isinstance(each, int) for each in differing[0])
        users = editor.users.get(value, ()) if is_apart and len(shape) == len(shapes[value]) else ()
        if any(each is node or node in downstream(each, editor.graph) for each in users):
            yield Candidate((editor.declared(value, shape),), EVIDENT, evidence=len(named), subject=value)


def with_other_rank(problem: Problem, node: Node, editor: Editor) -> Iterator[Candidate]:
    """Declares inputs near a node without an axis of size 1, or with the first axis of another input, if the file
    declares other shapes than the operators compute for values. Or with one more axis, as it declares other values."""
    inputs = [value for value in editor.graph.inputs if value not in editor.known.overridden]
    shapes = {value: shape_of(value, editor.known) or () for value in inputs if value not in editor.graph.constants}
    near = {value for each in islice(nodes_before(node, editor.makers), FARTHER) for value in each.inputs}
    for value, shape in shapes.items() if problem.fault.rule is SHAPE_CONTRADICTED else ():
        others = [each for other, each in shapes.items() if other is not value]
        found = [(each[0], *shape) for each in others if len(each) > len(shape) and isinstance(each[0], Expr)]
        found += [(*shape[:axis], *shape[axis + 1 :]) for axis, dim in enumerate(shape) if axis and dim == 1]
        for other in dict.fromkeys(found if value in near else ()):
            yield Candidate((editor.declared(value, other),), POSSIBLE, subject=value)
    for value, shape in shapes.items() if problem.is_error or problem.fault.rule is SHAPE_CONTRADICTED else ():
        yield from _as_longer_values(value, shape, editor) if value in near and len(shape) > 1 else ()


def _as_longer_values(value: Value, shape: Shape, editor: Editor) -> Iterator[Candidate]:
    """Declares an input of the model with one more axis, as the file declares other values.

    This is EVIDENT if the file declares many such values, or if the size of the axis is a symbol that no input has.
    """
    declared = (each.type for node in editor.graph.nodes for each in node.outputs if each is not None)
    longer = (each.shape for each in declared if isinstance(each, Tensor) and each.shape is not None)
    found = Counter(each for each in longer if None not in each and _is_one_axis_apart(shape, each))
    several = [(other, count) for other, count in found.most_common(OTHERS) if len(other) > len(shape)]
    shapes = [shape_of(each, editor.known) or () for each in editor.graph.inputs if several]
    inputs = {name for each in shapes for dim in each if isinstance(dim, Expr) for name in symbols(dim)}
    for other, count in several:
        lost = any(isinstance(dim, Expr) and dim not in shape and not symbols(dim) <= inputs for dim in other)
        grade = EVIDENT if lost or count >= MANY else POSSIBLE
        yield Candidate((editor.declared(value, other),), grade, evidence=count, subject=value)


def _letters(name: str) -> str:
    """The letters at the start of a name: ``past`` of ``past.0.key`` and of ``past_1``."""
    return "".join(takewhile(str.isalpha, name))


def with_batch_axis(node: Node, editor: Editor) -> Iterator[Candidate]:
    """Declares inputs near a node with a new first axis: the first axis of another input that has more axes.

    No dynamic size becomes that of two axes.
    """
    known, inputs = editor.known, [value for value in editor.graph.inputs if value not in editor.graph.constants]
    shapes = {value: shape_of(value, known) or () for value in inputs}
    near = {value for each in islice(nodes_before(node, editor.makers), FARTHER) for value in each.inputs}
    for value, shape in shapes.items():
        firsts = dict.fromkeys(
            each[0] for other, each in shapes.items() if other is not value and len(each) > len(shape)
        )
        firsts_of_value = (each for each in firsts if not isinstance(each, Expr) or each not in shape)
        for first in firsts_of_value if value in near and shape else ():
            yield Candidate((editor.declared(value, (first, *shape)),), POSSIBLE, subject=value)
