"""Other values for an attribute: axes, flags, words, orders of axes, and similar numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, permutations
from itertools import product as product_of

from irlint.binding.calls import Call
from irlint.lazy_typing import Any
from irlint.ops.signatures import named

#: The grades of candidates, the best first. EVIDENT: other parts of the model have the new value. ONLY_SUGGESTED: the
#: edits are never written to the file.
EVIDENT, PROBABLE, POSSIBLE, LAST_RESORT, ONLY_SUGGESTED = range(5)

#: Lists of one repeated number, such as strides, are tried for numbers below this limit.
REPEATED_BELOW = 4

#: Numbers below this limit are tried for an integer that is no axis and no flag.
NUMBERS_BELOW = 9

#: The first spatial axis.
SPATIAL = 2

#: The letters of longer equations are not exchanged.
LONGEST_EQUATION = 64

#: The integer attributes that count something. They are at least 1.
COUNTS = frozenset(("group", "groups", "num_groups", "num_heads", "q_num_heads", "blocksize", "block_size"))

#: The integer attributes of ONNX that mean yes or no.
FLAGS = frozenset(
    ("allowzero", "ceil_mode", "count_include_pad", "exclusive", "keepdims", "largest", "reverse", "transA", "transB")
)

#: Lists of more entries are not changed.
ENTRIES = 8

#: All orders of axes are tried up to this rank.
ORDERED = 4


def normalized(name: str, value: object, rank: int) -> object:
    """The value of an attribute, with negative axes counted from 0."""
    if "ax" not in name or not rank:
        return value
    if isinstance(value, int):
        return value % rank if -rank <= value < rank else value
    if isinstance(value, (tuple, list)):
        return tuple(each % rank if isinstance(each, int) and -rank <= each < rank else each for each in value)
    return value


def words_of(annotation: str, call: Call) -> tuple[object, ...]:
    """The words that an attribute allows; () if any text is allowed."""
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
    """(other value, grade of this value) for an attribute."""
    rank = max(map(len, shapes), default=0)
    if isinstance(value, bool):
        yield not value, EVIDENT
    elif isinstance(value, str) and name == "equation":
        yield from ((each, PROBABLE) for each in _other_equations(value))
    elif isinstance(value, str):
        yield from ((word, POSSIBLE) for word in words if word and word != value)
    elif isinstance(value, int) and "axis" in name:
        yield from ((axis, PROBABLE) for axis in range(rank) if axis not in (value, value + rank))
    elif isinstance(value, int):
        if value in (0, 1) and name not in COUNTS:
            yield 1 - value, POSSIBLE if name == "transA" and not value else EVIDENT
        if name in FLAGS:
            return
        sized = () if "heads" in name else shapes
        sizes = dict.fromkeys(dim for shape in sized for dim in shape if isinstance(dim, int) and dim > 1)
        if outputs > 1 and value != outputs:
            yield outputs, PROBABLE
        yield from ((size, POSSIBLE) for size in list(sizes)[:ENTRIES] if size != value)
        yield from ((size, LAST_RESORT) for size in range(2, NUMBERS_BELOW) if size != value)
    elif isinstance(value, (tuple, list)) and value and all(isinstance(each, int) for each in value):
        if "axes" in name:
            yield from ((each, PROBABLE) for each in with_an_axis(tuple(value), rank))
        if len(set(value)) > 1 and 0 not in value and not any(word in name for word in ("ax", "perm", "order")):
            yield from ((type(value)((each,) * len(value)), PROBABLE) for each in dict.fromkeys(value))
        for other, grade in _other_lists(tuple(value), rank, masks="mask" in name, least=0 if "pad" in name else 1):
            yield type(value)(other), grade
    elif value is None and annotation.startswith("Ints") and shapes and len(shapes[0]) > SPATIAL:
        spatial = len(shapes[0]) - SPATIAL
        yield (1,) * spatial * (2 if name == "pads" else 1), PROBABLE


def _other_equations(equation: str) -> Iterator[str]:
    """The Einsum equation with two letters of one term exchanged, or with one more letter of the result in a term."""
    terms, arrow, result = equation.replace(" ", "").partition("->")
    several = [*terms.split(","), *([result] if arrow else [])]
    for at, term in enumerate(several if len(equation) <= LONGEST_EQUATION else ()):
        for one, other in combinations(range(len(term)), 2):
            letters = list(term)
            letters[one], letters[other] = letters[other], letters[one]
            if "." not in term and term[one] != term[other]:
                changed = [*several[:at], "".join(letters), *several[at + 1 :]]
                yield ",".join(changed[:-1]) + arrow + changed[-1] if arrow else ",".join(changed)
    for at, term in enumerate(several[:-1] if "." not in equation and arrow else []):
        for letter, place in product_of([each for each in result if each not in term], range(len(term) + 1)):
            longer = f"{term[:place]}{letter}{term[place:]}"
            yield ",".join([*several[:at], longer, *several[at + 1 : -1]]) + arrow + result


def with_an_axis(value: tuple[Any, ...], rank: int) -> Iterator[tuple[Any, ...]]:
    """The lists of axes with one axis more or fewer."""
    if not all(type(each) is int for each in value):
        return
    named = {each % rank for each in value if -rank <= each < rank}
    yield from (tuple(sorted((*value, axis))) for axis in range(rank) if axis not in named)
    yield from ((*value[:at], *value[at + 1 :]) for at in range(len(value) if len(value) > 1 else 0))


def _other_lists(
    value: tuple[int, ...], rank: int, *, masks: bool, least: int
) -> Iterator[tuple[tuple[int, ...], int]]:
    """(other list, grade). Lists of one repeated number begin with the number ``least``."""
    if masks:
        for at, each in enumerate(value):
            yield (*value[:at], 0 if each else 1, *value[at + 1 :]), PROBABLE
        return
    if len(value) == 1:
        near = (value[0] - 1, value[0] + 1)
        yield from (((axis,), PROBABLE) for axis in dict.fromkeys((*range(rank + 1), *near)) if axis != value[0])
    elif len(set(value)) == 1:
        yield from (((each,) * len(value), PROBABLE) for each in range(least, REPEATED_BELOW) if each != value[0])
    if len(set(value)) < len(value) or not all(0 <= each < len(value) for each in value):
        return
    kept = tuple(each for each in value if each < rank)
    completed = (*kept, *(axis for axis in range(rank) if axis not in kept))
    if completed != value and len(value) > 1:
        yield completed, EVIDENT
    if rank <= ORDERED:
        frequent = (tuple(range(rank)), *layouts(rank), *neighbors(rank))
        orders = (each for each in permutations(range(rank)) if each not in (value, completed))
        yield from ((each, PROBABLE if each in frequent else POSSIBLE) for each in orders)
    else:
        yield from ((each, PROBABLE) for each in _moves(rank) if each not in (value, completed))


def layouts(rank: int) -> list[tuple[int, ...]]:
    """The orders of axes that move the channels to the end, and back."""
    axes = tuple(range(rank))
    return [(0, *axes[2:], 1), (0, rank - 1, *axes[1:-1])] if rank > SPATIAL else []


def _moves(rank: int) -> Iterator[tuple[int, ...]]:
    """The orders of axes that move one axis to the end, and those that move the last axis to another place."""
    axes = tuple(range(rank))
    yield from ((*axes[:at], *axes[at + 1 :], at) for at in axes[:-1])
    yield from ((*axes[:at], rank - 1, *axes[at:-1]) for at in axes[:-2])


def neighbors(rank: int) -> list[tuple[int, ...]]:
    """The orders of axes that exchange two neighboring axes."""
    axes = tuple(range(rank))
    return [(*axes[:at], at + 1, at, *axes[at + 2 :]) for at in range(rank - 1)]
