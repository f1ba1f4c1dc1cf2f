"""Random IRs: irlint against OpenVINO, in processes that the library may bring down."""

from __future__ import annotations

import subprocess
import sys

import pytest
from oracles.random_irs import TESTS

pytestmark = pytest.mark.oracle

SEED = 20
COUNT = 1000


@pytest.mark.parametrize("part", range(3))
def test_random_irs(part: int) -> None:
    command = [sys.executable, "-m", "oracles.random_irs", "--seed", str(SEED + part), "--count", str(COUNT)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=TESTS)
    assert done.stdout.endswith(f"# {COUNT} cases, 0 differences\n"), done.stdout
