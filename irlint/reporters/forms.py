"""The forms of a report: a row for each, from which the command, the configuration and the guide have their lists."""

from __future__ import annotations

from irlint.findings.report import Report
from irlint.lazy_typing import Any
from irlint.records import record


@record
class Form:
    """One form of a report, made by ``rendered`` of the module in this folder that has the form's name.

    ``takes`` names what that function takes beside the report: ``color``, ``columns`` and ``encoding`` of where the
    text goes, ``every`` finding in full or not, and the options ``quiet`` and ``fail_on``. A ``whole`` one has a
    finding for what follows from others, too, and what their nodes are given; the rest get the roots, with what follows
    from each. A ``document`` is for other programs: UTF-8, and the same bytes everywhere. One that is ``drawn`` shows
    what findings carry of the model, one that is not and ``has_fixes`` adds the fixes that were tried, as each
    ``whole`` one does, one with ``silenced`` shows what is not reported, and one with ``facts`` what is known of the
    models. ``page`` is an environment variable with a file to which the ``page`` of the module is added as well.
    ``suffixes`` end the names of files that have the form. ``notation`` is how names in it are kept from steering a
    log, one of ``ESCAPED`` in ``plain``; "" where the module sees to that. Of a ``streamed`` one on standard output
    each file's part is written as soon as that is checked, and no report is kept.
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
        """The text of a report; of ``settings`` the function that makes it gets those that the form ``takes``."""
        shown = report if self.whole else report.folded()
        text: str = self._module().rendered(shown, **{name: settings[name] for name in self.takes})
        return text

    def paged(self, report: Report, before: int) -> str:
        """The page on a report for a file that holds so many bytes ``before`` it."""
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
        "very many models: a line for each finding and each file, written at once",
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
    """The form that the suffix of a file names, None where it names none."""
    fitting = [(len(end), form) for form in ROWS for end in form.suffixes if file.lower().endswith(end)]
    return max(fitting, key=lambda each: each[0])[1] if fitting else None
