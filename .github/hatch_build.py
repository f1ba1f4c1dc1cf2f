"""Leaves docstrings and comments that nobody reads in an installed irlint out of its wheel."""

from __future__ import annotations

import ast
import io
import tokenize
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

#: The folders of ``irlint`` whose docstrings and comments stay: those of the Python interface, and the helps of the
#: commands. The modules beside the folders keep theirs, too.
KEPT = ("findings", "command")

#: The nodes that have docstrings.
DOCUMENTED = (ast.FunctionDef, ast.ClassDef, ast.Module)


class Wheel(BuildHookInterface):  # type: ignore[type-arg, misc]
    """Puts a changed copy of each module into the wheel; an editable installation keeps the modules of the tree."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        self.copies = TemporaryDirectory()
        for module in Path(self.root, "irlint").glob("*/**/*.py") if version == "standard" else ():
            name = module.relative_to(self.root)
            if name.parts[1] in KEPT:
                continue
            copy = Path(self.copies.name, name)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(stripped(module.read_bytes()))
            build_data["force_include"][str(copy)] = name.as_posix()

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        self.copies.cleanup()


def stripped(module: bytes) -> bytes:
    """A module with empty lines in place of comments and docstrings, so that every statement keeps its line.

    A docstring that is the only statement stays, and a comment beside a statement.
    """
    lines = module.splitlines(keepends=True)
    for token in tokenize.tokenize(io.BytesIO(module).readline):
        if token.type == tokenize.COMMENT and not token.line[: token.start[1]].strip():
            lines[token.start[0] - 1] = b"\n"
    for node in ast.walk(ast.parse(module)):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node) and len(node.body) > 1:
            docstring, following = node.body[:2]
            end = docstring.end_lineno or docstring.lineno
            if following.lineno > end:
                lines[docstring.lineno - 1 : end] = [b"\n"] * (end - docstring.lineno + 1)
    return b"".join(lines)
