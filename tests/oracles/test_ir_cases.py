"""What an IR and its weights can get wrong beyond the lines of ``cases/documents``: what OpenVINO says of it, and
irlint."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from cases.ir_documents import (
    BASES,
    EDGES,
    LAYERS,
    SOUND,
    WEIGHTS,
    edge,
    layer,
    net,
    refused,
    stored,
    written,
)

from irlint.run.one_file import inspected

pytestmark = pytest.mark.oracle


def reported(path: Path) -> str:
    """The findings in short, notes and what follows from others left out: ``error IRL110 6``.

    Most documents do not use all of the weights that they have in common.
    """
    _, findings = inspected(str(path))
    shown = [
        f"{each.severity.value} {each.rule.code} {each.line}"
        for each in findings
        if each.severity.value != "note" and not each.because and each.rule.code != "IRL720"
    ]
    return ", ".join(shown) or "-"


@pytest.mark.parametrize("base", BASES)
def test_the_bases_are_sound(base: str, tmp_path: Path) -> None:
    path = written(tmp_path, BASES[base])
    assert not refused(path)
    assert reported(path) == "-"


def packed(*numbers: int, characters: bytes = b"") -> bytes:
    """Strings as an IR stores them: how many, where they begin and end, and their characters."""
    return struct.pack(f"<{len(numbers)}i", *numbers) + characters


POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 12345\n"
PAGE = b"<!DOCTYPE html><html><head><title>404</title></head><body>not found</body></html>"


@pytest.mark.parametrize(
    ("weights", "verdict", "findings"),
    [
        (WEIGHTS, "taken", "-"),
        (WEIGHTS + b"more", "taken", "-"),
        (WEIGHTS[:20], "refused", "error IRL702 4"),
        (b"", "refused", "error IRL702 4"),
        (None, "refused", "error IRL701 4"),
        (POINTER, "taken", "error IRL701 4"),
        (PAGE, "taken", "error IRL701 4"),
    ],
)
def test_the_weights_file(weights: bytes | None, verdict: str, findings: str, tmp_path: Path) -> None:
    path = written(tmp_path, BASES["const"], weights)
    assert (refused(path), reported(path)) == (verdict == "refused", findings)


def test_a_folder_or_a_dangling_link_for_the_weights(tmp_path: Path) -> None:
    path = written(tmp_path, BASES["const"], None)
    path.with_suffix(".bin").mkdir()
    assert refused(path) and reported(path) == "error IRL701 4"
    path.with_suffix(".bin").rmdir()
    path.with_suffix(".bin").symlink_to("nowhere")
    assert refused(path) and reported(path) == "error IRL701 4"


@pytest.mark.parametrize(
    ("strings", "verdict", "findings"),
    [
        (packed(2, 0, 1, 3, characters=b"abc"), "taken", "-"),
        (packed(2, 0, 0, 0), "taken", "-"),
        (packed(2, 0, 1, 2, characters=b"abc"), "taken", "-"),
        (packed(3, 0, 1, 2, 3, characters=b"abc"), "taken", "error IRL705 4"),
        (packed(1, 0, 3, characters=b"abc"), "taken", "error IRL705 4"),
        (packed(-1, 0, 1, characters=b"abc"), "refused", "error IRL705 4"),
        (packed(2, 0, 3, 1, characters=b"abc"), "refused", "error IRL705 4"),
        (packed(2, -1, 1, 3, characters=b"abc"), "refused", "error IRL705 4"),
        (packed(2, 0, 1, 4, characters=b"abc"), "refused", "error IRL705 4"),
        (packed(2, 0), "refused", "error IRL705 4"),
        (packed(2**31 - 1, 0, 1, 3), "refused", "error IRL705 4"),
        (b"ab", "refused", "error IRL705 4"),
    ],
)
def test_strings(strings: bytes, verdict: str, findings: str, tmp_path: Path) -> None:
    data = f'element_type="string" shape="2" offset="0" size="{len(strings)}"'
    path = written(tmp_path, stored(data, "string"), strings)
    assert (refused(path), reported(path)) == (verdict == "refused", findings)


@pytest.mark.parametrize(
    ("document", "verdict", "findings"),
    [
        ('<net version="11"></net>', "taken", "warning IRL121 1"),
        (SOUND.replace("<edges>", "<a>" * 5000 + "</a>" * 5000 + "<edges>"), "taken", "-"),
        (SOUND + "\ntrailing", "taken", "warning IRL006 12"),
        (SOUND.encode("utf-16"), "taken", "-"),
        (SOUND.replace('"x"', '"\u00e9"').encode("latin-1"), "taken", "warning IRL006 4"),
        (SOUND.replace("\n", "\r\n"), "taken", "-"),
        (net((LAYERS[0], LAYERS[1], LAYERS[3]), EDGES), "refused", "error IRL105 11"),
        (net(LAYERS, ()), "refused", "error IRL108 9"),
        (net(LAYERS, (edge(0, 0, 9, 0), *EDGES[1:])), "refused", "error IRL105 10"),
        (net(LAYERS, (edge(2, 0, 0, 0), *EDGES[1:])), "refused", "error IRL105 10"),
        (net((*LAYERS[:3], layer(3, "Result", "0", name="r").replace("Result", "result")), EDGES), "taken", "warning "
            "IRL121 7"),
    ],
)  # fmt: skip
def test_documents(document: str | bytes, verdict: str, findings: str, tmp_path: Path) -> None:
    path = written(tmp_path, document)
    assert (refused(path), reported(path)) == (verdict == "refused", findings)
