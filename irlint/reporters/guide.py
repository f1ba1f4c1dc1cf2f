"""The pages of the guide, for a terminal."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from irlint.findings.faults import Rule
from irlint.lazy_typing import Any
from irlint.reporters.ansi import painted
from irlint.reporters.pages import WIDTH

#: The names of the pages, in reading order.
TOPICS = (
    "report",
    "ci",
    "contracts",
    "costs",
    "fixes",
    "targets",
    "triton",
    "folders",
    "operators",
    "pinned",
    "values",
    "stores",
    "configuration",
    "python",
    "formats",
    "untrusted",
    "speed",
    "limits",
)

FOLDER = os.path.join(os.path.dirname(os.path.dirname(__file__)), "guide")

BLANK = re.compile(r"\n(?:(?:\x1b\[[\d;]*m| )*\n){2,}")

#: Replacements of characters that the package rich writes, and that some terminals lack.
ASCII = str.maketrans("\N{BULLET}\N{BOX DRAWINGS LIGHT HORIZONTAL}\N{BOX DRAWINGS HEAVY HORIZONTAL}", "*--")

FENCED = re.compile(r"(^```.*?^```$)", re.M | re.S)
QUOTED = re.compile(r"`([^`\n]+)`")

#: A link to another page of the guide.
LINK = re.compile(r"\[([^\]\n]+)\]\((\w+)\.md(?:#[\w-]+)?\)")


def source(topic: str) -> str:
    """The Markdown of a page; raises OSError if it is not installed."""
    with open(os.path.join(FOLDER, f"{topic}.md"), encoding="utf-8") as file:
        return file.read()


def title(topic: str) -> str:
    """The heading of a page."""
    return source(topic).partition("\n")[0].removeprefix("# ")


def topic(name: str) -> str | None:
    """The topic with this name. Else, if only one topic has this word in its title, this topic. Else None."""
    word = name.lower()
    if word in TOPICS:
        return word
    found = [each for each in TOPICS if word in re.findall(r"\w+", title(each).lower())]
    return found[0] if len(found) == 1 else None


def contents(rules: Iterable[Rule], *, color: bool = False) -> str:
    """One line for each topic of the guide and each family of rules."""
    families: dict[str, list[Rule]] = {}
    for rule in rules:
        families.setdefault(rule.code[:4], []).append(rule)
    width = max(map(len, TOPICS))
    topics = [f"  {topic:{width}}  {title(topic)}\n" for topic in TOPICS]
    lines = [
        f"  {family:{width}}  {', '.join(dict.fromkeys(rule.family for rule in every))} ({len(every)} rules)\n"
        for family, every in families.items()
    ]
    return "".join(
        (
            f"{painted('Guide', 'head', color)}: `irlint explain TOPIC`\n",
            *topics,
            f"\n{painted('Rules', 'head', color)}: `irlint explain FAMILY`, or `irlint explain RULE` for one\n",
            *lines,
        )
    )


def page(topic: str, columns: int = WIDTH, *, color: bool = False) -> str:
    """A page of the guide in lines of at most ``columns``; examples keep their lines."""
    from io import StringIO

    from rich.console import Console
    from rich.theme import Theme

    text = StringIO()
    Console(
        file=text,
        width=columns,
        force_terminal=color,
        color_system="standard" if color else None,
        legacy_windows=False,
        theme=Theme({"markdown.code": "bold", "markdown.table.border": "dim", "markdown.table.header": "bold"}),
        _environ={},
    ).print(_rich_markdown(_adapted(source(topic), color)), crop=False)
    lines = "\n".join(line.rstrip() for line in text.getvalue().strip("\n").split("\n"))
    return BLANK.sub("\n\n", lines).translate(ASCII) + "\n"


def _adapted(text: str, color: bool) -> str:
    """The Markdown with commands in place of links and, without color, visible backticks."""
    parts = FENCED.split(text)
    for index in range(0, len(parts), 2):
        parts[index] = LINK.sub(r"\1 (`irlint explain \2`)", parts[index])
        if not color:
            parts[index] = QUOTED.sub(r"`` `\1` ``", parts[index])
    return "".join(parts)


def _rich_markdown(text: str) -> Any:
    import textwrap

    from rich.markdown import CodeBlock, Heading, Markdown
    from rich.text import Text

    class PlainHeading(Heading):
        def __rich_console__(self, console: Any, options: Any) -> Any:
            yield Text(str(self.text), style="bold")

    class Example(CodeBlock):
        def __rich_console__(self, console: Any, options: Any) -> Any:
            yield Text(textwrap.indent(str(self.text).rstrip(), "    "), no_wrap=True, overflow="ignore")

    class Page(Markdown):
        elements = Markdown.elements | {"heading_open": PlainHeading, "fence": Example, "code_block": Example}

    return Page(text, hyperlinks=False)
