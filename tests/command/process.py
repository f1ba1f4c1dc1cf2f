"""The command in a process of its own, and the fixtures that tests of it read."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
GOOD = FIXTURES / "onnx" / "good" / "IRL201-broadcast-mismatch.onnx"
BAD = FIXTURES / "onnx" / "bad" / "IRL201-broadcast-mismatch.onnx"
WARNING = FIXTURES / "onnx" / "bad" / "IRL104-nodes-not-sorted.onnx"
IR = FIXTURES / "openvino" / "bad" / "IRL204-pdpd-broadcast-mismatch.xml"


def run(*arguments: object, cwd: Path | None = None, data: bytes = b"", **env: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "irlint", *map(str, arguments)]
    result = subprocess.run(command, input=data, capture_output=True, cwd=cwd, env={**os.environ, **env}, check=False)
    out, err = result.stdout.decode("utf-8", "replace"), result.stderr.decode("utf-8", "replace")
    assert "Traceback" not in out + err
    return subprocess.CompletedProcess(command, result.returncode, out, err)
