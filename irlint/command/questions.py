"""A question about one model: what is asked, in the form that the options name."""

from __future__ import annotations

import os
from collections.abc import Callable

from irlint.command.streams import emit, encoding, fail
from irlint.lazy_typing import Any


def answer(asked: Callable[[], Any], rendered: Callable[[Any, str], str], model: str, form: str) -> None:
    """Prints what is asked of a model; ends the run with status 2 where that is unknown."""
    try:
        found = asked()
    except FileNotFoundError:
        fail(f"no such file: {model}")
    except OSError as error:
        fail(f"{model}: {error.strerror}")
    except ValueError as error:
        fail(f"{model}: {error}", *getattr(error, "helps", ()))
    if form == "json":
        import json

        emit(json.dumps(found, indent=2, ensure_ascii=False) + "\n", "utf-8", "json")
        return
    emit(rendered(found, encoding()))


def targets(model: str, form: str = "text") -> None:
    """``irlint targets MODEL``."""
    from functools import partial

    from irlint.reporters.targets import rendered
    from irlint.run.targets import taken

    answer(partial(taken, model), rendered, model, form)


def summary(file: str, form: str) -> None:
    """``irlint summary FILE``."""
    from irlint.command.streams import notify
    from irlint.reporters import statistics
    from irlint.run import journal

    try:
        found, is_whole = journal.tally(file)
    except FileNotFoundError:
        fail(f"no such file: {file}")
    except OSError as error:
        fail(f"{file}: {error.strerror}")
    except journal.BrokenJournal as error:
        fail(f"{file} is no journal of a check: {error}", "help: `irlint check --format jsonl` writes one")
    if not is_whole:
        notify(f"note: {file} is of a run that was cut off, or lasts; --resume {file} goes on with it")
    if form == "json":
        emit(statistics.document(found), "utf-8", "json")
    elif form == "html":
        emit(statistics.page(found, f"irlint: {os.path.basename(file)}"), "utf-8", "xml")
    else:
        emit(statistics.headline(found) + statistics.rendered(found))
