"""What README.md shows is what happens: its consoles, its Python, its options, its YAML and TOML."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile

import pytest
import yaml
from command.process import ended
from make import terminal

import irlint

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
TEXT = README.read_text("utf-8")

#: Set, what the commands of the consoles print is written into README.md instead of compared.
REWRITE = "IRLINT_REWRITE_GOLDEN"

#: Names that the environment must not have where output is compared.
NEUTRAL = ("GITHUB_STEP_SUMMARY", "NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "COLUMNS", "IRLINT_REWRITE_GOLDEN")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: its section, its language, the file that it is the contents of, and its text."""

    section: str
    language: str
    file: str
    text: str


def blocks() -> Iterator[Block]:
    section = ""
    for found in re.finditer(r"^## ([^\n]+)$|^```(\w+)(?: title=(\S+))?\n(.*?)^```$", TEXT, re.M | re.S):
        if found[1]:
            section = found[1]
        else:
            yield Block(section, found[2], found[3] or "", found[4])


BLOCKS = list(blocks())


def of(*languages: str) -> list[Block]:
    return [block for block in BLOCKS if block.language in languages]


def commands(text: str) -> list[tuple[str, str]]:
    """The commands of a console, each with what it is shown to print."""
    parts = re.split(r"^\$ (.+)\n", text, flags=re.M)
    assert parts[0] == "", "a console begins with a command"
    return list(zip(parts[1::2], parts[2::2]))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "fixtures", tmp_path / "fixtures")
    (tmp_path / ".git").mkdir()
    return tmp_path


def printed(command: str, folder: Path) -> str:
    """What a command prints, with its exit status where that is not 0."""
    name, *arguments = shlex.split(command, comments=True)
    assert name in ("irlint", "cat"), name
    if name == "cat":
        return "".join((folder / file).read_text("utf-8") for file in arguments)
    env = {name: value for name, value in os.environ.items() if name not in NEUTRAL}
    with open(os.devnull, "rb") as none, TemporaryFile() as out:
        status = ended(arguments, folder, {**env, "PYTHONIOENCODING": "utf-8"}, (none, out, out))
        out.seek(0)
        text = out.read().decode()
    assert "Traceback" not in text
    assert "IRL008" not in text
    return text + (f"[exit status {status}]\n" if status else "")


SECTIONS = list(dict.fromkeys(block.section for block in of("console")))


def test_consoles_are_found() -> None:
    assert len(SECTIONS) >= 1
    assert sum(len(commands(block.text)) for block in of("console")) >= 4


@pytest.mark.parametrize("section", SECTIONS)
def test_consoles_show_what_is_printed(section: str, folder: Path) -> None:
    for block in (block for block in BLOCKS if block.section == section):
        if block.file:
            (folder / block.file).write_text(block.text, "utf-8")
        if block.language == "console":
            check_console(block.text, folder)


def check_console(text: str, folder: Path) -> None:
    pieces = []
    for command, shown in commands(text):
        printed_text = printed(command, folder).rstrip("\n") + "\n"
        if "\n...\n" in f"\n{shown}":
            printed_text = shown if fits(printed_text, shown) else printed_text
        pieces.append(f"$ {command}\n{printed_text}")
    if os.environ.get(REWRITE):
        README.write_text(
            README.read_text("utf-8").replace(f"```console\n{text}```", f"```console\n{''.join(pieces)}```")
        )
        return
    assert "".join(pieces) == text, f"with {REWRITE}=1 this test writes what irlint prints now into README.md"


def fits(printed_text: str, shown: str) -> bool:
    """Whether an output is one that is shown with ``...`` in place of some of its lines."""
    parts = f"\n{shown}".split("\n...\n")
    return re.fullmatch(r"\n(?:.*\n)?".join(map(re.escape, parts)), f"\n{printed_text}", re.S) is not None


def test_screen_is_what_is_printed(folder: Path) -> None:
    screen = next(block.text for block in of("text"))
    ((command, shown),) = commands(screen)
    assert printed(command, folder) == f"{shown}[exit status 1]\n"


def test_terminal_is_drawn_as_it_is() -> None:
    if os.environ.get(REWRITE):
        terminal.PICTURE.write_text(terminal.picture(), "utf-8", newline="\n")
    assert terminal.PICTURE.read_text("utf-8") == terminal.picture(), f"with {REWRITE}=1 this test writes it anew"
    assert f"({terminal.PICTURE.relative_to(ROOT).as_posix()})" in TEXT


@pytest.mark.parametrize(
    "block",
    [block for block in of("python") if block.text.startswith("import irlint\n")],
    ids=lambda block: block.section,
)
def test_python_runs(block: Block, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    exec(compile(block.text, "README.md", "exec"), {})


def test_commands_under_these_headings_are_run_elsewhere() -> None:
    assert [block.section for block in of("sh")] == ["Quick start", "Tests"]


def test_every_option_exists() -> None:
    from irlint.command.cli import commands as group

    known = {"--help"} | {
        option
        for command in group.commands.values()
        for parameter in command.params
        for option in (*parameter.opts, *parameter.secondary_opts)
    }
    body = TEXT.partition("## Tests")[0]
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", "\n".join(re.findall(r"`[^`\n]+`", body))))
    named |= {word for block in of("console", "yaml") for word in re.findall(r"irlint.* (--[a-z][a-z-]+)", block.text)}
    assert named - {"--check"} <= known
    assert len(named) > 5


def test_every_command_exists() -> None:
    from irlint.command.cli import commands as group

    assert set(re.findall(r"^\| `irlint ([a-z]+)", TEXT, re.M)) == set(group.commands)


def test_every_key_of_the_configuration_is_there() -> None:
    schema = json.loads(Path(irlint.__file__).with_name("irlint.schema.json").read_text("utf-8"))
    printed_text = TEXT.partition("| key | what it says |")[2].partition("\n\n")[0]
    named = {
        key.strip("[]")
        for row in printed_text.splitlines()
        for key in re.findall(r"`([^`]+)`", row.split("|")[1:2][0] if "|" in row else "")
    }
    assert named == set(schema["properties"])


def test_links_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)#]+)\)|src(?:set)?=\"([^\"]+)\"", TEXT.partition("<!-- rules:begin")[0])
    for target in map("".join, links):
        assert target.startswith("https://") or (ROOT / target).exists(), target


def test_yaml_fits_the_hooks_and_the_action() -> None:
    hooks = {hook["id"] for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))}
    action = yaml.safe_load((ROOT / ".github/actions/irlint/action.yml").read_text("utf-8"))
    shown = {block.section: yaml.safe_load(block.text) for block in of("yaml")}
    assert {hook["id"] for repo in shown["pre-commit"]["repos"] for hook in repo["hooks"]} <= hooks
    uses = [step for step in shown["GitHub Actions"] if "irlint@" in step["uses"]]
    assert len(uses) == 1
    assert set(uses[0]["with"]) <= set(action["inputs"])


def test_jobs_of_gitlab_write_the_reports_that_they_upload(folder: Path) -> None:
    (job,) = next(yaml.safe_load(block.text) for block in of("yaml") if block.section == "GitLab CI").values()
    (command,) = (line for line in job["script"] if line.startswith("irlint "))
    (folder / "fixtures" / "onnx" / "good").rename(folder / "models")
    assert "Checked" in printed(command, folder)
    assert all((folder / report).stat().st_size for report in job["artifacts"]["reports"].values())
