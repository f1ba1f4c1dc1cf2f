"""The snippet of a file that could not be read: its size, and the first lines or bytes of a file that is no model."""

from __future__ import annotations

from irlint.findings.faults import Rule
from irlint.model import Model
from irlint.parsers.faults import LFS_POINTER, NOT_A_MODEL
from irlint.parsers.opening import lies_elsewhere, opened, size
from irlint.snippets.drawing import Drawing, Line, Piece

#: At most this many lines of a text are shown, each cut to this many characters.
LINES = 3
CHARACTERS = 160

POINTER_NOTES = (
    "in GitHub Actions: actions/checkout with `lfs: true`",
    'to have pointers only counted: `lfs-pointers = "skip"` in irlint.toml',
)


def first_lines(model: Model, rule: Rule, data: bytes | None) -> Drawing:
    """The snippet of a file that could not be read: its size, and the beginning of a Git LFS pointer or of another file
    that is not a model. ``data`` are the bytes of the file, if they were read before; files behind a URL show no
    beginning otherwise."""
    head, size = _head(model.path, data)
    counted = f"{size} byte{'s' * (size != 1)}"
    if rule is LFS_POINTER:
        return Drawing(f"{counted} here", _text_lines(head), notes=POINTER_NOTES)
    if rule is not NOT_A_MODEL or not head:
        return Drawing(counted)
    return Drawing(counted, _text_lines(head) if _is_text(head) else _hex_lines(head))


def _head(path: str, data: bytes | None) -> tuple[bytes, int]:
    """The first bytes of a file, and the number of all its bytes."""
    if data is not None:
        return data[:4096], len(data)
    with opened(path) as file:
        return b"" if lies_elsewhere(path) else file.read(4096), size(file)


def _is_text(head: bytes) -> bool:
    start = head[:512]
    return b"\0" not in start and sum(byte < 32 and byte not in b"\t\r\n\f" for byte in start) == 0


def _text_lines(head: bytes) -> tuple[Line, ...]:
    lines = head.decode("utf-8", "replace").splitlines()[:LINES]
    shown = [line.replace("\t", "    ") for line in lines]
    cut = [line if len(line) <= CHARACTERS else f"{line[: CHARACTERS - 3]}..." for line in shown]
    return tuple(
        Line(str(number), (Piece(line, "primary" if number == 1 and line else ""),))
        for number, line in enumerate(cut, 1)
    )


def _hex_lines(head: bytes) -> tuple[Line, ...]:
    start = head[:16]
    letters = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in start)
    return (Line("0x0", (Piece(" ".join(f"{byte:02x}" for byte in start), "primary"), Piece(f"   {letters}"))),)
