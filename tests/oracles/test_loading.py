"""The table of breaches that ONNX Runtime refuses in branches that never run is what it answers."""

from __future__ import annotations

from importlib.metadata import version

import pytest
from make import loading

#: The release that wrote the table.
RELEASE = "1.32"


@pytest.mark.oracle
@pytest.mark.skipif(not version("onnxruntime").startswith(RELEASE), reason="another release than the table is of")
def test_onnxruntime_refuses_what_the_table_says() -> None:
    written = loading.TABLE.read_text("ascii").splitlines()[1:]
    assert not set(written) - set(loading.rows()), "run tests/make/loading.py"
