"""The commands `info`, `targets`, `explain` and `summary`, and the answer to a question about one model."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence

from irlint.command.streams import emit, encoding, fail
from irlint.lazy_typing import Any
from irlint.records import NOTHING


def answer(question: Callable[[], Any], rendered: Callable[[Any, str], str], model: str, form: str) -> None:
    """Prints the answer to a question about a model, as JSON or as the text that ``rendered`` returns."""
    _emit(answered(question, model), rendered, form)


def _emit(found: Any, rendered: Callable[[Any, str], str], form: str) -> None:
    if form == "json":
        import json

        emit(json.dumps(found, indent=2, ensure_ascii=False) + "\n", "utf-8", "json")
        return
    emit(rendered(found, encoding()))


def answered(question: Callable[[], Any], model: str) -> Any:
    """The answer to a question about a model; an OSError or ValueError ends the run with status 2."""
    try:
        return question()
    except FileNotFoundError:
        fail(f"no such file: {model}")
    except OSError as error:
        fail(f"{model}: {error.strerror}")
    except ValueError as error:
        fail(f"{model}: {error}", *getattr(error, "helps", ()))


def info(model: str, options: Mapping[str, Any]) -> None:
    """Runs ``irlint info`` for a model or a folder."""
    import sys
    from functools import partial

    from irlint.command.settings import configured_shapes
    from irlint.reporters.ansi import colored
    from irlint.reporters.info import markdown, rendered
    from irlint.run.info import folder_info_data, info_data

    shapes = configured_shapes(options)

    def question() -> dict[str, Any]:
        if os.path.isdir(model):
            return folder_info_data(model, shapes)
        return info_data(model, **shapes(model))

    if options["format"] == "markdown":
        emit(markdown(answered(question, model)), "utf-8", "markdown")
        return
    answer(question, partial(rendered, color=colored("auto", sys.stdout)), model, options["format"])


def targets(model: str, form: str = "text", named: Sequence[str] = (), more: Mapping[str, Any] = NOTHING) -> int:
    """Runs ``irlint targets MODEL`` and returns its exit status: 1 if a named release refuses the model.

    ``more`` has further keyword arguments for ``irlint.run.targets.targets_data``.
    """
    from irlint.run.targets import targets_data

    found = answered(lambda: targets_data(model, named=named, **more), model)
    if form == "markdown":
        from irlint.reporters.targets import markdown

        emit(markdown(found), "utf-8", "markdown")
    elif form == "html":
        from irlint.reporters.html.targets import rendered as page

        emit(page(found), "utf-8", "xml")
    else:
        from irlint.reporters.targets import rendered

        _emit(found, rendered, form)
    return int(bool(named) and any(target["verdict"] == "refused" for target in found["targets"]))


def explanation(name: str | None, columns: int | None = None, *, color: bool = False) -> str:
    """The text of ``irlint explain``: a page, the rules of a family, or all topics and families."""
    from irlint.policy.rulebook import closest, every_rule, named
    from irlint.reporters import guide
    from irlint.reporters.pages import WIDTH, family, page

    rules = every_rule()
    if name is None:
        return guide.contents(rules, color=color)
    found = [rule for rule in rules if named(rule, name)]
    topic = None if found else guide.topic(name)
    if topic is not None:
        return guide.page(topic, columns or WIDTH, color=color)
    if not found:
        close = closest(name, [*guide.TOPICS, *(text for rule in rules for text in (rule.code, rule.name))])
        hint = f", did you mean {close!r}?" if close else ""
        fail(
            f"unknown rule or topic {name!r}{hint}",
            "help: `irlint explain` lists every topic, and `irlint rules` every rule",
        )
    if len(found) == 1:
        return page(found[0], columns or WIDTH, color=color)
    return family(name.upper(), found, columns, color=color)


def summary(file: str, form: str) -> None:
    """Runs ``irlint summary FILE``."""
    from irlint.command.streams import notify
    from irlint.reporters import statistics
    from irlint.run import journal

    try:
        found, is_complete = journal.tally(file)
    except FileNotFoundError:
        fail(f"no such file: {file}")
    except OSError as error:
        fail(f"{file}: {error.strerror}")
    except journal.BrokenJournal as error:
        fail(f"{file} is no journal of a check: {error}", "help: `irlint check --format jsonl` writes one")
    if not is_complete:
        notify(f"note: {file} is from a run that was interrupted or still runs; --resume {file} continues it")
    if form == "json":
        emit(statistics.document(found), "utf-8", "json")
    elif form == "html":
        emit(statistics.page(found, f"irlint: {os.path.basename(file)}"), "utf-8", "xml")
    else:
        emit(statistics.headline(found) + statistics.rendered(found))
