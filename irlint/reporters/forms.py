"""The table of the forms of a report, such as text, JSON and SARIF."""

from __future__ import annotations

from irlint.findings.report import Report
from irlint.lazy_typing import Any
from irlint.records import record


@record
class Form:
    """One form of a report, rendered by the function ``rendered`` of the module ``name``."""

    name: str
    purpose: str
    #: The names of the arguments of the function ``rendered`` after the report.
    takes: tuple[str, ...] = ()
    #: Whether the output is for programs: UTF-8, and the same bytes everywhere.
    document: bool = False
    #: Whether consequences are listed as findings, and findings have the inputs of their nodes.
    lists_consequences: bool = False
    #: Whether findings have snippets.
    drawn: bool = False
    #: Whether findings have fixes. They also have fixes if the form is ``drawn`` or ``lists_consequences``.
    has_fixes: bool = False
    #: Whether suppressed findings are included.
    silenced: bool = False
    #: Whether facts about the models are included.
    facts: bool = False
    #: The name of an environment variable with the path of a file. The ``page`` of the module is appended to this file.
    page: str = ""
    #: The suffixes of files with this form.
    suffixes: tuple[str, ...] = ()
    #: The notation in which CI commands are escaped, a key of ``plain.ESCAPED``; "" if the module itself escapes them.
    notation: str = "text"
    #: Whether the part about a file is written to standard output as soon as the check of the file ends.
    streamed: bool = False

    def rendered(self, report: Report, **settings: Any) -> str:
        """The text of a report, with the ``settings`` that the form ``takes``."""
        shown = report if self.lists_consequences else report.folded()
        text: str = self._module().rendered(shown, **{name: settings[name] for name in self.takes})
        return text

    def paged(self, report: Report, before: int) -> str:
        """The page to append to a file that already has ``before`` bytes."""
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
        lists_consequences=True,
        suffixes=(".json",),
    ),
    Form(
        "jsonl",
        "very many models: one line per finding and one line per file, each written as soon as it is known",
        document=True,
        notation="json",
        lists_consequences=True,
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
    """The form with the longest matching suffix; None without a match."""
    fitting = [(len(end), form) for form in ROWS for end in form.suffixes if file.lower().endswith(end)]
    return max(fitting, key=lambda each: each[0])[1] if fitting else None
