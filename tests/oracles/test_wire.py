"""What ONNX Runtime answers about the wire format of the cases."""

from __future__ import annotations

import pytest
from cases import wire

pytestmark = pytest.mark.oracle


def answer(data: bytes) -> str:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    try:
        onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    except Exception as error:
        return type(error).__name__
    return ""


@pytest.mark.parametrize("name", wire.REFUSED)
def test_refused(name: str) -> None:
    assert answer(wire.REFUSED[name]) == "InvalidProtobuf"


@pytest.mark.parametrize("name", wire.TAKEN)
def test_taken(name: str) -> None:
    assert answer(wire.TAKEN[name]) == ""


@pytest.mark.parametrize("name", wire.WRONG)
def test_wrong(name: str) -> None:
    assert answer(wire.WRONG[name][0]) not in ("", "InvalidProtobuf")
