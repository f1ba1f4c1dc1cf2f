"""Which version irlint is, and where it is written; ``python tests/make/release.py 0.2.0`` makes it the next one.

The version stands in ``irlint/__init__.py``; the examples that name a tag and the changelog's headings follow it.
"""

from __future__ import annotations

import argparse
import datetime
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "irlint" / "__init__.py"
CHANGELOG = ROOT / "CHANGELOG.md"

#: Files whose examples name the tag of a release.
EXAMPLES = (
    ROOT / "README.md",
    ROOT / "irlint" / "guide" / "ci.md",
    ROOT / "irlint" / "guide" / "stores.md",
    ROOT / ".github" / "workflows" / "example.yml",
)

#: What the examples name before the first release.
UNRELEASED = "COMMIT"

NUMBER = r"\d+\.\d+\.\d+(?:(?:a|b|rc)\d+)?"
ASSIGNED = re.compile(rf'^__version__ = "({NUMBER})"$', re.M)
TAGGED = re.compile(rf"(irlint@|\brev: )({UNRELEASED}|v{NUMBER})\b")
SECTION = re.compile(r"^## \[([^\]\n]+)\][^\n]*\n(.*?)(?=^## |\Z)", re.M | re.S)


def version() -> str:
    """The version that the package states."""
    (found,) = ASSIGNED.findall(SOURCE.read_text("utf-8"))
    return str(found)


def examples(path: Path, number: str) -> str:
    """The text of a file, its examples at that version."""
    return TAGGED.sub(rf"\g<1>v{number}", path.read_text("utf-8"))


def sections() -> dict[str, str]:
    """What the changelog says, by version, the latest first."""
    return {name: text.strip() for name, text in SECTION.findall(CHANGELOG.read_text("utf-8"))}


def notes(tag: str) -> str:
    """What the changelog says of the version that a tag names, which has to be the package's."""
    if tag != f"v{version()}":
        raise SystemExit(f"the tag is {tag}, and irlint/__init__.py says {version()}: the tag has to be v{version()}")
    text = sections().get(version())
    if not text:
        raise SystemExit(f"CHANGELOG.md says nothing of {version()}")
    return text


def bumped(number: str, day: datetime.date) -> Iterator[tuple[Path, str]]:
    """The files that name a version, and their text once ``number`` is released."""
    if not re.fullmatch(NUMBER, number):
        raise SystemExit(f"{number} is no version such as 0.2.0 or 0.2.0rc1")
    if number in sections():
        raise SystemExit(f"CHANGELOG.md has a section {number} already")
    if not sections()["Unreleased"]:
        raise SystemExit("CHANGELOG.md says nothing under [Unreleased]")
    yield SOURCE, ASSIGNED.sub(f'__version__ = "{number}"', SOURCE.read_text("utf-8"))
    heading = f"## [Unreleased]\n\n## [{number}] - {day.isoformat()}"
    yield CHANGELOG, CHANGELOG.read_text("utf-8").replace("## [Unreleased]", heading, 1)
    for path in EXAMPLES:
        yield path, examples(path, number)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("version", nargs="?", help="the version to release")
    what.add_argument(
        "--notes", metavar="TAG", help="print what the changelog says of a tag; fail if it is another version"
    )
    options = parser.parse_args()
    if options.notes is not None:
        sys.stdout.write(f"{notes(options.notes)}\n")
        return
    for path, text in list(bumped(options.version, datetime.date.today())):
        path.write_text(text, encoding="utf-8", newline="\n")
        print(f"wrote {path.relative_to(ROOT).as_posix()}")


if __name__ == "__main__":
    main()
