"""A key of the configuration is one row: what follows from it is written, and fits."""

from __future__ import annotations

from pathlib import Path

import pytest
from make import configuration as written

from irlint.command.options import CHECK, KINDS
from irlint.policy import configuration, reading
from irlint.policy.keys import KEYS, Key

EVERY = (*KEYS, *(part for key in KEYS for part in key.parts))


@pytest.mark.parametrize("path", written.WRITTEN, ids=lambda path: path.name)
def test_files_are_as_written(path: Path) -> None:
    assert path.read_text("utf-8") == written.WRITTEN[path](), "run tests/make/configuration.py"


@pytest.mark.parametrize("key", EVERY, ids=lambda key: key.name)
def test_kind_is_known(key: Key) -> None:
    assert key.kind in reading.KINDS
    assert key.kind in written.KINDS
    assert key.help
    assert key.option is None or key.kind in KINDS


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key.name)
def test_example_is_accepted(key: Key) -> None:
    text = f"[[{key.name}]]\n{key.example}" if key.parts else f"{key.name} = {key.example}"
    if key.kind in ("levels", "rules by glob"):
        text = f"[{key.name}]\n{key.example}"
    found = configuration.values(configuration.parsed(text, "irlint.toml"), text, "irlint.toml")
    assert found[key.name] != reading.KINDS[key.kind][1]
    assert {name for name in found if found[name] != configuration.values({}, "", "x")[name]} == {key.name}


def test_no_two_options_have_one_name() -> None:
    spellings = [flag for option in CHECK for flag in option.spellings]
    assert len(set(spellings)) == len(spellings)
    assert {"--fail-on", "--output", "-q"} < set(spellings)
