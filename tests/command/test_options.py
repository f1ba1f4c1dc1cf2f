"""The options as a table: what click makes of it is what a plain check understands without click."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import pytest

from irlint.command import check as session
from irlint.command import cli
from irlint.command.arguments import plain_check
from irlint.command.options import CHECK, DEFAULTS, KINDS, WITHOUT_KEY
from irlint.policy.keys import KEYS

#: Kinds of options whose values are texts as they are.
TEXTS = set(KINDS) - {"flag", "switch", "choice", "number", "axis"}

PLAIN = [
    ["m.onnx"],
    ["check", "m.onnx", "-q"],
    ["m.onnx", "--", "-v"],
    ["a.onnx", "b.xml", "--format", "sarif", "--format", "json"],
    *([*option.spellings[:1], "m.onnx"] for option in CHECK if option.kind == "flag"),
    *([option.flag, value, "m.onnx"] for option in CHECK if option.kind == "choice" for value in option.values),
    *([option.flag, "a,b", option.flag, "-v", "m"] for option in CHECK if option.kind in TEXTS),
    *([spelling, "m.onnx"] for option in CHECK if option.kind == "switch" for spelling in (option.flag, option.twin)),
]


def heard(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> tuple[tuple[str, ...], Mapping[str, Any]]:
    """What a check is called with where click reads the arguments."""
    calls: list[tuple[tuple[str, ...], Mapping[str, Any]]] = []
    monkeypatch.setattr(session, "check", lambda paths, options: calls.append((tuple(paths), options)))
    cli.commands.main(arguments, standalone_mode=False)
    return calls[0]


@pytest.mark.parametrize("arguments", PLAIN, ids=" ".join)
def test_plain_check_is_read_as_click_reads_it(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    plain = plain_check(arguments)
    assert plain is not None
    assert plain == heard(arguments, monkeypatch)


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["rules"],
        ["-qv", "m"],
        ["--jobs", "2", "m"],
        ["m", "--select"],
        ["-", "m"],
        ["--format=json", "m"],
        ["--format", "x", "m"],
    ],
)
def test_left_to_click(arguments: list[str]) -> None:
    assert plain_check(arguments) is None


def test_defaults_are_those_of_click(monkeypatch: pytest.MonkeyPatch) -> None:
    assert heard(["m.onnx"], monkeypatch) == (("m.onnx",), DEFAULTS)


def test_every_row_is_an_option() -> None:
    assert set(WITHOUT_KEY) < set(CHECK)
    assert {key.option.name for key in KEYS if key.option} < {option.name for option in CHECK}


def test_empty_argument_is_no_option() -> None:
    assert plain_check(["", "m.onnx"]) == (("", "m.onnx"), DEFAULTS)


def test_plain_check_starts_without_click() -> None:
    code = (
        "import sys; sys.argv = ['irlint', 'gone.onnx', '-q', '--fail-on', 'never']\n"
        "from irlint.command.entry import main\n"
        "try: main()\n"
        "except SystemExit as ended: sys.exit(ended.code + 10 * ('click' in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 2
