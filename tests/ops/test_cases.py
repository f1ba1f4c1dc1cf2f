"""Every case: irlint answers what its line says."""

from __future__ import annotations

from pathlib import Path

import pytest
from cases.answers import answer, findings
from cases.notation import FOLDER, cases, files, groups, operator

GROUPS = {
    f"{path.relative_to(FOLDER).as_posix()}:{name}": (path, found) for path in files() for name, found in groups(path)
}


@pytest.mark.parametrize(("path", "numbered"), GROUPS.values(), ids=GROUPS)
def test_answers(path: Path, numbered: list[tuple[int, str]]) -> None:
    wrong = []
    for number, line in numbered:
        for case in cases(line):
            found = answer(case.model)
            if found != case.expected:
                place = f"{path.relative_to(FOLDER).as_posix()}:{number}"
                text = "".join(f"\n             {each}" for each in findings(case.model))
                wrong.append(f"{place}: {case.model}\n    expected {case.expected}\n    irlint   {found}{text}")
    assert not wrong, "\n" + "\n".join(wrong)


def test_an_attribute_among_the_inputs_is_reported() -> None:
    with pytest.raises(AssertionError, match="no element type: axis in axis=1; attributes stand behind ` ; `"):
        operator("onnx", "Softmax@13 float32[2,3] axis=1")


def test_what_is_found_separates_notes_from_warnings() -> None:
    custom = operator("onnx", "my.domain.Special@1 float32[2,3]")
    assert [text.partition(" irlint does")[0] for text in findings(custom)] == ["note (IRL502:node)"]
