"""The snippets of files that cannot be read."""

from __future__ import annotations

from irlint.findings.faults import Rule
from irlint.model import Model
from irlint.parsers.faults import LFS_POINTER, NOT_A_MODEL
from irlint.parsers.opening import lies_elsewhere, opened, size
from irlint.snippets.drawing import Line, Piece, Snippet

#: The largest numbers of lines of a text, and of characters of a line.
LINES = 3
CHARACTERS = 160

POINTER_NOTES = (
    "in GitHub Actions: actions/checkout with `lfs: true`",
    'to have pointers only counted: `lfs-pointers = "skip"` in irlint.toml',
)


def first_lines(model: Model, rule: Rule, data: bytes | None) -> Snippet:
    """The snippet of a file: its size and, if it is not a model, its first lines or bytes.

    ``data`` are the bytes of the file, if the caller has them.
    """
    head, size = _head_and_size(model.path, data)
    counted = f"{size} byte{'s' * (size != 1)}"
    if rule is LFS_POINTER:
        return Snippet(f"{counted} here", _text_lines(head), notes=POINTER_NOTES)
    if rule is not NOT_A_MODEL or not head:
        return Snippet(counted)
    return Snippet(counted, _text_lines(head) if _is_text(head) else _hex_lines(head))


def _head_and_size(path: str, data: bytes | None) -> tuple[bytes, int]:
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
