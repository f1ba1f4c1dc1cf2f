"""Conditions on two sizes together: the reported ones hold for exactly the sizes for which all demands hold."""

from __future__ import annotations

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from irlint.contracts.assumptions import assumed
from irlint.contracts.contract import Contract, contract_of
from irlint.dims import Dim, Expr, MaybeDim, evaluated, floordiv, largest, smallest, symbol
from irlint.findings.statements import Relation, Requirement
from irlint.inference.known import Demand, Known
from irlint.model import Graph, Model, Node, Value
from irlint.model.formats import ONNX
from irlint.model.tensor import Tensor

LARGEST = 11
H, W = symbol("H"), symbol("W")


def sizes(depth: int) -> st.SearchStrategy[Dim]:
    leaves = st.one_of(st.sampled_from([H, W, H, W]), st.integers(-2, 8))
    if depth == 0:
        return leaves
    below = sizes(depth - 1)
    return st.one_of(
        leaves,
        st.builds(lambda a, b, factor: a + factor * b, below, below, st.integers(-2, 2)),
        st.builds(lambda a, b: a * b, below, below),
        st.builds(floordiv, below, st.integers(1, 4)),
        st.builds(lambda a, b: _known(smallest(a, b), a), below, below),
        st.builds(lambda a, b: _known(largest(a, b), a), below, below),
    )


def _known(found: MaybeDim, otherwise: Dim) -> Dim:
    return otherwise if found is None else found


broadcasts = st.builds(
    lambda a, b: (Relation("==", a, b), Relation("==", a, 1), Relation("==", b, 1)), sizes(1), sizes(1)
)
demands = st.one_of(
    broadcasts,
    st.builds(lambda kind, a, b: (Relation(kind, a, b),), st.sampled_from(["==", ">="]), sizes(2), sizes(1)),
    st.builds(lambda a, by: (Relation("%", a, by),), sizes(2), st.integers(1, 6)),
    st.builds(lambda a, b: (Relation("==", a, b),), st.sampled_from([H, W]), st.sampled_from([H, W, 1, 4])),
)


def contract(stated: list[tuple[Relation, ...]]) -> Contract:
    """The contract of a model whose one node demands all that is stated of its input [H, W]."""
    value = Value("x")
    node = Node("n", "Op", "", 17, (value,), ())
    model = Model("m.onnx", ONNX, "8", Graph("", "g", (value,), (), {}, (node,)))
    requires = tuple(Demand("", node, Requirement(each, "it is demanded")) for each in stated)
    return contract_of(Known(model, {value: Tensor("float32", (H, W))}, {}, requires=requires))


def holds(relation: Relation, known: dict[str, int]) -> bool:
    left, right = evaluated(relation.left, known), evaluated(relation.right, known)
    return {"==": left == right, ">=": left >= right, "%": bool(right) and left % (right or 1) == 0}[relation.kind]


@settings(max_examples=40)
@given(st.lists(demands, min_size=1, max_size=4))
def test_exactly_the_sizes_that_fulfil_all(stated: list[tuple[Relation, ...]]) -> None:
    found = contract(stated)
    returned = [
        (dim, found.simplified_size(dim))
        for dim in (H * W, H - W, smallest(H, 4), largest(H, W))
        if isinstance(dim, Expr)
    ]
    for height, width in product(range(1, LARGEST), repeat=2):
        known = {"H": height, "W": width}
        wanted = all(any(holds(each, known) for each in alternatives) for alternatives in stated)
        fulfilled = found.satisfiable and all(eval(each.text, dict(known)) for each in found.conditions)
        assert fulfilled == wanted, (known, [each.text for each in found.conditions])
        if wanted:
            for dim, text in returned:
                assert evaluated(text, known) == evaluated(dim, known)


@settings(max_examples=40)
@given(st.lists(demands, min_size=1, max_size=4))
def test_what_is_written_is_read(stated: list[tuple[Relation, ...]]) -> None:
    for condition in contract(stated).conditions:
        read = assumed(condition.text, ("H", "W"))
        for height, width in product(range(1, LARGEST), repeat=2):
            known = {"H": height, "W": width}
            try:
                wanted = eval(condition.text, dict(known))
            except ZeroDivisionError:
                continue
            assert all(any(holds(each, known) for each in alternatives) for alternatives in read) == wanted
