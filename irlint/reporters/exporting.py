"""The sizes that a model accepts, as the argument ``dynamic_shapes`` of ``torch.export``.

Three rules of torch matter here:

* Torch fixes a size if it is 0 or 1 for the example inputs, or is computed from a size that is.
* Torch refuses a Dim that can make a size inside the model 0 or 1.
* If other Dims are computed from a Dim, sympy parses its name. The names "N" and "sequence" are functions of sympy.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from keyword import iskeyword

from irlint.contracts.derived import Linear, linear_form, narrowed
from irlint.contracts.profiles import Profile, Progression, SymbolicSize, progression
from irlint.contracts.sizes import Sizes, between, met
from irlint.dims import Expr, MaybeDim, symbols, unused_name
from irlint.records import record, replaced
from irlint.reporters.pasted import comment
from irlint.reporters.profiles import free_of, leaders, of_branches

#: The smallest example of a dynamic size.
LEAST_EXAMPLE = 2

CONSTANTS = "torch.export treats sizes of 0 and 1 as constants"

BY_POSITION = (
    "by position, because a model file does not contain the argument names of forward: write None for an argument that is not",
    "a tensor, and nest the tensors of a tuple, a dict or a cache as in the argument",
)


@record
class _Size:
    """A dynamic size in the code."""

    #: The line of code that defines the size.
    line: str
    #: The sizes that example inputs may have.
    examples: Sizes
    #: Whether torch infers the range of the size.
    is_inferred: bool = False


@record
class _Names:
    """The names in the code."""

    #: The Python variable of each symbol.
    variables: Mapping[str, str]
    #: The names of Dims that are already used.
    taken: set[str]

    def of_dim(self, name: str) -> str:
        """An unused name for a Dim."""
        return unused_name(name, self.taken, {})


def lines(profile: Profile) -> Iterator[str]:
    """The text, line by line."""
    names = _Names(_variables(profile), set())
    sizes = dict(_dynamic_sizes(profile, names))
    yield "from torch.export import Dim"
    yield ""
    for free in leaders(profile):
        if free.name in sizes and free.name not in profile.dependence.linear:
            yield sizes[free.name].line
        elif free.name not in sizes:
            yield comment(_fixed_comment(free, names))
    for name in profile.dependence.linear:
        if name in sizes:
            yield sizes[name].line
    yield from _inexpressible(profile, names)
    for line in BY_POSITION if profile.inputs else ():
        yield comment(line)
    yield "dynamic_shapes = ("
    for name, shape in profile.inputs:
        if shape is None:
            yield f"    None,  {comment(f'{name}: its number of axes is unknown')}"
            continue
        axes = ", ".join(f"{axis}: {text}" for axis, text in _dynamic_axes(shape, profile, names, sizes))
        yield f"    {{{axes}}},  {comment(name)}"
    yield ")"
    if sizes:
        yield comment(_example(profile, names, sizes))


def _example(profile: Profile, names: _Names, sizes: Mapping[str, _Size]) -> str:
    """A comment with the least sizes that example inputs can have if they meet all conditions."""
    allowed = {free.name: sizes[free.name].examples if free.name in sizes else free.sizes for free in leaders(profile)}
    found = profile.constraints.least(allowed)
    if found is None:
        return f"no sizes of at least {LEAST_EXAMPLE} were found that meet all conditions: {CONSTANTS}"
    examples = [f"{names.variables[name]} = {found[name]}" for name in sizes]
    return f"example inputs have at least {', '.join(examples)}: {CONSTANTS}"


def _variables(profile: Profile) -> dict[str, str]:
    taken = {"Dim", "dynamic_shapes"}
    kept = {name: name for name in profile.symbols if not iskeyword(name) and name not in taken}
    taken |= kept.keys()
    return {name: kept.get(name) or unused_name(f"{name}_", taken, {}) for name in profile.symbols}


def _dynamic_sizes(profile: Profile, names: _Names) -> Iterator[tuple[str, _Size]]:
    """(symbol, size) of each dynamic size. Omits sizes that torch fixes."""
    depends, (written, tied) = profile.dependence, _written(profile)
    for free in leaders(profile):
        variable = names.variables[free.name]
        if free.name in depends.linear:
            continue
        if free.name in depends.tied or free.name in tied:
            if free.fixed is None:
                yield free.name, _inferred(free, variable)
            continue
        following = {
            name: each for name, each in depends.linear.items() if each.root == free.name and name in profile.symbols
        }
        within = narrowed(free.sizes, [(each, profile.symbols[name].sizes) for name, each in following.items()])
        if within is None:
            yield free.name, _inferred(free, variable)
            for name in following:
                yield name, _inferred(profile.symbols[name], names.variables[name])
            continue
        root = _root(free, progression(within), names, is_shared=bool(following) or free.name in written)
        if root is None:
            continue
        yield free.name, root
        for name, each in following.items():
            multiple = f"{names.variables[name]} = {_multiple(each, variable)}"
            yield name, _Size(multiple, _examples(profile.symbols[name]))


def _written(profile: Profile) -> tuple[set[str], set[str]]:
    """(symbols in linear expressions, symbols in other expressions). Both are sets for the sizes of inputs.

    A size that is a single symbol does not count as an expression.
    """
    roots: set[str] = set()
    others: set[str] = set()
    for dim in (dim for _, shape in profile.inputs for dim in shape or ()):
        if isinstance(dim, Expr) and free_of(dim, profile) is None:
            names = {profile.symbols[name].leader for name in symbols(dim)}
            (others if linear_form(dim) is None else roots).update(names)
    return roots, others


def _root(free: SymbolicSize, found: Progression, names: _Names, *, is_shared: bool) -> _Size | None:
    """A size that accepts ``found``; None if torch fixes it. If ``is_shared``, other sizes are computed from it."""
    rest = found.first % found.step
    low = (found.first - rest) // found.step
    high = None if found.last is None else (found.last - rest) // found.step
    note = "" if found.is_complete else f"  {comment(f'narrower than the contract: {_conditions(free)}')}"
    if found.step == 1 and free.ones >= LEAST_EXAMPLE and free.ones >= low:
        low = free.ones + 1
        note = (
            "  "
            f"{comment(f'of {_conditions(free)}; if it is {free.ones}, a size inside the model is 0 or 1, which torch refuses')}"
        )
    if high is not None and high < max(low, LEAST_EXAMPLE):
        return None
    variable = names.variables[free.name]
    if low == high:
        return None
    limits = "" if low == 1 and found.step == 1 and not is_shared else f", min={low}"
    limits += "" if high is None else f", max={high}"
    examples = replaced(found, first=found.step * max(low, LEAST_EXAMPLE) + rest).sizes
    if found.step == 1:
        dim = f'Dim("{names.of_dim(f"{variable}_size" if is_shared else variable)}"{limits})'
    else:
        by = names.of_dim(f"{variable}_by_{found.step}")
        dim = _scaled(f'Dim("{by}"{limits})', found.step, rest)
    return _Size(f"{variable} = {dim}{note}", examples)


def _multiple(multiple: Linear, root: str) -> str:
    return _scaled(root, multiple.factor, multiple.rest)


def _scaled(text: str, factor: int, rest: int) -> str:
    """A linear expression of ``text``, such as ``2 * text + 1``."""
    scaled = text if factor == 1 else f"{factor} * {text}"
    return scaled if not rest else f"{scaled} {'+' if rest > 0 else '-'} {abs(rest)}"


def _inferred(free: SymbolicSize, variable: str) -> _Size:
    return _Size(f"{variable} = {_hint(free)}", _examples(free), is_inferred=True)


def _examples(free: SymbolicSize) -> Sizes:
    """The accepted sizes for which torch fixes no size. If there are none, all accepted sizes."""
    found = met(free.sizes, between(max(LEAST_EXAMPLE, free.ones + 1), None))
    return free.sizes if found is None or found.is_empty else found


def _hint(free: SymbolicSize) -> str:
    """``Dim.AUTO`` with the bounds of a size, such as ``Dim.AUTO(min=2)``."""
    least, greatest = free.sizes.least, free.sizes.greatest
    limits = [f"min={least}"] if least > 1 else []
    limits += [] if greatest is None else [f"max={greatest}"]
    return f"Dim.AUTO({', '.join(limits)})" if limits else "Dim.AUTO"


def _fixed_comment(free: SymbolicSize, names: _Names) -> str:
    variable = names.variables[free.name]
    if free.fixed is not None:
        return f"{variable} is {free.fixed}"
    return f"{variable} has the size of the example: torch can express no range for {_conditions(free)}"


def _conditions(free: SymbolicSize) -> str:
    return " and ".join(free.conditions) or "any size"


def _inexpressible(profile: Profile, names: _Names) -> Iterator[str]:
    tied = profile.dependence.tied
    if tied:
        shown = ", ".join(names.variables[name] for name in profile.symbols if name in tied)
        yield comment(f"{shown}: torch infers from the example inputs how they depend on each other")
    expressed = {each.text for each in profile.dependence.linear.values()}
    for text in profile.together:
        if text not in expressed:
            yield comment(f"{text} has to hold too")
    yield from of_branches(profile)


def _dynamic_axes(
    shape: tuple[MaybeDim, ...], profile: Profile, names: _Names, sizes: Mapping[str, _Size]
) -> Iterator[tuple[int, str]]:
    for axis, dim in enumerate(shape):
        free = free_of(dim, profile)
        if free is not None and free.leader in sizes:
            yield axis, names.variables[free.leader]
        elif free is None and isinstance(dim, Expr):
            multiple = linear_form(dim)
            root = None if multiple is None else profile.symbols[multiple.root].leader
            known = None if root is None else sizes.get(root)
            if multiple is None or root is None or known is None or known.is_inferred:
                yield axis, "Dim.AUTO"
            else:
                yield axis, _multiple(multiple, names.variables[root])
