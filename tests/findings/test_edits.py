"""The texts of several edits."""

from __future__ import annotations

import pytest

from irlint.findings.edits import Edit, message

REMOVE = Edit("remove", node="n", index=1)
RENAME = Edit("rename", node="n", index=1, value="m")
CONNECTED = [Edit("input", "node", index=at, value="v", input=0, op="MatMul") for at in range(5)]


@pytest.mark.parametrize(
    ("edits", "text"),
    [
        ([REMOVE] * 2, 'remove node 1 "n", and remove node 1 "n"'),
        ([REMOVE] * 4, 'remove node 1 "n", and 3 more edits like it'),
        ([REMOVE, RENAME, RENAME, RENAME], 'remove node 1 "n", and 3 more edits'),
        (CONNECTED[:4], "connect `v` as input 0 in MatMul[0], and likewise in MatMul[1], MatMul[2] and MatMul[3]"),
        (CONNECTED, "connect `v` as input 0 in MatMul[0], and likewise in MatMul[1], MatMul[2], MatMul[3] and 1 more"),
    ],
)
def test_only_equal_kinds_of_edits_are_alike(edits: list[Edit], text: str) -> None:
    assert message(edits) == text
