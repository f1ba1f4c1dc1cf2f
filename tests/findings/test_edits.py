"""The texts of several edits."""

from __future__ import annotations

import pytest

from irlint.findings.edits import Edit, message

REMOVE = Edit("remove", node="n", index=1)
RENAME = Edit("rename", node="n", index=1, value="m")


@pytest.mark.parametrize(
    ("edits", "text"),
    [
        ([REMOVE] * 2, 'remove node 1 "n", and remove node 1 "n"'),
        ([REMOVE] * 4, 'remove node 1 "n", and 3 more edits like it'),
        ([REMOVE, RENAME, RENAME, RENAME], 'remove node 1 "n", and 3 more edits'),
    ],
)
def test_only_equal_kinds_of_edits_are_alike(edits: list[Edit], text: str) -> None:
    assert message(edits) == text
