"""What each broadcast rule makes of shapes: the answers of the kernels that a check uses, where each shape begins, and
what clashes."""

from __future__ import annotations

import pytest

from irlint.policy.shape_options import parsed_dims
from irlint.run.broadcasting import RULES, broadcast_data

#: A rule, its shapes, the axis if any, and the result, ``-`` where the rule refuses them; conditions behind ``if``.
CASES = """
multidirectional        | 1,64,56,56 64,1,1     | 1,64,56,56
multidirectional        | 1,64,56,56 32,1,1     | -
multidirectional        | 2,1 3 4,1,1           | 4,2,3
multidirectional        | N,3 M,3               | max(M, N)*min(M, N, 1),3 if N == M or N == 1 or M == 1
multidirectional        | N,? 4                 | N,4
unidirectional          | 1,3,4,4 3,1,1         | 1,3,4,4
unidirectional          | 3,1,1 4,3,4,4         | -
unidirectional          | 2,3 1,3               | 2,3
legacy                  | 2,3,4,5 3,4 @1        | 2,3,4,5
legacy                  | 2,3,4,5 4,5           | 2,3,4,5
legacy                  | 2,3,4,5 3,5 @1        | -
none                    | 2,3 2,3 2,3           | 2,3
none                    | 2,3 1,3               | -
numpy                   | 5,1 1,7               | 5,7
pdpd                    | 2,3,4,5 3,4 @1        | 2,3,4,5
pdpd                    | 2,3,4,5 3,4           | -
pdpd                    | 2,3,4,5 4,5           | 2,3,4,5
broadcast-numpy         | 3,1 2,3,4             | 2,3,4
broadcast-numpy         | 2,3,4 3,1             | -
broadcast-explicit      | 3 2,3,4 @1            | 2,3,4
broadcast-explicit      | 3 2,3,4 @2            | -
broadcast-bidirectional | 2,3,1 3,4             | 2,3,4
broadcast-bidirectional | 2,3 3,3               | -
""".strip().splitlines()


@pytest.mark.parametrize("line", CASES)
def test_answers(line: str) -> None:
    rule, asked, text = (each.strip() for each in line.split("|"))
    shapes, _, axis = asked.partition("@")
    found = broadcast_data([parsed_dims(each) for each in shapes.split()], int(axis) if axis else None, rule)["rules"][
        0
    ]
    result, _, conditions = text.partition(" if ")
    assert found["holds"] is (result != "-")
    if found["holds"]:
        assert ",".join(map(str, found["shape"])) == result
        assert found["requires"] == ([conditions] if conditions else [])
    else:
        assert found["message"] and found["help"]


def test_every_rule_is_tried_in_both_directions() -> None:
    tried = {(line.split("|")[0].strip(), line.endswith("-")) for line in CASES}
    assert {rule.name for rule in RULES} - {"numpy"} == {name for name, refused in tried if refused}
    assert {rule.name for rule in RULES} == {name for name, refused in tried if not refused}


def test_where_the_shapes_begin_and_what_clashes() -> None:
    found = {each["rule"]: each for each in broadcast_data([(2, 3, 4, 5), (3, 5)], 1)["rules"]}
    assert found["numpy"]["offsets"] == [0, 2]
    assert found["numpy"]["marks"] == [[0, 2], [1, 0]]
    assert found["pdpd"]["offsets"] == [0, 1]
    assert found["pdpd"]["marks"] == [[0, 2], [1, 1]]
    assert broadcast_data([(2, 3), (3,)], 9)["rules"][5]["offsets"] == [0, 1]


def test_what_a_rule_does_not_take() -> None:
    found = {each["rule"]: each for each in broadcast_data([(2, 3), (3,), ()])["rules"]}
    assert found["numpy"]["shape"] == [2, 3]
    assert (found["pdpd"]["holds"], found["pdpd"]["message"]) == (None, "pdpd takes 2 shapes, and there are 3")
    assert broadcast_data([(3,), (3,)])["rules"][7]["message"] == "broadcast-explicit needs --axis"
    with pytest.raises(ValueError, match="needs --axis"):
        broadcast_data([(3,), (3,)], rule="broadcast-explicit")
    with pytest.raises(ValueError, match="two shapes"):
        broadcast_data([(3,)])
