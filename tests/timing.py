"""How long something takes, in CPU time: a machine that is busy makes it more, never less, so one of a few tries has to
be quick."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")

TRIES = 5


def within(seconds: float, act: Callable[[], Result]) -> Result:
    """What it gives, where this process needs no more CPU time than that for it."""
    for _ in range(TRIES):
        start = time.process_time()
        result = act()
        if time.process_time() - start < seconds:
            return result
    raise AssertionError(f"takes more than {seconds} seconds")


def grows_evenly(spent: Callable[[int], float], small: int, large: int) -> bool:
    """Whether ``spent`` gives at most twice as many seconds for each piece of a large work as for each of a small
    one."""
    return any(spent(large) < 2 * large / small * spent(small) + 0.1 for _ in range(TRIES))
