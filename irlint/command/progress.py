"""What a run that lasts shows on a terminal, on standard error: a progress bar, or which file it is that takes so
long."""

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

#: A run has to last so many seconds before it has a bar, and draws it so often.
DELAY = 1.0
INTERVAL = 0.1

#: A file's name is shown with at most this many characters: the line must not be wrapped.
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
    """A bar of ``total`` steps, None for a number that is not known; it is taken away when it is closed."""

    def __init__(self, total: int | None) -> None:
        self.total = total
        self.due = time.monotonic() + DELAY
        self.shown: tuple[Progress, TaskID] | None = None

    def __call__(self, done: int) -> None:
        """Draws the bar with so many steps done, if it is time."""
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
        """Takes the bar away."""
        if self.shown is not None:
            self.shown[0].stop()
            self.shown = None


class Checking:
    """``checking NAME...`` once the only file of a run has taken its time; it is taken away when it is closed."""

    def __init__(self, name: str) -> None:
        self.text = f"checking {brief(name, WIDTH)}..."
        self.shown = False
        self.open = _thread.allocate_lock()
        self.open.acquire()
        self.ended = _thread.allocate_lock()
        self.ended.acquire()
        _thread.start_new_thread(self._wait, ())

    def __call__(self, done: int) -> None:
        """Nothing is counted of one file."""

    def _wait(self) -> None:
        self.shown = not self.open.acquire(timeout=DELAY)
        if self.shown:
            _write(f"\r{self.text}")
        self.ended.release()

    def close(self) -> None:
        """Takes the text away; to be called once."""
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
