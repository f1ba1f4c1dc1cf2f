"""Writes ``.github/terminal.svg``, a check in a terminal as the README shows it: ``python tests/make/terminal.py``
after the text report changed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MODEL = "fixtures/onnx/bad/IRL201-behind-a-convolution.onnx"
PICTURE = ROOT / ".github" / "terminal.svg"

#: The width of a column and the height of a line, in pixels, and the space around the text.
COLUMN = 7.8
LINE = 19
AROUND = 18

#: A blank that no browser drops.
BLANK = "\u00a0"

#: What "select graphic rendition" codes make of a text.
CODES = {
    "1": 'font-weight="700"',
    "2": 'fill="#8b949e"',
    "4": 'text-decoration="underline"',
    "31": 'fill="#ff7b72"',
    "32": 'fill="#7ee787"',
    "33": 'fill="#e3b341"',
    "34": 'fill="#79c0ff"',
    "36": 'fill="#76e3ea"',
}


def picture() -> str:
    """The drawing of a check of one model, as it is now."""
    from irlint.reporters.text import rendered
    from irlint.run.files import Settings, checked

    folder = os.getcwd()
    os.chdir(ROOT)
    printed = rendered(checked([MODEL], settings=Settings({}, drawn=True)), color=True)
    os.chdir(folder)
    return drawn(f"$ irlint {MODEL}\n{printed}", f"irlint {MODEL}")


def drawn(text: str, title: str) -> str:
    """A text with escape sequences as SVG, in the colours that a dark terminal gives to them."""
    lines = text.rstrip("\n").split("\n")
    columns = max(len(re.sub(r"\x1b\[[\d;]*m", "", line)) for line in lines)
    width, height = round(columns * COLUMN + 2 * AROUND), len(lines) * LINE + 2 * AROUND
    rows = "".join(_row(line, AROUND + LINE * at + 14) for at, line in enumerate(lines))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        'role="img">\n'
        f"<title>{escape(title)}</title>\n"
        f'<rect width="{width}" height="{height}" rx="8" fill="#0d1117"/>\n'
        "<g font-family=\"ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace\" "
        'font-size="13" '
        f'fill="#e6edf3">\n{rows}</g>\n</svg>\n'
    )


def _row(line: str, y: int) -> str:
    parts = "".join(_parts(line))
    length = len(re.sub(r"\x1b\[[\d;]*m", "", line)) * COLUMN
    return f'<text x="{AROUND}" y="{y}" textLength="{length:.1f}">{parts}</text>\n' if parts else ""


def _parts(line: str) -> Iterator[str]:
    """The pieces of a line, each as it is painted."""
    codes: list[str] = []
    for at, piece in enumerate(re.split(r"\x1b\[([\d;]*)m", line)):
        if at % 2:
            codes = [code for code in piece.split(";") if code in CODES]
        elif piece:
            text = escape(piece, quote=False).replace(" ", BLANK)
            yield f"<tspan {' '.join(CODES[code] for code in codes)}>{text}</tspan>" if codes else text


if __name__ == "__main__":
    PICTURE.write_text(picture(), "utf-8", newline="\n")
    print(f"wrote {PICTURE.relative_to(ROOT).as_posix()}")
