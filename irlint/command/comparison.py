"""``irlint diff``: compares two models, or prints one as text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from irlint.command.streams import emit, encoding, fail, reason
from irlint.lazy_typing import Any, NoReturn, TypeVar

Result = TypeVar("Result")


def compare(models: Sequence[str], options: Mapping[str, Any]) -> NoReturn:
    """Prints the differences of two models; ends with status 1 if the second cannot replace the first."""
    if len(models) != 2:
        fail(f"diff compares two models, and {len(models)} are named", "help: irlint diff OLD NEW")
    from irlint.run.comparison import diff_data

    found = _answered(lambda: diff_data(models[0], models[1]))
    if options["format"] == "json":
        import json

        emit(json.dumps(found, indent=2, ensure_ascii=False) + "\n", "utf-8", "json")
    elif options["format"] == "markdown":
        from irlint.reporters.diff import markdown

        emit(markdown(found), "utf-8", "markdown")
    else:
        from irlint.reporters.diff import rendered

        emit(rendered(found, encoding()))
    raise SystemExit(0 if found["compatible"] else 1)


def as_text(models: Sequence[str], options: Mapping[str, Any]) -> None:
    """Prints one model as lines of text for git."""
    if len(models) != 1:
        fail(f"--textconv prints one model, and {len(models)} are named", "help: irlint diff --textconv MODEL")
    if options["format"] != "text":
        fail(f"--textconv prints text, and excludes --format {options['format']}", "help: remove one of them")
    from irlint.run.textconv import text_of

    emit(_answered(lambda: text_of(models[0])), "utf-8")


def _answered(question: Callable[[], Result]) -> Result:
    """The result of a function; an OSError or ValueError ends the run with status 2."""
    try:
        return question()
    except FileNotFoundError as error:
        fail(f"no such file: {error.filename}")
    except OSError as error:
        fail(reason(error))
    except ValueError as error:
        fail(str(error))
