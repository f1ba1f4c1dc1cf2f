"""Documents changed at random: where the reader of what OpenVINO writes accepts one, the other reader says the same of
it.

``IRLINT_MUTANTS=50000 pytest tests/parsers/openvino/test_two_readers.py`` changes more of them.
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from parsers.openvino.test_repeated import DOCUMENTS, FIXTURES, read_of

from irlint import parsers
from irlint.parsers import openvino
from irlint.parsers.openvino.repeated import sections

COUNT = int(os.environ.get("IRLINT_MUTANTS", "1200"))

#: Documents of at most so many characters are changed.
LARGEST = 12_000

BASES = [
    *(
        text
        for name, text in DOCUMENTS.items()
        if name in ("plain", "several names", "rt_info", "fused names", "fused names of a conversion", "references")
    ),
    *(path.read_text("utf-8") for path in FIXTURES if path.stat().st_size < LARGEST),
]

#: What is put somewhere into a document.
INSERTED = (
    *(
        ' offset="16"',
        ' names="',
        ' names="x"',
        " offset=",
        '"',
        "'",
        "<",
        ">",
        "/",
        "&",
        "&amp;",
        "&#65;",
        "&#10;",
        "&x;",
        "]]>",
    ),
    *(
        "\0",
        "\1",
        "\t",
        "\r",
        "\r\n",
        "\n",
        " ",
        "\ufeff",
        "\ufffe",
        "\x85",
        "\u2028",
        "é",
        "\U0001f600",
        "-->",
        "<!--",
    ),
    *(
        "<!-- x -->",
        "<![CDATA[1]]>",
        "<?a b?>",
        '<?xml version="1.0"?>',
        "<!DOCTYPE net>",
        "<x/>",
        "<x>",
        "</x>",
        "<layers>",
    ),
    *(
        "<edges>",
        "<edges/>",
        "</edges>",
        "<layers/>",
        "<layer/>",
        "<data/>",
        '<data offset="0"/>',
        "<rt_info/>",
        "<port/>",
    ),
    *(
        ' xmlns="a"',
        ' xmlns:a="b"',
        ' a:b="c"',
        ' id="1"',
        " id='1'",
        ' name="a"',
        "<a:b/>",
        "1",
        "-1",
        " 1",
        "text",
        "_",
    ),
    '<!DOCTYPE net [<!ATTLIST data offset CDATA "16">]>',
    '<attribute name="fused_names" version="0" value="x"/>',
    '<attribute name="precise" version="0"/>',
    '<edge from-layer="0" from-port="0" to-layer="2" to-port="0"/>',
)

Change = Callable[[str, random.Random], str]


def _inserted(text: str, chance: random.Random) -> str:
    at = chance.randint(0, len(text))
    return text[:at] + chance.choice(INSERTED) + text[at:]


def _inserted_at_a_sign(text: str, chance: random.Random) -> str:
    signs = [at for at, letter in enumerate(text) if letter in '<>"= /']
    at = chance.choice(signs) + chance.randint(0, 1)
    return text[:at] + chance.choice(INSERTED) + text[at:]


def _removed(text: str, chance: random.Random) -> str:
    at = chance.randrange(len(text))
    return text[:at] + text[at + chance.choice((1, 1, 2, 5, 30)) :]


def _doubled(text: str, chance: random.Random) -> str:
    """A tag, or what lies between two tags, a second time."""
    ends = [at + 1 for at, letter in enumerate(text) if letter == ">"]
    start = chance.randrange(len(ends))
    piece = text[ends[start] : ends[min(len(ends) - 1, start + chance.randint(1, 6))]]
    at = chance.choice(ends) if chance.random() < 0.5 else ends[start]
    return text[:at] + piece + text[at:]


def _swapped(text: str, chance: random.Random) -> str:
    """Two words in each other's place."""
    words = text.split(" ")
    one, other = chance.randrange(len(words)), chance.randrange(len(words))
    words[one], words[other] = words[other], words[one]
    return " ".join(words)


def _replaced(text: str, chance: random.Random) -> str:
    old, new = chance.choice(
        [
            ('"', "'"),
            ("offset", "names"),
            ("names", "offset"),
            ("\n", "\r\n"),
            ("\n", ""),
            ("<edges>", "<edges >"),
            ("/>", " />"),
        ]
        + [
            ("port", "data"),
            ("data", "rt_info"),
            ("layer ", "layer  "),
            ("?>", " ?>"),
            ("1.0", "1.1"),
            ("<dim>", "<dim> "),
            ("-1", ""),
        ]
    )
    return text.replace(old, new, chance.choice((1, 1, 2, -1)))


CHANGES: tuple[Change, ...] = (
    _inserted,
    _inserted_at_a_sign,
    _inserted_at_a_sign,
    _removed,
    _doubled,
    _swapped,
    _replaced,
)


def mutant(chance: random.Random) -> str:
    text = chance.choice(BASES)
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        text = chance.choice(CHANGES)(text, chance) or " "
    return text


def test_both_readers_agree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "m.bin").write_bytes(bytes(1024))
    path, chance, taken = tmp_path / "m.xml", random.Random(COUNT), 0
    for _ in range(COUNT):
        text = mutant(chance)
        data = text.encode("utf-8", "surrogatepass")
        if sections(data) is None:
            continue
        taken += 1
        one = parsers.read(path, data)
        with monkeypatch.context() as changed:
            changed.setattr(openvino, "sections", lambda data: None)
            other = parsers.read(path, data)
        assert read_of(one) == read_of(other), text
    assert taken > COUNT / 10


def test_without_lxml_the_same_is_read_or_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "m.bin").write_bytes(bytes(1024))
    path, chance, taken = tmp_path / "m.xml", random.Random(COUNT), 0
    monkeypatch.setattr(openvino, "sections", lambda data: None)
    for _ in range(COUNT):
        text = mutant(chance)
        data = text.encode("utf-8", "surrogatepass")
        try:
            with monkeypatch.context() as changed:
                changed.setitem(sys.modules, "lxml", None)
                one = parsers.read(path, data)
        except ModuleNotFoundError:
            continue
        taken += 1
        assert read_of(one) == read_of(parsers.read(path, data)), text
    assert COUNT / 4 < taken < COUNT


@pytest.mark.parametrize(
    ("comment", "is_read"),
    [
        ("<!-- by hand -->", True),
        ("<!-- two\n\tlines -->", True),
        ("<!---->", True),
        ("<!-- a -- b -->", False),
        ("<!-- a --->", False),
        ("<!-- \x0b -->", False),
        ("<!-- é -->", False),
        ("<?a b?>", False),
    ],
)
@pytest.mark.parametrize("around", ["{}\n{}", "{1}\n{0}"])
def test_comments_around_the_root(
    comment: str, is_read: bool, around: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, data = tmp_path / "m.xml", around.format(comment, DOCUMENTS["plain"].partition("?>")[2]).encode()
    expected = read_of(parsers.read(path, data))
    monkeypatch.setitem(sys.modules, "lxml", None)
    monkeypatch.setattr(openvino, "sections", lambda data: None)
    if is_read:
        assert read_of(parsers.read(path, data)) == expected
    else:
        with pytest.raises(ModuleNotFoundError):
            parsers.read(path, data)
