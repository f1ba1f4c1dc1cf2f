"""The forms of a report, one row each. The command, the configuration and the guide make their lists from these
rows."""

from __future__ import annotations

from irlint.findings.report import Report
from irlint.lazy_typing import Any
from irlint.records import record


@record
class Form:
    """One form of a report. The function ``rendered`` of the module with its name returns the text.

    * ``takes``: the arguments of this function beside the report: ``color``, ``columns`` and ``encoding`` of the
      output, ``every`` (all findings in full), and the options ``quiet`` and ``fail_on``.
    * ``whole``: the form lists consequences as findings of their own, and states the inputs of nodes; if False, it
      lists only root findings, each with its consequences.
    * ``document``: the output is for programs: UTF-8, and the same bytes everywhere.
    * ``drawn``: the form shows the snippets of findings.
    * ``has_fixes``: the suggested fixes are included. Forms that are ``drawn`` or ``whole`` always include them.
    * ``silenced``: the suppressed findings are included.
    * ``facts``: facts about the models are included.
    * ``page``: the environment variable that names a file; the ``page`` of the module is appended to this file.
    * ``suffixes``: the suffixes of files with this form.
    * ``notation``: how to escape names that a log would take for commands (a key of ``ESCAPED`` in ``plain``); "" if
      the module escapes them itself.
    * ``streamed``: on standard output, the part about a file is written as soon as its check ends.
    """

    name: str
    purpose: str
    takes: tuple[str, ...] = ()
    document: bool = False
    whole: bool = False
    drawn: bool = False
    has_fixes: bool = False
    silenced: bool = False
    facts: bool = False
    page: str = ""
    suffixes: tuple[str, ...] = ()
    notation: str = "text"
    streamed: bool = False

    def rendered(self, report: Report, **settings: Any) -> str:
        """The text of a report. The form receives those ``settings`` that it ``takes``."""
        shown = report if self.whole else report.folded()
        text: str = self._module().rendered(shown, **{name: settings[name] for name in self.takes})
        return text

    def paged(self, report: Report, before: int) -> str:
        """The page for a report; the file already has ``before`` bytes."""
        module = self._module()
        text: str = module.page(report.folded(), module.PAGE - before)
        return text

    def _module(self) -> Any:
        from importlib import import_module

        return import_module(f"irlint.reporters.{self.name}")


ROWS = (
    Form(
        "text",
        "people: findings in full, at most ten for each rule and file; equal findings appear once; `-v` shows all",
        takes=("color", "every", "quiet", "columns", "encoding"),
        drawn=True,
        suffixes=(".txt",),
    ),
    Form("concise", "people, and editors: a line for each finding", takes=("quiet",)),
    Form(
        "json",
        "scripts: the findings and the files of the run",
        document=True,
        notation="json",
        whole=True,
        suffixes=(".json",),
    ),
    Form(
        "jsonl",
        "very many models: one line per finding and one line per file, each written as soon as it is known",
        document=True,
        notation="json",
        whole=True,
        suffixes=(".jsonl",),
        streamed=True,
    ),
    Form(
        "sarif",
        "code scanning: SARIF 2.1.0",
        document=True,
        has_fixes=True,
        notation="json",
        silenced=True,
        suffixes=(".sarif", ".sarif.json"),
    ),
    Form(
        "github",
        "GitHub: annotations; the log and the summary of the step contain every finding in full, folded",
        document=True,
        notation="",
        drawn=True,
        page="GITHUB_STEP_SUMMARY",
    ),
    Form(
        "gitlab",
        "GitLab's merge requests: a Code Quality report",
        document=True,
        notation="json",
        drawn=True,
        suffixes=("gl-code-quality-report.json",),
    ),
    Form(
        "junit",
        "test reports: a suite for each model",
        takes=("fail_on",),
        document=True,
        notation="xml",
        drawn=True,
        suffixes=(".xml",),
    ),
    Form(
        "html",
        "people in a browser: one file with graphs, shapes, contracts and targets",
        document=True,
        notation="xml",
        drawn=True,
        facts=True,
        suffixes=(".html", ".htm"),
    ),
    Form(
        "markdown",
        "comments: a table, and every finding in full, folded",
        document=True,
        notation="markdown",
        drawn=True,
        suffixes=(".md",),
    ),
)

FORMS = {form.name: form for form in ROWS}


def by_name(file: str) -> Form | None:
    """The form with the longest suffix that the name of a file ends with; None if there is no such form."""
    fitting = [(len(end), form) for form in ROWS for end in form.suffixes if file.lower().endswith(end)]
    return max(fitting, key=lambda each: each[0])[1] if fitting else None
