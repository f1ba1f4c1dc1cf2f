"""Every case of an operator: irlint answers what its line says."""

from __future__ import annotations

from pathlib import Path

import pytest
from cases.answers import answer
from cases.notation import FOLDER, cases, files, lines

FILES = [path for path in files() if path.parent != FOLDER]
BY_OPERATOR: dict[tuple[Path, str], list[tuple[int, str]]] = {}
for path in FILES:
    for number, line in lines(path):
        BY_OPERATOR.setdefault((path, line.split("@", 1)[0]), []).append((number, line))


def place(path: Path) -> str:
    return path.relative_to(FOLDER).as_posix()


@pytest.mark.parametrize(("path", "name"), BY_OPERATOR, ids=[f"{place(path)}:{name}" for path, name in BY_OPERATOR])
def test_answers(path: Path, name: str) -> None:
    wrong = []
    for number, line in BY_OPERATOR[path, name]:
        for case in cases(line):
            found = answer(case.model)
            if found != case.expected:
                wrong.append(
                    f"{place(path)}:{number}: {case.model}\n    expected {case.expected}\n    irlint   {found}"
                )
    assert not wrong, "\n" + "\n".join(wrong)
