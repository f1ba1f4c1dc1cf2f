"""The types of values that loops carry to the next iteration, or that one of two branches returns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from irlint.dims import Expr, MaybeDim, Shape, same, symbols
from irlint.model import Graph
from irlint.model.tensor import UNKNOWN, Contents, Optional, Scalar, Tensor, Type
from irlint.model.tensor import Sequence as SequenceType
from irlint.ops import Context
from irlint.ops.shared.bodies import MOST_UNROLLED_NODES, ROUNDS, nesting, truth


def joined(a: Type | None, b: Type | None) -> Type | None:
    """The type of a value whose type is ``a`` or ``b``."""
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        dtype = a.dtype if a.dtype == b.dtype else None
        return Tensor(dtype, joined_shape(a.shape, b.shape), _joined_values(a.value, b.value))
    if isinstance(a, SequenceType) and isinstance(b, SequenceType):
        length = a.length if same(a.length, b.length) else None
        return SequenceType(_joined_element(a, b), length, _joined_elements(a.elements, b.elements))
    if isinstance(a, Optional) and isinstance(b, Optional):
        return Optional(joined(a.element, b.element), a.present if a.present == b.present else None)
    return a if a == b else UNKNOWN


def joined_shape(a: Shape | None, b: Shape | None) -> Shape | None:
    """The shape of a value whose shape is ``a`` or ``b``."""
    if a is None or b is None or len(a) != len(b):
        return None
    return tuple(left if same(left, right) else None for left, right in zip(a, b))


def _joined_element(a: SequenceType, b: SequenceType) -> Type | None:
    for empty, other in ((a, b), (b, a)):
        if empty.length == 0 and other.element is not None:
            return other.element
    return joined(a.element, b.element) if a.element is not None and b.element is not None else None


def _joined_elements(
    a: tuple[Type | None, ...] | None, b: tuple[Type | None, ...] | None
) -> tuple[Type | None, ...] | None:
    if a is None or b is None or len(a) != len(b):
        return None
    return tuple(joined(left, right) for left, right in zip(a, b))


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

    ``step`` infers the carried outputs of a body from its carried inputs. A changing size becomes a symbol for ``key``.
    Without ``search``, or if the types change in each of ``ROUNDS`` iterations, only element types are known.
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
    return tuple(_without_shapes(known) for known in initial)


def unrolled(
    body: Graph, initial: Sequence[Type | None], number: Tensor, *, count: MaybeDim, context: Context
) -> tuple[int, tuple[Type | None, ...], list[tuple[Type | None, ...]]] | None:
    """The result of an ONNX Loop: (number of iterations, final condition and carried values, scan outputs of each
    iteration).

    ``initial`` has the condition and the carried values. ``count`` is the trip count, None if there is no limit.
    Returns None if the loop cannot be inferred iteration by iteration.
    """
    most = MOST_UNROLLED_NODES // max(1, len(body.nodes))
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
        # A symbol for a data-dependent size stands for another size in each iteration.
        if any(name.startswith("_") for name in new_symbols(state, initial)):
            return None
    return None


def _with_symbols(known: Type | None, context: Context, key: object) -> Type | None:
    if not isinstance(known, Tensor) or known.shape is None:
        return known
    shape = tuple(context.unknown((key, axis)) if dim is None else dim for axis, dim in enumerate(known.shape))
    return known.changed(shape=shape)


def _without_shapes(known: Type | None) -> Type | None:
    if isinstance(known, Tensor):
        return Tensor(known.dtype)
    if isinstance(known, SequenceType):
        element = known.element
        return SequenceType(Tensor(element.dtype) if isinstance(element, Tensor) else element)
    return known


def new_symbols(types: Iterable[Type | None], initial: Iterable[Type | None]) -> frozenset[str]:
    """The symbols in tensors of ``types`` that are not in ``initial``."""
    return _symbols_in(types) - _symbols_in(initial)


def _symbols_in(types: Iterable[Type | None]) -> frozenset[str]:
    found: frozenset[str] = frozenset()
    for known in types:
        if isinstance(known, Tensor):
            for entry in (*(known.shape or ()), *(known.value or ())):
                if isinstance(entry, Expr):
                    found |= symbols(entry)
    return found


def without_symbols(known: Type | None, names: frozenset[str]) -> Type | None:
    """``known`` without the sizes and values that contain one of the symbols."""
    if isinstance(known, SequenceType):
        return SequenceType(without_symbols(known.element, names), _unless_in(names, known.length))
    if isinstance(known, Optional):
        return Optional(without_symbols(known.element, names), known.present)
    if not isinstance(known, Tensor) or not names:
        return known
    shape = None if known.shape is None else tuple(_unless_in(names, dim) for dim in known.shape)
    value = known.value
    if value is not None:
        value = tuple(None if isinstance(entry, Expr) and symbols(entry) & names else entry for entry in value)
    return Tensor(known.dtype, shape, value)


def _unless_in(names: frozenset[str], dim: MaybeDim) -> MaybeDim:
    return None if isinstance(dim, Expr) and symbols(dim) & names else dim
