"""``irlint/ops/shared`` lists the functions that many rules use, as they are."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

from irlint.ops import shared

PACKAGE = Path(shared.__file__).parents[2]
FOLDER = Path(shared.__file__).parent

#: A function that so many modules outside import is listed.
MANY = 3

LISTED = set(re.findall(r"^``(\w+\.\w+)``: \S", shared.__doc__ or "", re.MULTILINE))


def public() -> set[str]:
    """The public functions of all modules, as ``module.function``."""
    return {
        f"{path.stem}.{each.name}"
        for path in FOLDER.glob("*.py")
        for each in ast.parse(path.read_text("utf-8")).body
        if isinstance(each, ast.FunctionDef) and not each.name.startswith("_")
    }


def users() -> dict[str, set[Path]]:
    """By function, the modules outside that import it."""
    found: dict[str, set[Path]] = defaultdict(set)
    for path in PACKAGE.rglob("*.py"):
        imports = ast.walk(ast.parse(path.read_text("utf-8"))) if path.parent != FOLDER else ()
        for each in imports:
            if isinstance(each, ast.ImportFrom) and (each.module or "").startswith(shared.__name__ + "."):
                for alias in each.names:
                    found[f"{(each.module or '').rpartition('.')[2]}.{alias.name}"].add(path)
    return found


def test_every_function_that_is_listed_exists() -> None:
    assert len(LISTED) > 50
    assert public() >= LISTED


def test_every_function_that_many_modules_use_is_listed() -> None:
    many = {name for name, paths in users().items() if len(paths) >= MANY}
    assert sorted(many & public() - LISTED) == []
