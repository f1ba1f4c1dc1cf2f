"""Finds axes of inputs that have different names in the file although the graph requires that their sizes are equal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from irlint.checks.paths import correction
from irlint.contracts.contract import Contract
from irlint.contracts.fixed import are_equalities
from irlint.contracts.simplified import simplified
from irlint.dims import Dim, Expr, substituted, symbol, symbols
from irlint.findings.faults import Rule, Severity
from irlint.findings.statements import Relation
from irlint.findings.wording import counted
from irlint.inference.known import Demand, Known
from irlint.inference.origins import Makers
from irlint.model import Problem, Value
from irlint.model.tensor import Tensor, Type
from irlint.records import record, replaced

EQUAL_SIZES = Rule(
    "IRL610",
    "equal-sizes",
    Severity.WARNING,
    "Two axes of inputs have different names, but the graph fails if their sizes differ and neither is 1.",
    why=(
        "A missing Transpose, a Shape read on the wrong axis, or swapped entries of a target shape confuse two axes. "
        "The model loads, and runs if the two sizes are equal. It fails for other sizes, except that operators such as "
        "Add also accept 1 for one of them. The same holds for an axis that must equal a size that the graph computes "
        "from other axes of the input, and for two axes of which the graph computes sizes that must be equal, such as "
        "halves. irlint does not report axes with the same name. Axes of different inputs "
        "are a note, and only if none of them may be 1 instead: exporters often name the axes of each input separately."
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
    """Two sizes that must be equal."""

    #: The two sizes. The first is a symbol; the second is a symbol or an expression of ``symbols``.
    names: tuple[str, str]
    demand: Demand
    symbols: frozenset[str] = frozenset()
    #: The names of sizes that may also be 1.
    ones: tuple[str, ...] = ()
    #: The number of other pairs of sizes of different inputs.
    other_pairs: int = 0
    #: Two expressions of the sizes, if these must be equal and not the sizes themselves.
    computed: tuple[str, ...] = ()


def equal_sizes(
    contract: Contract, named: Mapping[str, str], known: Known
) -> Iterator[tuple[Equal, tuple[Value, Value]]]:
    """(two equal sizes, the two inputs that have them) of each pair of sizes of the same input, and of the first pair
    of sizes of different inputs.

    ``named`` maps symbols to their names in the file.
    """
    graph = known.model.graph
    assert graph is not None
    inputs = {value: _dim_texts(known.types.get(value)) & named.keys() for value in graph.inputs}
    seen: set[frozenset[str]] = set()
    equal = [each for each in _equal_pairs(contract) if each.symbols <= named.keys()]
    for each in equal:
        names = frozenset(each.names)
        value = next((value for value, own in inputs.items() if each.symbols <= own), None)
        if value is None:
            continue
        if names not in seen:
            yield each, (value, value)
        seen.add(names)
    pairs = [each for each in equal if not each.ones and each.symbols == frozenset(each.names)]
    of_two = [each for each in pairs if each.symbols not in seen]
    for each in of_two[:1]:
        one, other = (next(value for value, own in inputs.items() if name in own) for name in each.names)
        yield replaced(each, other_pairs=len(of_two) - 1), (one, other)


def problem_of(
    equal: Equal,
    values: tuple[Value, Value],
    named: Mapping[str, str],
    *,
    marks: tuple[tuple[int, int], ...],
    note: str,
    makers: Makers,
) -> Problem:
    """The problem of two sizes that must be equal, at the node that requires it."""
    one, other = (named.get(name, name) for name in equal.names)
    ones = [named.get(name, name) for name in equal.ones]
    also = ", or one of them 1" if len(ones) > 1 else "".join(f", or `{name}` 1" for name in ones)
    also += (
        f", as must {counted(equal.other_pairs, 'more pair')} of sizes of different inputs" if equal.other_pairs else ""
    )
    are_of_two_inputs = values[0] is not values[1]
    of = f" of `{values[0].name}`" if are_of_two_inputs else ""
    message = f"`{one}`{of} and `{other}` of `{values[1].name}` are dynamic, but must be equal{also}"
    help = "correct the node that uses one size for the axis of the other, or give both axes the same name"
    if equal.computed:
        sizes = " and ".join(equal.computed)
        message = f"`{one}` and `{other}` of `{values[1].name}` are dynamic, but {sizes} must be equal"
        help = "correct the node that uses one size for the axis of the other"
    elif equal.symbols != frozenset(equal.names):
        message = f"`{one}` of `{values[0].name}` is dynamic, but must equal {other}{also}"
        help = correction(equal.demand.node, marks, makers) or "correct the node that joins the two sizes"
    fault = EQUAL_SIZES.fault(
        message,
        help=help,
        marks=marks,
        remark="have to be equal" if marks else "",
        notes=(note,),
        severity=Severity.NOTE if are_of_two_inputs else None,
    )
    return Problem(fault, equal.demand.graph, equal.demand.node, place=equal.demand.node.place)


def _dim_texts(given: Type | None) -> frozenset[str]:
    shape = given.shape if isinstance(given, Tensor) else None
    return frozenset(str(dim) for dim in shape or ())


def _equal_pairs(contract: Contract) -> Iterator[Equal]:
    for name, demand in contract.equal.items():
        for other in _symbol_name(contract.values.get(name)):
            yield Equal((name, other), demand, frozenset((name, other)))
    for each in contract.joint:
        main_relations = [relation for relation in each.relations if relation.right != 1]
        if len(main_relations) != 1 or not are_equalities(each.relations):
            continue
        relation = simplified(main_relations[0])
        if len(each.relations) == 1 and (symbol_pair := _symbols_of_same_computation(relation)):
            texts = str(relation.left), str(relation.right)
            yield Equal(symbol_pair, each.demand, frozenset(symbol_pair), computed=texts)
            continue
        sides = sorted((main_relations[0].left, main_relations[0].right), key=lambda side: not _symbol_name(side))
        own, others = _symbol_name(sides[0]), symbols(sides[1])
        if own and others and (_symbol_name(sides[1]) or own[0] not in others):
            ones = tuple(str(relation.left) for relation in each.relations if relation.right == 1)
            yield Equal((own[0], str(sides[1])), each.demand, frozenset((*own, *others)), ones)


def _symbols_of_same_computation(relation: Relation) -> tuple[str, str] | None:
    """The symbols of both sides, if each side is the same expression of another symbol."""
    left, right = symbols(relation.left), symbols(relation.right)
    if len(left) != 1 or len(right) != 1 or left == right or _symbol_name(relation.left):
        return None
    (one,), (other,) = left, right
    return (one, other) if substituted(relation.left, {one: symbol(other, 1)}) == relation.right else None


def _symbol_name(a: Dim | None) -> tuple[str, ...]:
    """The name of a size that is a single symbol, as a tuple; () for other sizes."""
    return (str(a),) if isinstance(a, Expr) and str(a) in symbols(a) else ()
