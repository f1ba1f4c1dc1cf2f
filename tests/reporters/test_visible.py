"""What reaches a terminal or a file: control characters are escaped in one place, whatever a reporter passes on."""

from __future__ import annotations

import pytest

from irlint.reporters.ansi import ROLES, painted
from irlint.reporters.plain import unheard, visible


def test_control_characters_are_escaped() -> None:
    text = "a\x1b[2Jb\x9bc\u202ed\re\n  f\x00\n"
    assert visible(text) == unheard(text) == "a\\x1b[2Jb\\x9bc\\u202ed\\re\n  f\\x00\n"
    assert visible(text, "markdown") == visible(text)
    assert visible("<a>\x1b\t\x85\u00a0</a>\n", "xml") == "<a>\\x1b\t\\x85\u00a0</a>\n"
    assert visible(text, "") == text


@pytest.mark.parametrize("role", ROLES)
def test_what_paints_a_text_stays(role: str) -> None:
    line = f"  {painted('name', role, True)} and {painted('other', 'dim', True)}\n"
    assert visible(line) == line
    assert visible(painted("x\x1b[8my\x1b]0;z\x07", role, True)) == painted("x\\x1b[8my\\x1b]0;z\\x07", role, True)
