"""Other values that an attribute may have been intended to have: axes, flags, words, orders of axes, and similar
numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations

from irlint.binding.calls import Call
from irlint.lazy_typing import Any
from irlint.ops.signatures import named

#: How likely a change is: other nodes of the model have it, it is rarely wrong, it is a guess, it is the last resort,
#: or it is only suggested.
USUAL, SELDOM, GUESS, LAST, UNSURE = range(5)

#: The upper limit (exclusive) for lists of one repeated number, such as strides.
UNIFORM = 4

#: The upper limit (exclusive) for numbers that are no axes, flags or sizes; then the first spatial axis.
SMALL = 9
SPATIAL = 2

#: The integer attributes of ONNX that mean yes or no.
FLAGS = frozenset(
    ("allowzero", "ceil_mode", "count_include_pad", "exclusive", "keepdims", "largest", "reverse", "transA", "transB")
)

#: Lists are changed up to this many entries, and permuted up to this many.
ENTRIES = 8
ORDERED = 4


def meant(name: str, value: object, rank: int) -> object:
    """The attribute's value as a key: an axis that is counted from the end becomes the same axis counted from 0."""
    if "ax" not in name or not rank:
        return value
    if isinstance(value, int):
        return value % rank if -rank <= value < rank else value
    if isinstance(value, (tuple, list)):
        return tuple(each % rank if isinstance(each, int) and -rank <= each < rank else each for each in value)
    return value


def words_of(annotation: str, call: Call) -> tuple[object, ...]:
    """The texts that an attribute allows; () if any text is allowed."""
    if call.operator is None or annotation in ("int", "float", "str", "bool", "Ints", "int | None", "Ints | None"):
        return ()
    alias = named(annotation, call.operator.function)
    found = getattr(alias, "__args__", ())
    return found if all(isinstance(each, str) for each in found) else ()


def other_values(
    name: str,
    value: object,
    shapes: Sequence[Sequence[object]],
    words: tuple[object, ...],
    annotation: str,
    outputs: int,
) -> Iterator[tuple[object, int]]:
    """Other values for an attribute, each with how likely it is."""
    rank = max(map(len, shapes), default=0)
    if isinstance(value, bool):
        yield not value, USUAL
    elif isinstance(value, str):
        yield from ((word, GUESS) for word in words if word and word != value)
    elif isinstance(value, int) and "axis" in name:
        yield from ((axis, SELDOM) for axis in range(rank) if axis not in (value, value + rank))
    elif isinstance(value, int):
        if value in (0, 1):
            yield 1 - value, GUESS if name == "transA" and not value else USUAL
        if name in FLAGS:
            return
        whole = () if "heads" in name else shapes
        sizes = dict.fromkeys(dim for shape in whole for dim in shape if isinstance(dim, int) and dim > 1)
        if outputs > 1 and value != outputs:
            yield outputs, SELDOM
        yield from ((size, GUESS) for size in list(sizes)[:ENTRIES] if size != value)
        yield from ((size, LAST) for size in range(2, SMALL) if size != value)
    elif isinstance(value, (tuple, list)) and value and all(isinstance(each, int) for each in value):
        if "axes" in name:
            yield from ((each, SELDOM) for each in with_an_axis(tuple(value), rank))
        for other, likely in _lists(tuple(value), rank, masks="mask" in name, least=0 if "pad" in name else 1):
            yield type(value)(other), likely
    elif value is None and annotation.startswith("Ints") and shapes and len(shapes[0]) > SPATIAL:
        spatial = len(shapes[0]) - SPATIAL
        yield (1,) * spatial * (2 if name == "pads" else 1), SELDOM


def with_an_axis(value: tuple[Any, ...], rank: int) -> Iterator[tuple[Any, ...]]:
    """A list of axes with one axis more, or one axis fewer."""
    if not all(type(each) is int for each in value):
        return
    named = {each % rank for each in value if -rank <= each < rank}
    yield from (tuple(sorted((*value, axis))) for axis in range(rank) if axis not in named)
    yield from ((*value[:at], *value[at + 1 :]) for at in range(len(value) if len(value) > 1 else 0))


def _lists(value: tuple[int, ...], rank: int, *, masks: bool, least: int) -> Iterator[tuple[tuple[int, ...], int]]:
    """Other lists: other marks for a mask, other single axes, other repeated numbers from ``least`` on, and other
    orders of axes."""
    if masks:
        for at, each in enumerate(value):
            yield (*value[:at], 0 if each else 1, *value[at + 1 :]), SELDOM
        return
    if len(value) == 1:
        near = (value[0] - 1, value[0] + 1)
        yield from (((axis,), SELDOM) for axis in dict.fromkeys((*range(rank + 1), *near)) if axis != value[0])
    elif len(set(value)) == 1:
        yield from (((each,) * len(value), SELDOM) for each in range(least, UNIFORM) if each != value[0])
    if len(set(value)) < len(value) or not all(0 <= each < len(value) for each in value):
        return
    kept = tuple(each for each in value if each < rank)
    whole = (*kept, *(axis for axis in range(rank) if axis not in kept))
    if whole != value and len(value) > 1:
        yield whole, USUAL
    if rank <= ORDERED:
        usual = (tuple(range(rank)), *layouts(rank), *neighbors(rank))
        orders = (each for each in permutations(range(rank)) if each not in (value, whole))
        yield from ((each, SELDOM if each in usual else GUESS) for each in orders)


def layouts(rank: int) -> list[tuple[int, ...]]:
    """The orders of axes that move the channels from the front to the end, and back."""
    axes = tuple(range(rank))
    return [(0, *axes[2:], 1), (0, rank - 1, *axes[1:-1])] if rank > SPATIAL else []


def neighbors(rank: int) -> list[tuple[int, ...]]:
    """The orders of axes that exchange two neighboring axes."""
    axes = tuple(range(rank))
    return [(*axes[:at], at + 1, at, *axes[at + 2 :]) for at in range(rank - 1)]
