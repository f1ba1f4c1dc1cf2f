"""The guide in a terminal: its list of topics and families, its pages, and that packages have them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from command.process import run

import irlint
from irlint.policy.rulebook import every_rule
from irlint.reporters import guide

CODES = re.compile(r"\x1b\[[\d;]*m")


def test_each_page_is_a_topic() -> None:
    assert sorted(guide.TOPICS) == sorted(path.stem for path in Path(guide.FOLDER).glob("*.md"))
    assert Path(guide.FOLDER) == Path(irlint.__file__).parent / "guide"


def test_no_topic_has_the_name_of_a_rule() -> None:
    assert not {name for rule in every_rule() for name in (rule.code.lower(), rule.name)} & set(guide.TOPICS)


@pytest.mark.parametrize("topic", guide.TOPICS)
def test_pages_are_plain(topic: str) -> None:
    text = guide.source(topic)
    assert text.isascii()
    assert re.match(r"# \w[^\n]+\n\n[`\w]", text)


@pytest.mark.parametrize("columns", [60, 100])
@pytest.mark.parametrize("topic", guide.TOPICS)
def test_pages_fit_but_for_their_examples(topic: str, columns: int) -> None:
    text = guide.page(topic, columns)
    assert "\x1b" not in text and ".md" not in text.partition("```")[0].replace("README.md", "")
    assert all(len(line) <= columns for line in text.splitlines() if not line.startswith("    "))
    colored = guide.page(topic, columns, color=True)
    assert "\x1b[1m" in colored
    assert all(len(CODES.sub("", line)) <= columns for line in colored.splitlines() if not line.startswith("    "))


@pytest.mark.parametrize("topic", guide.TOPICS)
def test_examples_keep_their_lines(topic: str) -> None:
    page = guide.page(topic, 60)
    for _, text in re.findall(r"^```(\S+)[^\n]*\n(.*?)^```$", guide.source(topic), re.M | re.S):
        for line in text.splitlines():
            assert f"    {line}".rstrip() in page


def test_explain_lists_topics_and_families() -> None:
    result = run("explain")
    assert (result.returncode, result.stderr) == (0, "")
    for topic in guide.TOPICS:
        assert re.search(rf"^  {topic} +{re.escape(guide.title(topic))}$", result.stdout, re.M)
    assert re.search(r"^  IRL2 +broadcasting \(\d+ rules\)$", result.stdout, re.M)


@pytest.mark.parametrize("topic", ["targets", "TARGETS"])
def test_explain_prints_a_topic(topic: str) -> None:
    result = run("explain", topic)
    assert (result.returncode, result.stdout) == (0, guide.page("targets"))


def test_explain_suggests_a_topic() -> None:
    result = run("explain", "target")
    assert (result.returncode, result.stdout) == (2, "")
    assert "unknown rule or topic 'target', did you mean 'targets'?" in result.stderr


def test_rules_need_no_rich() -> None:
    code = (
        "import sys; from irlint.command.questions import explanation; explanation({!r}); print('rich' in sys.modules)"
    )
    loaded = [
        subprocess.run([sys.executable, "-c", code.format(name)], capture_output=True, text=True, check=True).stdout
        for name in ("IRL201", "targets")
    ]
    assert loaded == ["False\n", "True\n"]


@pytest.mark.parametrize(
    ("word", "topic"), [("CI", "ci"), ("suppressions", "configuration"), ("silence", "configuration"), ("models", None)]
)
def test_a_word_of_one_title_names_its_topic(word: str, topic: str | None) -> None:
    assert guide.topic(word) == topic
