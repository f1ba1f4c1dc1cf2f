"""Finds two axes of one input that have different names in the file, although the graph requires equal sizes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from irlint.contracts.contract import Contract
from irlint.dims import Dim, Expr, symbols
from irlint.findings.faults import Rule, Severity
from irlint.inference.known import Demand, Known
from irlint.model import Problem, Value
from irlint.model.tensor import Tensor, Type
from irlint.records import record

EQUAL_SIZES = Rule(
    "IRL610",
    "equal-sizes",
    Severity.WARNING,
    "Two axes of an input have different names, but the graph fails if their sizes differ and neither is 1.",
    why=(
        "A missing Transpose, a Shape read on the wrong axis, or swapped entries of a target shape confuse two axes. "
        "The model loads, and runs if the two sizes are equal. It fails for other sizes, except that operators such as "
        "Add also accept 1 for one of them. irlint does not report axes with the same name, nor axes of different "
        "inputs."
    ),
    fix=(
        "Correct the node that uses the size of the wrong axis. If equal sizes are intended, give both axes the "
        "same name."
    ),
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[batch,seq,8] x) => (float[n,m,8] y) { t = Transpose <perm = [1, 0, 2]> (x) y = Add (x, t) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[batch,seq,8] x) => (float[batch,seq,8] y) { t = Relu (x) y = Add (x, t) }""",
)


@record
class Equal:
    """Two sizes that have to be equal, by the names of their symbols, and the demand that requires it. ``ones`` are the
    symbols that may be 1 instead."""

    names: tuple[str, str]
    demand: Demand
    ones: tuple[str, ...] = ()


def equal_sizes(contract: Contract, named: Mapping[str, str], known: Known) -> Iterator[tuple[Equal, Value]]:
    """Each pair of sizes of one input that have to be equal, with the input. ``named`` maps symbols to their names in
    the file; other sizes do not count."""
    graph = known.model.graph
    assert graph is not None
    inputs = {value: _sizes(known.types.get(value)) & named.keys() for value in graph.inputs}
    seen: set[frozenset[str]] = set()
    for each in _equal(contract):
        names = frozenset(each.names)
        value = next((value for value, own in inputs.items() if names <= own), None)
        if value is not None and names not in seen:
            seen.add(names)
            yield each, value


def problem_of(
    each: Equal, value: Value, named: Mapping[str, str], *, marks: tuple[tuple[int, int], ...], note: str
) -> Problem:
    """The problem of two sizes that have to be equal, at the node that requires it."""
    one, other = (named[name] for name in each.names)
    ones = [named[name] for name in each.ones]
    also = ", or one of them 1" if len(ones) > 1 else "".join(f", or `{name}` 1" for name in ones)
    fault = EQUAL_SIZES.fault(
        f"`{one}` and `{other}` of `{value.name}` are dynamic, but must be equal{also}",
        help="correct the node that uses one for the axis of the other, or give both axes the same name",
        marks=marks,
        remark="have to be equal" if marks else "",
        notes=(note,),
    )
    return Problem(fault, each.demand.graph, each.demand.node, place=each.demand.node.place)


def _sizes(given: Type | None) -> frozenset[str]:
    """The dims of a tensor as texts; empty for other types."""
    shape = given.shape if isinstance(given, Tensor) else None
    return frozenset(str(dim) for dim in shape or ())


def _equal(contract: Contract) -> Iterator[Equal]:
    """Each pair of symbols that the contract requires to be equal."""
    for name, demand in contract.equal.items():
        for other in _names(contract.values.get(name)):
            yield Equal((name, other), demand)
    for each in contract.joint:
        sides = [(_names(relation.left), _names(relation.right)) for relation in each.relations]
        pairs = [(one[0], other[0]) for one, other in sides if one and other]
        ones = [one[0] for relation, (one, _) in zip(each.relations, sides) if one and relation.right == 1]
        equal = all(relation.kind == "==" for relation in each.relations)
        if equal and len(pairs) == 1 and len(pairs) + len(ones) == len(each.relations):
            yield Equal(pairs[0], each.demand, tuple(ones))


def _names(a: Dim | None) -> tuple[str, ...]:
    """The name of a size that is a single symbol, as a tuple; () for other sizes."""
    return (str(a),) if isinstance(a, Expr) and str(a) in symbols(a) else ()
