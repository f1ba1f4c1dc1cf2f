"""Words that irlint does not use, in names and texts: the specifications and plain English have better ones."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

WORDS = re.compile(
    r"\b(?:\w*_)?(told|tells?|said|reckon\w*|levers?|mend(?:s|ed|ing|er)?|strangers?|sightings?|kin|crew|hired|"
    r"dismissed|patiently|declared free|(?:this|are) (?:is )?gone|ways?[ _]out)(?:_\w*)?\b",
    re.IGNORECASE,
)

#: What may have one of the words, and why.
EXCEPTIONS = {
    '"lever"': "a field of JSON",
    "`lever`": "a field of JSON",
    '"mend"': "a field of JSON",
    ".tell()": "a method of Python's files",
    '"told"': "the end of a kind of change, a value in JSON",
    "``told``": "the end of a kind of change, a value in JSON",
    "output-told": "a kind of change, a value in JSON",
}


def files() -> Iterator[Path]:
    for pattern in (
        "*.md",
        "*.toml",
        ".*.yaml",
        ".github/**/*.md",
        ".github/**/*.yml",
        "irlint/**/*.py",
        "irlint/**/*.md",
    ):
        yield from ROOT.glob(pattern)
    yield from (each for each in ROOT.glob("tests/**/*.py") if each.name != Path(__file__).name)


def found(text: str) -> list[str]:
    for exception in EXCEPTIONS:
        text = text.replace(exception, "")
    return [match[0] for match in WORDS.finditer(text)]


@pytest.mark.parametrize("text", ["told_apart", "def _told(x)", "a way out", "this is gone", "Mended", "no_dims_tell"])
def test_it_finds(text: str) -> None:
    assert found(text)


@pytest.mark.parametrize("text", ["recommend", "skin", "foretold", '{"lever": 1}', "stream.tell()", "amended"])
def test_it_leaves(text: str) -> None:
    assert not found(text)


def test_no_file_has_one() -> None:
    every = {path.relative_to(ROOT).as_posix(): found(path.read_text("utf-8")) for path in files()}
    assert len(every) > 500
    assert {name: words for name, words in every.items() if words} == {}
