"""The progress of a long run on a terminal: a bar that counts files, or the name of the only file."""

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

#: The seconds until a run shows its progress.
DELAY = 1.0

#: The seconds between two updates of the bar.
INTERVAL = 0.1

#: Names of files are shortened to this many characters.
WIDTH = 60


def wanted(stream: TextIO | None, environment: Mapping[str, str] = os.environ) -> bool:
    """Whether to show progress: on a terminal that can move its cursor, but not in CI or pre-commit."""
    if environment.get("CI") or environment.get("PRE_COMMIT") or environment.get("TERM") == "dumb":
        return False
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        return False


class Bar:
    """A progress bar for ``total`` files; None means that the number is unknown."""

    def __init__(self, total: int | None) -> None:
        self.total = total
        self.due = time.monotonic() + DELAY
        self.shown: tuple[Progress, TaskID] | None = None

    def __call__(self, done: int) -> None:
        """Draws the bar with ``done`` finished files. Draws first after DELAY, and at most once per INTERVAL."""
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
    """The text ``checking NAME...`` about the only file of a run, shown after DELAY."""

    def __init__(self, name: str) -> None:
        self.text = f"checking {brief(name, WIDTH)}..."
        self.shown = False
        #: Locked until ``close`` is called.
        self.closing = _thread.allocate_lock()
        self.closing.acquire()
        #: Locked until the thread ends.
        self.ended = _thread.allocate_lock()
        self.ended.acquire()
        _thread.start_new_thread(self._show_after_delay, ())

    def __call__(self, done: int) -> None:
        """Does nothing, because there is only one file to count."""

    def _show_after_delay(self) -> None:
        self.shown = not self.closing.acquire(timeout=DELAY)
        if self.shown:
            _write_to_stderr(f"\r{self.text}")
        self.ended.release()

    def close(self) -> None:
        """Ends the thread and removes the text. May be called only once."""
        self.closing.release()
        self.ended.acquire()
        if self.shown:
            _write_to_stderr("\r\x1b[2K")


def _write_to_stderr(text: str) -> None:
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except (OSError, ValueError):
        return


def _started(total: int | None) -> tuple[Progress, TaskID]:
    """A progress bar and its task. Only ``refresh`` draws the bar."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("Checking"), BarColumn(), MofNCompleteColumn(), TextColumn("models"))
    console = Console(file=sys.stderr)
    progress = Progress(*columns, console=console, transient=True, auto_refresh=False)
    task = progress.add_task("", total=total)
    progress.start()
    return progress, task
