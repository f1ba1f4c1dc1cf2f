"""What .github/ADDING.md adds is added as it says, to a copy of the project, and works; what the other guides name is
there."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
GUIDE = ROOT / ".github" / "ADDING.md"
TEXT = GUIDE.read_text("utf-8")

#: The first guide: the start and the map, and the three together.
START = (GUIDE.parent / "CONTRIBUTING.md").read_text("utf-8")
ALL = "\n".join([START, TEXT, (GUIDE.parent / "RELEASING.md").read_text("utf-8")])

#: Set, what the commands of the consoles print is written into the guide instead of compared.
REWRITE = "IRLINT_REWRITE_GOLDEN"

#: What a copy has of the project.
COPIED = (
    "irlint",
    "tests",
    "fixtures",
    ".github",
    "README.md",
    "CHANGELOG.md",
    "pyproject.toml",
    ".pre-commit-hooks.yaml",
)

#: Names that the environment must not have where output is compared.
NEUTRAL = ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "COLUMNS", "GITHUB_STEP_SUMMARY", "PYTEST_ADDOPTS", REWRITE)

COUNTS = re.compile(r"^By hand: (\d+) files?\. By the scripts: (\d+) files?\.$", re.M)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, the file that it belongs to, and its text."""

    language: str
    file: str
    text: str


@dataclass(frozen=True)
class Addition:
    """A section that adds something: how many files it says are touched by hand and by scripts, and its blocks."""

    name: str
    by_hand: int
    by_scripts: int
    blocks: tuple[Block, ...]

    def of(self, language: str) -> list[str]:
        return [block.text for block in self.blocks if block.language == language]

    @property
    def commands(self) -> list[str]:
        return [line for text in self.of("sh") for line in text.splitlines()]

    @property
    def edits(self) -> list[Block]:
        return [block for block in self.blocks if block.file]


def additions() -> list[Addition]:
    body = TEXT.partition("\n## Adding something\n")[2].partition("\n## ")[0]
    result = []
    for section in body.split("\n### ")[1:]:
        counts = COUNTS.search(section)
        assert counts is not None, f"no counts in: {section[:40]}"
        fences = re.findall(r"^```(\w+)(?: title=(\S+))?\n(.*?)^```$", section, re.M | re.S)
        result.append(
            Addition(
                section.partition("\n")[0],
                int(counts[1]),
                int(counts[2]),
                tuple(Block(*fence) for fence in fences),
            )
        )
    return result


ADDITIONS = additions()


def applied(text: str, block: Block) -> str:
    """The text of a file with a block in it: at its end, or the lines of a diff in the place of those that it shows."""
    if block.language != "diff":
        between = "\n\n\n" if text and block.language == "python" else ""
        return text.rstrip("\n") + between + ("\n" if text and not between else "") + block.text
    for hunk in block.text.split("@@\n"):
        lines = hunk.splitlines(keepends=True)
        before, after = ("".join(line[1:] for line in lines if line[0] in kinds) for kinds in (" -", " +"))
        if before:
            assert text.count(before) == 1, (
                f"a block of .github/ADDING.md changes lines that {block.file} has {text.count(before)} times; "
                f"bring the block up to date:\n{before}"
            )
        text = text.replace(before, after) if before else text + after
    return text


class Copy:
    """A copy of the project, in which things are added."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.read: dict[Path, tuple[object, bytes]] = {}
        for name in COPIED:
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(source, folder / name)  # with what has been compiled: no command compiles it again
            else:
                shutil.copy(source, folder / name)

    def state(self) -> dict[str, bytes]:
        """The contents of its files by their paths."""
        return {
            path.relative_to(self.folder).as_posix(): self.contents(path)
            for name in COPIED
            for path in ([self.folder / name] if (self.folder / name).is_file() else (self.folder / name).rglob("*"))
            if path.suffix != ".pyc" and path.name != "ADDING.md" and path.is_file()
        }

    def contents(self, path: Path) -> bytes:
        """Those of a file, read once for each time that it is written."""
        status = path.stat()
        written = (status.st_ino, status.st_mtime_ns, status.st_size)
        if self.read.get(path, (None, b""))[0] != written:
            self.read[path] = (written, path.read_bytes())
        return self.read[path][1]

    def edit(self, block: Block) -> None:
        path = self.folder / block.file
        text = path.read_text("utf-8") if path.exists() else ""
        path.write_text(applied(text, block), encoding="utf-8", newline="\n")

    def run(self, command: str) -> subprocess.CompletedProcess[str]:
        """What a command does, run by this interpreter with the copy before anything that is installed."""
        name, *arguments = shlex.split(command)
        start = {"python": [], "pytest": ["-m", "pytest", "-p", "no:cacheprovider"], "irlint": ["-m", "irlint"]}[name]
        env = {name: value for name, value in os.environ.items() if name not in NEUTRAL}
        env |= {"PYTHONPATH": str(self.folder), "PYTHONIOENCODING": "utf-8"}
        return subprocess.run(
            [sys.executable, *start, *arguments],
            cwd=self.folder,
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
        )

    def printed(self, command: str) -> str:
        ended = self.run(command)
        status = f"[exit status {ended.returncode}]\n" if ended.returncode else ""
        return f"{ended.stdout.rstrip(chr(10))}\n{status}"


def changed(before: dict[str, bytes], after: dict[str, bytes]) -> set[str]:
    return {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    return Copy(tmp_path_factory.mktemp("copy"))


def check_consoles(addition: Addition, copy: Copy) -> None:
    for console in addition.of("console"):
        parts = re.split(r"^\$ (.+)\n", console, flags=re.M)
        printed_text = "".join(f"$ {command}\n{copy.printed(command)}" for command in parts[1::2])
        assert "Traceback" not in printed_text, printed_text
        if os.environ.get(REWRITE):
            GUIDE.write_text(
                GUIDE.read_text("utf-8").replace(f"```console\n{console}```", f"```console\n{printed_text}```"), "utf-8"
            )
        else:
            assert printed_text == console, f"with {REWRITE}=1 this test writes what irlint prints now into the guide"


@pytest.mark.slow
def test_what_is_added_works_and_touches_the_files_that_are_counted(copy: Copy) -> None:
    """In the order of the guide, in one copy: later sections go on from earlier ones."""
    after = copy.state()
    for addition in ADDITIONS:
        before = after
        for block in addition.edits:
            copy.edit(block)
        by_hand = copy.state()
        for command in addition.commands:
            if not command.startswith("pytest "):
                ended = copy.run(command)
                assert ended.returncode == 0, f"{addition.name}: {command}\n{ended.stdout}"
        after = copy.state()
        touched = changed(by_hand, after)
        assert len(changed(before, by_hand)) == addition.by_hand, addition.name
        assert len(touched) == addition.by_scripts, f"{addition.name}: {sorted(touched)}"
        check_consoles(addition, copy)
    ended = copy.run(together([command for addition in ADDITIONS for command in addition.commands]))
    assert ended.returncode == 0, ended.stdout


def together(commands: list[str]) -> str:
    """One call of pytest for all of those that the commands make: each costs seconds."""
    calls = [found for command in commands if (found := re.fullmatch(r"pytest -q (\S+)(?: -k (\w+))?", command))]
    files = dict.fromkeys(call[1] for call in calls)
    words = dict.fromkeys(call[2] or Path(call[1]).stem for call in calls)
    assert len(calls) == sum(command.startswith("pytest") for command in commands) > 3
    return f"pytest -q {' '.join(files)} -k '{' or '.join(words)}'"


def test_additions_are_found() -> None:
    assert [addition.name.split(" ", 1)[1] for addition in ADDITIONS] == [
        "ONNX operator",
        "OpenVINO operation",
        "rule",
        "rule about whole graphs",
        "report form",
        "configuration key",
        "file format",
    ]
    assert all(addition.edits and (addition.of("sh") or addition.of("console")) for addition in ADDITIONS)


def test_rules_have_codes_that_are_free() -> None:
    from irlint.policy.rule_index import RULES

    rules = [addition for addition in ADDITIONS if addition.name.startswith("A rule")]
    text = "".join(block.text for addition in rules for block in addition.edits)
    codes = set(re.findall(r'^\+? +"(IRL\d{3})",$', text, re.M))
    assert len(codes) == len(rules) == 2
    assert not codes & RULES.keys(), "take the next free code for the example"


def test_paths_exist() -> None:
    named = re.findall(r"`((?:irlint|tests|fixtures|\.github)/[\w./*-]+|[A-Z]+\.md)`", ALL)
    assert len(named) > 15
    for path in named:
        assert list(ROOT.glob(path.replace("SUBJECT", "math").rstrip("/"))), path


def test_layers_are_those_of_the_package() -> None:
    import test_layers

    shown = re.findall(r"`(\w+)`", START.partition("imports only from the folders before it: ")[2].partition(".\n")[0])
    assert [name for name in test_layers.LAYERS if name in shown] == shown
    assert len(shown) > 10
    assert {name for name in shown if not (ROOT / "tests" / name).is_dir()} == {"model", "binding"}


def test_commands_of_the_pull_request_template_are_reported() -> None:
    template = (ROOT / ".github" / "pull_request_template.md").read_text("utf-8")
    commands = re.findall(r"`((?:ruff|mypy|pytest)[^`]*)`", template)
    assert len(commands) >= 3
    assert all(part in START for command in commands for part in command.split(" && "))


def test_the_start_is_short() -> None:
    assert len(START.splitlines()) <= 120


def test_links_between_the_guides_lead_somewhere() -> None:
    links = re.findall(r"\]\((\w+\.md)\)", ALL)
    assert set(links) == {"ADDING.md", "RELEASING.md"}
    assert all((GUIDE.parent / link).is_file() for link in links)
