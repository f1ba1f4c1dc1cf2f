"""Types of values that bodies carry to the next iteration or return from alternative branches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from irlint.dims import Expr, MaybeDim, Shape, same, symbols
from irlint.model import Graph
from irlint.model.tensor import UNKNOWN, Contents, Optional, Scalar, Tensor, Type
from irlint.model.tensor import Sequence as SequenceType
from irlint.ops import Context
from irlint.ops.shared.bodies import FOLLOWED, ROUNDS, nesting, truth


def joined(a: Type | None, b: Type | None) -> Type | None:
    """The type of a value that is ``a`` or ``b``: facts that differ are unknown."""
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        dtype = a.dtype if a.dtype == b.dtype else None
        return Tensor(dtype, joined_shape(a.shape, b.shape), _joined_values(a.value, b.value))
    if isinstance(a, SequenceType) and isinstance(b, SequenceType):
        length = a.length if same(a.length, b.length) else None
        return SequenceType(_joined_element(a, b), length)
    if isinstance(a, Optional) and isinstance(b, Optional):
        return Optional(joined(a.element, b.element), a.present if a.present == b.present else None)
    return a if a == b else UNKNOWN


def joined_shape(a: Shape | None, b: Shape | None) -> Shape | None:
    """The shape of a value that has the shape ``a`` or ``b``; None if the ranks differ or are unknown. Sizes that may
    differ are None."""
    if a is None or b is None or len(a) != len(b):
        return None
    return tuple(left if same(left, right) else None for left, right in zip(a, b))


def _joined_element(a: SequenceType, b: SequenceType) -> Type | None:
    for empty, other in ((a, b), (b, a)):
        if empty.length == 0 and other.element is not None:
            return other.element
    return joined(a.element, b.element) if a.element is not None and b.element is not None else None


def _joined_values(a: Contents | None, b: Contents | None) -> Contents | None:
    if a is None or b is None or len(a) != len(b):
        return None
    value = tuple(left if _is_same(left, right) else None for left, right in zip(a, b))
    return value if any(entry is not None for entry in value) else None


def _is_same(a: Scalar, b: Scalar) -> bool:
    if isinstance(a, Expr) or isinstance(b, Expr):
        return not (isinstance(a, float) or isinstance(b, float)) and same(a, b) is True
    return a == b


def carried(
    step: Callable[[Sequence[Type | None]], Sequence[Type | None]],
    initial: Sequence[Type | None],
    context: Context,
    *,
    key: object = "carried",
    search: bool = True,
) -> tuple[Type | None, ...]:
    """The types of the carried values at the start of every iteration, including the first.

    ``step`` infers a body's outputs. A size that changes becomes a symbol of the node, by ``key`` and axis. If any type
    still changes after ``ROUNDS`` runs, or without ``search``, only the element types of tensors and sequences are
    known.
    """
    current = tuple(initial)
    for _ in range(ROUNDS if search else 0):
        after = step(current)
        widened = tuple(
            _with_symbols(joined(a, b), context, (key, index)) for index, (a, b) in enumerate(zip(current, after))
        )
        if widened == current:
            return current
        current = widened
    return tuple(_only_types(known) for known in initial)


def unrolled(
    body: Graph, initial: Sequence[Type | None], number: Tensor, *, count: MaybeDim, context: Context
) -> tuple[int, tuple[Type | None, ...], list[tuple[Type | None, ...]]] | None:
    """The result of running an ONNX Loop iteration by iteration: the number of runs, the final condition and carried
    values, and the scan outputs of each iteration.

    ``initial`` is the condition and the carried values at first; ``count`` is the trip count, or None for no limit.
    Returns None if the body has inner bodies, if the end of the loop is unknown, if all iterations have more than
    ``FOLLOWED`` nodes, or if a size depends on data of one iteration, because its symbol means another size in the next
    iteration.
    """
    most = FOLLOWED // max(1, len(body.nodes))
    if nesting(body) > 1 or isinstance(count, Expr) or (count is not None and count > most):
        return None
    state = tuple(initial)
    added: list[tuple[Type | None, ...]] = []
    for trip in range(most + 1):
        runs = truth(state[0]) if trip != count else False
        if runs is None:
            return None
        if not runs:
            return trip, state, added
        outputs = context.run(body, (number.changed(value=(trip,)), *state), "tried")
        added.append(outputs[len(state) :])
        state = outputs[: len(state)]
        if any(name.startswith("_") for name in passing(state, initial)):
            return None
    return None


def _with_symbols(known: Type | None, context: Context, key: object) -> Type | None:
    if not isinstance(known, Tensor) or known.shape is None:
        return known
    shape = tuple(context.unknown((key, axis)) if dim is None else dim for axis, dim in enumerate(known.shape))
    return known.changed(shape=shape)


def _only_types(known: Type | None) -> Type | None:
    if isinstance(known, Tensor):
        return Tensor(known.dtype)
    if isinstance(known, SequenceType):
        element = known.element
        return SequenceType(Tensor(element.dtype) if isinstance(element, Tensor) else element)
    return known


def passing(inputs: Iterable[Type | None], initial: Iterable[Type | None]) -> frozenset[str]:
    """The symbols that are valid for one iteration only: symbols in the tensors of ``inputs``, the inputs of a body,
    that are not in ``initial``."""
    return _names(inputs) - _names(initial)


def _names(types: Iterable[Type | None]) -> frozenset[str]:
    found: frozenset[str] = frozenset()
    for known in types:
        if isinstance(known, Tensor):
            for entry in (*(known.shape or ()), *(known.value or ())):
                if isinstance(entry, Expr):
                    found |= symbols(entry)
    return found


def outside(known: Type | None, names: frozenset[str]) -> Type | None:
    """``known`` without the sizes and values that contain one of ``names``."""
    if isinstance(known, SequenceType):
        return SequenceType(outside(known.element, names), _outside(known.length, names))
    if isinstance(known, Optional):
        return Optional(outside(known.element, names), known.present)
    if not isinstance(known, Tensor) or not names:
        return known
    shape = None if known.shape is None else tuple(_outside(dim, names) for dim in known.shape)
    value = known.value
    if value is not None:
        value = tuple(None if isinstance(entry, Expr) and symbols(entry) & names else entry for entry in value)
    return Tensor(known.dtype, shape, value)


def _outside(dim: MaybeDim, names: frozenset[str]) -> MaybeDim:
    return None if isinstance(dim, Expr) and symbols(dim) & names else dim
