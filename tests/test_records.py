"""A record is made the same way, whether it is among the first of its class or one of many."""

from __future__ import annotations

import pytest

from irlint.records import FEW, record, replaced


def fresh() -> type:
    @record
    class Place:
        graph: str
        axis: int = 0
        names: tuple[str, ...] = ()

        def __post_init__(self) -> None:
            assert self.graph

    return Place


@pytest.mark.parametrize("before", [0, FEW - 1, FEW, FEW + 1])
def test_fields(before: int) -> None:
    place = fresh()
    for _ in range(before):
        place("g")
    made = place("a", 1, names=("x",))
    assert (made.graph, made.axis, made.names) == ("a", 1, ("x",))
    assert place("a") == place(graph="a", axis=0) != made
    assert repr(replaced(made, axis=2)) == "Place(graph='a', axis=2, names=('x',))"
    with pytest.raises(AssertionError):
        place("")


@pytest.mark.parametrize("before", [0, FEW + 1])
@pytest.mark.parametrize(
    ("positional", "named"),
    [((), {}), (("a", 0, (), 1), {}), (("a",), {"graph": "a"}), (("a",), {"axes": 1}), ((), {"axis": 1, "names": ()})],
)
def test_arguments_that_do_not_fit(before: int, positional: tuple[object, ...], named: dict[str, object]) -> None:
    place = fresh()
    for _ in range(before):
        place("g")
    with pytest.raises(TypeError):
        place(*positional, **named)
    assert place("a").graph == "a"
