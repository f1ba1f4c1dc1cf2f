"""What a wheel has: all that the tree has, except for docstrings, in less than 1.5 MB."""

from __future__ import annotations

import ast
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from package_index import UNREACHABLE

#: It needs a package index, which has what builds the wheel.
pytestmark = [pytest.mark.oracle, pytest.mark.together]

ROOT = Path(__file__).resolve().parent.parent

#: So many bytes may it have.
MOST = 1_500_000

#: The folders whose modules are as in the tree.
KEPT = ("irlint/findings/", "irlint/command/")

#: The nodes that have docstrings.
DOCUMENTED = (ast.FunctionDef, ast.ClassDef, ast.Module)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "-w", folder, ROOT]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if any(text in result.stdout + result.stderr for text in UNREACHABLE):
        pytest.skip("no package index is reached")
    assert result.returncode == 0, result.stderr
    (found,) = folder.glob("*.whl")
    return found


def test_it_is_small(wheel: Path) -> None:
    assert wheel.stat().st_size < MOST


def test_it_has_what_the_tree_has(wheel: Path) -> None:
    paths = (each for each in (ROOT / "irlint").rglob("*") if each.is_file() and "__pycache__" not in each.parts)
    names = [each.relative_to(ROOT).as_posix() for each in paths]
    with zipfile.ZipFile(wheel) as archive:
        assert sorted(each for each in archive.namelist() if each.startswith("irlint/")) == sorted(names)
        for name in names:
            source, shipped = (ROOT / name).read_bytes(), archive.read(name)
            if name.endswith(".py") and name.count("/") > 1 and not name.startswith(KEPT):
                assert statements(source) == statements(shipped), name
            else:
                assert source == shipped, name


def statements(module: bytes) -> list[tuple[int, str]]:
    """The statements of a module with their lines, except for all docstrings."""
    tree = ast.parse(module)
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node) and len(node.body) > 1:
            del node.body[0]
    return [(node.lineno, ast.dump(node)) for node in ast.walk(tree) if isinstance(node, ast.stmt)]
