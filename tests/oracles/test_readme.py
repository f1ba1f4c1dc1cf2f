"""What README.md quotes of the engines is what they say."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from make.terminal import MODEL

pytestmark = pytest.mark.oracle

ROOT = Path(__file__).resolve().parents[2]


def refused_by_onnxruntime(path: str) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    onnxruntime.InferenceSession(path)


def refused_by_the_checker(path: str) -> None:
    import onnx

    onnx.checker.check_model(path, full_check=True)


def refused_by_openvino(path: str) -> None:
    openvino = pytest.importorskip("openvino")
    openvino.Core().read_model(path)


ASKED: dict[str, Callable[[str], None]] = {
    "ONNX Runtime": refused_by_onnxruntime,
    "`onnx.checker`": refused_by_the_checker,
    "OpenVINO": refused_by_openvino,
}


@pytest.mark.parametrize("engine", ASKED)
def test_quotes_are_real(engine: str) -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    (answer,) = re.findall(rf"^\| {re.escape(engine)} \| (.*) \|$", readme.partition("## ")[0], re.M)
    quotes = re.findall("`([^`]+)`", answer)
    with pytest.raises(Exception, match=re.escape(quotes[-1])) as caught:
        ASKED[engine](str(ROOT / MODEL))
    assert all(quote in str(caught.value) for quote in quotes)
