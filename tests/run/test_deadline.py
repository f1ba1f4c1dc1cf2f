"""What ends with its block, whenever the time is over."""

from __future__ import annotations

import signal
from contextlib import suppress

import pytest

from irlint.run.deadline import TimedOut, limited


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no such timers here")
def test_no_timer_is_left_behind_a_block() -> None:
    for at in range(3000):
        with suppress(TimedOut), limited(2e-6 + at % 60 * 1e-6):
            for _ in range(at % 37 * 40):
                pass
        assert signal.getitimer(signal.ITIMER_REAL)[0] == 0
