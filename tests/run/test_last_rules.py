"""Which findings a fix may bring to light: those that are looked for only where nothing is an error."""

from __future__ import annotations

import pytest

from irlint.findings.report import CheckedFile
from irlint.run.files import Outcome
from irlint.run.fixing import _rules_without_errors


@pytest.mark.parametrize(("form", "codes"), [("openvino", {"IRL720"}), ("onnx", {"IRL901", "IRL902"})])
def test_rules_that_an_error_keeps_from_being_asked(form: str, codes: set[str]) -> None:
    assert codes <= {rule.code for rule in _rules_without_errors(Outcome(CheckedFile("model", form)))}
