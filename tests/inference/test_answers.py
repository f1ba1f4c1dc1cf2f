"""What a rule says that fails itself."""

from __future__ import annotations

import pytest

from irlint.binding.calls import Call
from irlint.inference.answers import ask
from irlint.model.tensor import Tensor
from irlint.ops import Operator
from irlint.ops.signatures import signature


def failing(x: Tensor) -> Tensor:
    raise ZeroDivisionError("of the rule's own")


CALL = Call("Failing", 1, Operator("Failing", 1, failing), signature=signature(failing), attributes={})


def test_a_rule_that_fails_is_a_fault_of_irlint_and_with_debug_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("IRLINT_DEBUG", raising=False)
    answer = ask(CALL, (Tensor("float32", (2,)),))
    assert answer.outputs is None
    assert [(fault.rule.code, fault.message) for fault in answer.faults] == [
        ("IRL599", """irlint's rule for it failed: ZeroDivisionError("of the rule's own")""")
    ]
    monkeypatch.setenv("IRLINT_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        ask(CALL, (Tensor("float32", (2,)),))
