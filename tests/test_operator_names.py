"""The name of an operator stands in the module that defines it, in what is written from there, and nowhere else."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from irlint.ops import index

PACKAGE = Path(__file__).resolve().parent.parent / "irlint"

#: By name, the modules of ``irlint/ops`` that may speak of it. A name of several words counts in lower case too.
HOMES: dict[str, set[str]] = {}
for table in (index.ONNX, index.OPENVINO, index.WITHOUT_RULE):
    for key, module in table.items():
        name = key.rpartition(":")[2]
        HOMES.setdefault(name, set()).add(module)
        if sum(letter.isupper() for letter in name) > 1:
            HOMES.setdefault(name.lower(), set()).add(module)

#: What is written by tests/make.
WRITTEN = {"ops/index.py", "parsers/openvino/operations.py"}

#: Names that may stand elsewhere, by module, with the reason.
EXCEPTIONS: dict[str, tuple[str, str]] = {}


def literals(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The texts of a module, with their lines, and the words of lists of names; without the names of type variables."""
    passed = {id(call.args[0]) for call in ast.walk(tree) if isinstance(call, ast.Call) and _is_type_variable(call)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in passed:
            words = node.value.split()
            if words and all(word in HOMES for word in words):
                yield from ((node.lineno, word) for word in words)


def _is_type_variable(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id == "TypeVar" and bool(call.args)


def strays(path: Path) -> list[str]:
    """The names of operators in a module that defines others."""
    place = path.relative_to(PACKAGE).as_posix()
    own = place.removeprefix("ops/").removesuffix(".py").replace("/", ".")
    allowed = EXCEPTIONS.get(place, ("", ""))[0].split()
    return [
        f"{place}:{line} {name}"
        for line, name in literals(ast.parse(path.read_text("utf-8")))
        if own not in HOMES[name] and name not in allowed
    ]


MODULES = [path for path in sorted(PACKAGE.rglob("*.py")) if path.relative_to(PACKAGE).as_posix() not in WRITTEN]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_names_of_operators_stand_where_these_are_defined(path: Path) -> None:
    assert strays(path) == []
