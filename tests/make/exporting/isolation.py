"""A call in a process of its own, with a time limit: what it breaks or fills there is gone with the process."""

from __future__ import annotations

import multiprocessing
import re
import signal
from collections.abc import Callable
from typing import Any


def isolated(call: Callable[[], Any], seconds: int) -> Any:
    """What a call returns within so many seconds, or the text of why it has no answer."""
    context = multiprocessing.get_context("fork")
    answers, answer = context.Pipe(duplex=False)
    process = context.Process(target=_called, args=(call, seconds, answer))
    process.start()
    answer.close()
    try:
        found = answers.recv() if answers.poll(seconds) else "took too long"
    except EOFError:
        found = "the process died"
    process.kill()
    process.join()
    return found


def _called(call: Callable[[], Any], seconds: int, answer: Any) -> None:
    # The process ends by itself if the one that waits for it is gone.
    signal.alarm(seconds + 5)
    try:
        answer.send(call())
    except BaseException as error:
        text = re.sub(r"\x1b\[\d*m|\s+", " ", str(error)).strip()
        answer.send(f"{type(error).__name__}: {text[:300]}")
