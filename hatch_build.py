"""Leaves the docstrings of private functions and classes out of a wheel, a twentieth of its size."""

from __future__ import annotations

import ast
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Wheel(BuildHookInterface):  # type: ignore[type-arg, misc]
    """Puts a changed copy of each module into the wheel; an editable installation keeps the modules of the tree."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        self.copies = TemporaryDirectory()
        for module in Path(self.root, "irlint").rglob("*.py") if version == "standard" else ():
            name = module.relative_to(self.root)
            copy = Path(self.copies.name, name)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(stripped(module.read_bytes()))
            build_data["force_include"][str(copy)] = name.as_posix()

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        self.copies.cleanup()


def stripped(module: bytes) -> bytes:
    """A module with empty lines in place of the docstrings, so that every statement keeps its line."""
    lines = module.splitlines(keepends=True)
    for node in ast.walk(ast.parse(module)):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name.startswith("_") and ast.get_docstring(node):
            docstring, *others = node.body
            if others and not node.name.endswith("__"):
                lines[docstring.lineno - 1 : docstring.end_lineno] = [b"\n"] * _height(docstring)
    return b"".join(lines)


def _height(statement: ast.stmt) -> int:
    return (statement.end_lineno or statement.lineno) - statement.lineno + 1
