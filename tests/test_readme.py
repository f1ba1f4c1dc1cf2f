"""What README.md and the guide show is what happens: their consoles, Python, options, YAML and TOML."""

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
from irlint.reporters import guide

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
GUIDE = tuple(Path(guide.FOLDER) / f"{topic}.md" for topic in guide.TOPICS)
TEXTS = {path: path.read_text("utf-8") for path in (README, *GUIDE)}

#: Set, what the commands of the consoles print is written into the documents instead of compared.
REWRITE = "IRLINT_REWRITE_GOLDEN"

#: Names that the environment must not have where output is compared.
NEUTRAL = ("GITHUB_STEP_SUMMARY", "NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "COLUMNS", "IRLINT_REWRITE_GOLDEN")

#: Options of pytest, ruff, uvx and pipx.
OF_OTHERS = {"--irlint-config", "--check", "--from", "--irlint", "--spec"}


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: its document, its section, its language, the file that it is the contents of, and its text."""

    document: Path
    section: str
    language: str
    file: str
    text: str


def blocks(document: Path) -> Iterator[Block]:
    section = ""
    for found in re.finditer(r"^## ([^\n]+)$|^```(\w+)(?: title=(\S+))?\n(.*?)^```$", TEXTS[document], re.M | re.S):
        if found[1]:
            section = found[1]
        else:
            yield Block(document, section, found[2], found[3] or "", found[4])


BLOCKS = [block for document in TEXTS for block in blocks(document)]


def of(*languages: str) -> list[Block]:
    return [block for block in BLOCKS if block.language in languages]


def place(block: Block) -> str:
    return f"{block.document.stem}: {block.section}"


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


SECTIONS = list(dict.fromkeys(map(place, of("console"))))


def test_consoles_are_found() -> None:
    assert sum(len(commands(block.text)) for block in of("console")) >= 20
    assert {block.document for block in of("console")} > {README}


@pytest.mark.parametrize("section", SECTIONS)
def test_consoles_show_what_is_printed(section: str, folder: Path) -> None:
    for block in (block for block in BLOCKS if place(block) == section):
        if block.file:
            (folder / block.file).write_text(block.text, "utf-8")
        if block.language == "console":
            check_console(block, folder)


def check_console(block: Block, folder: Path) -> None:
    pieces = []
    for command, shown in commands(block.text):
        printed_text = printed(command, folder).rstrip("\n") + "\n"
        if "\n...\n" in f"\n{shown}":
            printed_text = shown if fits(printed_text, shown) else printed_text
        pieces.append(f"$ {command}\n{printed_text}")
    if os.environ.get(REWRITE):
        written = f"```console\n{''.join(pieces)}```"
        text = block.document.read_text("utf-8").replace(f"```console\n{block.text}```", written)
        block.document.write_text(text, "utf-8")
        return
    assert "".join(pieces) == block.text, f"with {REWRITE}=1 this test writes what irlint prints now"


def fits(printed_text: str, shown: str) -> bool:
    """Whether an output is one that is shown with ``...`` in place of some of its lines."""
    parts = f"\n{shown}".split("\n...\n")
    return re.fullmatch(r"\n(?:.*\n)?".join(map(re.escape, parts)), f"\n{printed_text}", re.S) is not None


def test_terminal_is_drawn_as_it_is() -> None:
    if os.environ.get(REWRITE):
        terminal.PICTURE.write_text(terminal.picture(), "utf-8", newline="\n")
    assert terminal.PICTURE.read_text("utf-8") == terminal.picture(), f"with {REWRITE}=1 this test writes it anew"
    assert f"({terminal.PICTURE.relative_to(ROOT).as_posix()})" in TEXTS[README]


@pytest.mark.parametrize(
    "block",
    [block for block in of("python") if block.text.startswith("import irlint\n")],
    ids=place,
)
def test_python_runs(block: Block, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    exec(compile(block.text, block.document.name, "exec"), {})


def test_commands_under_these_headings_are_run_elsewhere() -> None:
    assert [(block.document, block.section) for block in of("sh")] == [(README, "Quick start"), (README, "Tests")]


def test_every_option_exists() -> None:
    from irlint.command.cli import commands as group

    known = {"--help"} | {
        option
        for command in group.commands.values()
        for parameter in command.params
        for option in (*parameter.opts, *parameter.secondary_opts)
    }
    body = "\n".join(text.partition("## Tests")[0] for text in TEXTS.values())
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", "\n".join(re.findall(r"`[^`\n]+`", body))))
    named |= {word for block in of("console", "yaml") for word in re.findall(r"irlint.* (--[a-z][a-z-]+)", block.text)}
    assert named - OF_OTHERS <= known
    assert len(named) > 5


def test_every_command_exists() -> None:
    from irlint.command.cli import commands as group

    assert set(re.findall(r"^\| `irlint ([a-z]+)", TEXTS[README].partition("## Commands")[2], re.M)) == set(
        group.commands
    )


def test_every_key_of_the_configuration_is_there() -> None:
    schema = json.loads(Path(irlint.__file__).with_name("irlint.schema.json").read_text("utf-8"))
    printed_text = guide.source("configuration").partition("| key | what it sets |")[2].partition("\n\n")[0]
    named = {
        key.strip("[]")
        for row in printed_text.splitlines()
        for key in re.findall(r"`([^`]+)`", row.split("|")[1:2][0] if "|" in row else "")
    }
    assert named == set(schema["properties"])


@pytest.mark.parametrize("document", TEXTS, ids=lambda path: path.stem)
def test_links_lead_somewhere(document: Path) -> None:
    links = re.findall(r"\]\(([^)]+)\)|src(?:set)?=\"([^\"]+)\"", TEXTS[document])
    for target in map("".join, links):
        path, _, heading = target.partition("#")
        file = document.parent / path if path else document
        assert target.startswith("https://") or file.exists(), target
        if heading and not target.startswith("https://"):
            headings = re.findall(r"^#+ (.+)$", file.read_text("utf-8"), re.M)
            assert heading in [re.sub(r"[^\w -]", "", each).lower().replace(" ", "-") for each in headings], target


def test_readme_is_short() -> None:
    text = TEXTS[README]
    assert (len(text.splitlines()) <= 350, len(text.split()) <= 4500) == (True, True)


def test_quick_start_comes_before_what_needs_an_owner() -> None:
    assert "OWNER" not in TEXTS[README].partition("```sh")[0]


def test_yaml_fits_the_hooks_and_the_action() -> None:
    hooks = {hook["id"] for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))}
    action = yaml.safe_load((ROOT / ".github/actions/irlint/action.yml").read_text("utf-8"))
    shown = [yaml.safe_load(block.text) for block in of("yaml")]
    repos = [repo for each in shown if "repos" in each for repo in each["repos"]]
    assert repos
    assert {hook["id"] for repo in repos for hook in repo["hooks"]} <= hooks
    uses = [step for each in shown if isinstance(each, list) for step in each if "irlint@" in step.get("uses", "")]
    assert uses
    assert all(set(step["with"]) <= set(action["inputs"]) for step in uses)


def test_jobs_of_gitlab_write_the_reports_that_they_upload(folder: Path) -> None:
    shown = [yaml.safe_load(block.text) for block in of("yaml")]
    job = next(each["irlint"] for each in shown if "irlint" in each)
    (command,) = (line for line in job["script"] if line.startswith("irlint "))
    (folder / "fixtures" / "onnx" / "good").rename(folder / "models")
    assert "Checked" in printed(command, folder)
    assert all((folder / report).stat().st_size for report in job["artifacts"]["reports"].values())
