"""The progress of a long run on the terminal of standard error: a progress bar, or the name of the only file."""

from __future__ import annotations

import _thread
import os
import sys
import time
from collections.abc import Mapping

from irlint.lazy_typing import TYPE_CHECKING, TextIO
from irlint.reporters.plain import brief

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

#: The seconds until a run shows its bar, and between two updates of the bar.
DELAY = 1.0
INTERVAL = 0.1

#: The name of a file is shown with at most this many characters, so that the line does not wrap.
WIDTH = 60


def wanted(stream: TextIO | None, environment: Mapping[str, str] = os.environ) -> bool:
    """Whether to show a progress bar: only on a terminal that can draw one."""
    if environment.get("CI") or environment.get("PRE_COMMIT") or environment.get("TERM") == "dumb":
        return False
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        return False


class Bar:
    """A progress bar of ``total`` steps, None if their number is unknown; ``close`` removes it."""

    def __init__(self, total: int | None) -> None:
        self.total = total
        self.due = time.monotonic() + DELAY
        self.shown: tuple[Progress, TaskID] | None = None

    def __call__(self, done: int) -> None:
        """Draws the bar with ``done`` steps, if it is due."""
        now = time.monotonic()
        if now < self.due:
            return
        self.due = now + INTERVAL
        if self.shown is None:
            self.shown = _started(self.total)
        progress, task = self.shown
        progress.update(task, completed=done)
        progress.refresh()

    def close(self) -> None:
        """Removes the bar."""
        if self.shown is not None:
            self.shown[0].stop()
            self.shown = None


class Checking:
    """The text ``checking NAME...``, which appears if the only file of a run takes long; ``close`` removes it."""

    def __init__(self, name: str) -> None:
        self.text = f"checking {brief(name, WIDTH)}..."
        self.shown = False
        self.open = _thread.allocate_lock()
        self.open.acquire()
        self.ended = _thread.allocate_lock()
        self.ended.acquire()
        _thread.start_new_thread(self._wait, ())

    def __call__(self, done: int) -> None:
        """Does nothing, because the steps of one file are not counted."""

    def _wait(self) -> None:
        self.shown = not self.open.acquire(timeout=DELAY)
        if self.shown:
            _write(f"\r{self.text}")
        self.ended.release()

    def close(self) -> None:
        """Removes the text. To be called exactly once."""
        self.open.release()
        self.ended.acquire()
        if self.shown:
            _write("\r\x1b[2K")


def _write(text: str) -> None:
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except (OSError, ValueError):
        return


def _started(total: int | None) -> tuple[Progress, TaskID]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("Checking"), BarColumn(), MofNCompleteColumn(), TextColumn("models"))
    console = Console(file=sys.stderr)
    progress = Progress(*columns, console=console, transient=True, auto_refresh=False)
    task = progress.add_task("", total=total)
    progress.start()
    return progress, task
