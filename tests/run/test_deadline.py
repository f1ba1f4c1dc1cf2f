"""What ends with its block, whenever the time is over."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

#: In a process of its own: where OpenVINO has run a model, some systems end the process at its next signal.
MANY_TIMES = """
import signal
from contextlib import suppress
from irlint.run.deadline import TimedOut, time_limit
for at in range(3000):
    with suppress(TimedOut), time_limit(2e-6 + at % 60 * 1e-6):
        for _ in range(at % 37 * 40):
            pass
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0
"""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no such timers here")
def test_no_timer_is_left_behind_a_block() -> None:
    subprocess.run([sys.executable, "-c", MANY_TIMES], check=True, timeout=300)
