"""What the compiled wheel is made of: the listed modules, their records written out."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from command.process import FIXTURES, run
from make import compiled

PACKAGE = compiled.ROOT / "irlint"

RECORDS = '''
from __future__ import annotations

from irlint.records import record

NONE: tuple[int, ...] = ()


@record
class Point:
    """A point."""

    x: int
    #: The other one.
    y: int = 3
    more: tuple[int, ...] = NONE

    def __post_init__(self) -> None:
        self.x += 1

    @property
    def sum(self) -> int:
        return self.x + self.y


@record(eq=False)
class Thing:
    """A thing, equal only to itself."""

    name: str


@record
class Named:
    name: str = "n"

    def __repr__(self) -> str:
        return f"<{self.name}>"


class Plain:
    size: int = 1
'''


def test_modules_are_there() -> None:
    assert [name for name in compiled.MODULES if not (PACKAGE / f"{name}.py").is_file()] == []
    assert len(set(compiled.MODULES)) == len(compiled.MODULES)


@pytest.mark.parametrize("name", compiled.MODULES)
def test_nothing_in_them_that_mypyc_makes_something_else_of(name: str) -> None:
    """It makes plain properties of cached ones, which are then worked out each time."""
    tree = ast.parse((PACKAGE / f"{name}.py").read_text("utf-8"))
    assert {each.id for each in ast.walk(tree) if isinstance(each, ast.Name)}.isdisjoint({"cached_property"})


def _made(source: str) -> Any:
    scope: dict[str, Any] = {"__name__": "m"}
    exec(compile(source, "m", "exec", dont_inherit=True), scope)
    return SimpleNamespace(**scope)


def test_records_written_out_are_as_those_that_the_decorator_makes() -> None:
    written = compiled.expanded(RECORDS)
    assert "@record" not in written
    plain, own = _made(RECORDS), _made(written)
    for made in (plain, own):
        one, other = made.Point(1), made.Point(x=1, y=3)
        assert (one.x, one.y, one.more, one.sum) == (2, 3, (), 5)
        assert one == other and hash(one) == hash(other) and one != made.Point(1, 4) and one != (2, 3, ())
        assert made.Point.__match_args__ == ("x", "y", "more")
        assert made.Point.__doc__ == "A point."
        assert made.Thing("a") != made.Thing("a")
        assert made.Plain.size == 1
        with pytest.raises(TypeError):
            made.Point(1, z=2)
    assert repr(plain.Point(1)) == repr(own.Point(1)) == "Point(x=2, y=3, more=())"
    assert repr(plain.Named()) == repr(own.Named()) == "<n>"


def test_a_module_without_records_is_left_as_it_is() -> None:
    source = (PACKAGE / "parsers" / "onnx" / "protobuf.py").read_text("utf-8")
    assert compiled.expanded(source) == source


@pytest.mark.slow
def test_what_is_compiled_says_the_same(tmp_path: Path) -> None:
    """As Python: whether the compiled modules do is tested on the wheel, by all tests."""
    compiled.copied(tmp_path)
    folders = [str(FIXTURES / name / "bad") for name in ("onnx", "openvino")]
    arguments = ["check", "--format", "json", "--isolated", *folders]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    found = subprocess.run(
        [sys.executable, "-m", "irlint", *arguments], cwd=tmp_path, env=environment, capture_output=True, check=False
    )
    assert (found.returncode, found.stdout.decode()) == (1, run(*arguments).stdout)
