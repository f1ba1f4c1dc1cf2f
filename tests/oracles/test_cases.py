"""Every line of the cases: the engines say of its model what irlint answers, or what the line says of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from cases.models import document
from cases.notation import FOLDER, Case, cases, files, lines
from oracles.agreement import ENGINES, differing
from oracles.worker import answers

#: OpenVINO takes ten times as long as the others.
PARTS = [("inference", 0, 1), ("onnxruntime", 0, 1), *(("openvino", part, 3) for part in range(3))]


@pytest.mark.oracle
@pytest.mark.parametrize(("engine", "part", "parts"), PARTS, ids=[f"{name}-{part}" for name, part, _ in PARTS])
def test_engine(engine: str, part: int, parts: int) -> None:
    asked = {place: case for place, case in _every() if engine in ENGINES[case.model.format]}
    mine = dict(list(asked.items())[part::parts])
    wrong = [text for place, said in _said(engine, mine) if (text := _difference(engine, place, mine[place], said))]
    assert not wrong, "\n" + "\n".join(wrong)


def _every() -> Iterator[tuple[str, Case]]:
    for path in files():
        for number, line in lines(path):
            for place, case in enumerate(cases(line)):
                yield f"{path.relative_to(FOLDER).as_posix()}:{number}.{place}", case


def _said(engine: str, asked: dict[str, Case]) -> list[tuple[str, str]]:
    return list(zip(asked, answers(engine, [document(case.model) for case in asked.values()]), strict=True))


def _difference(engine: str, place: str, case: Case, said: str) -> str:
    found, expected = differing(engine, case.expected, said), case.engines.get(engine, "agrees").replace("agrees", "")
    if found == expected:
        return ""
    return f"{place}: {case.model} -> {case.expected}\n    expected of {engine}: {expected or 'the same'}\n    it says: {said}"
