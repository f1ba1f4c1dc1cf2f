"""What hands type by habit, and what the command answers."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from policy.test_configuration import run

import irlint
from irlint.command import check as session
from irlint.command.options import COMMANDS, DEFAULTS
from irlint.run import files

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "onnx"
BAD, GOOD = FIXTURES / "bad" / "IRL201-broadcast-mismatch.onnx", FIXTURES / "good" / "IRL201-broadcast-mismatch.onnx"
FROZEN = next((FIXTURES / "bad").glob("IRL608*.onnx"))


def test_short_version() -> None:
    assert run("-V").stdout == run("--version").stdout == f"irlint, version {irlint.__version__}\n"


def test_help_of_a_command() -> None:
    assert run("help", "fix").stdout == run("fix", "--help").stdout
    assert run("help").stdout == run("--help").stdout


def test_commands_stand_in_the_order_of_use() -> None:
    _, _, listed = run("--help").stdout.partition("Commands:\n")
    names = [line.split()[0] for line in listed.splitlines() if line[2:3].strip()]
    assert names == [name for name in COMMANDS if name in names]
    assert "..." not in listed


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        (["--format", "jsn", GOOD], "Did you mean 'json'?"),
        (["--fix", GOOD], "help: `irlint fix` is a command"),
        (["explain", "IRL999"], "did you mean"),
        (["--fail-on", "warnings", GOOD], "Did you mean 'warning'?"),
    ],
)
def test_did_you_mean(arguments: list[str | Path], answer: str) -> None:
    result = run(*arguments)
    assert (result.returncode, answer in result.stderr) == (2, True)


def test_a_rule_that_is_off_is_ignored(tmp_path: Path) -> None:
    (tmp_path / "irlint.toml").write_text('[severity]\nbroadcast-mismatch = "off"\n')
    result = run(BAD, cwd=tmp_path)
    assert (result.returncode, 'write ignore = ["broadcast-mismatch"]' in result.stderr) == (2, True)


def test_python_names_its_own_argument() -> None:
    with pytest.raises(ValueError, match=r"^shapes=nope: no input named nope"):
        irlint.check(GOOD, shapes={"nope": [1]})
    assert "from shapes=" in irlint.check(GOOD, shapes={"x": [1, 2, 3, 4]}).text()
    assert set(dir(irlint)) == set(irlint.__all__)


def test_counts_add_up(tmp_path: Path) -> None:
    shutil.copy(GOOD, tmp_path / "good.onnx")
    (tmp_path / "page.onnx").write_text("<html>")
    assert run(tmp_path).stdout.endswith("Found 1 error in 1 of 2 models.\n2 models: 1 ONNX checked, 1 unreadable.\n")
    (tmp_path / "good.onnx").unlink()
    assert run(tmp_path).stdout.endswith("1 model: 1 unreadable.\n")


def test_only_some_sizes_work() -> None:
    result = run(FROZEN)
    assert (result.returncode, "`--fail-on warning` makes this fail." in result.stdout) == (0, True)
    assert run(FROZEN, "--fail-on", "warning").returncode == 1
    assert "--fail-on" not in run(BAD).stdout


@pytest.mark.parametrize(("form", "shown"), [("text", True), ("concise", True), ("json", False)])
def test_ctrl_c_shows_what_was_found(
    form: str, shown: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("a", "b", "c"):
        shutil.copy(BAD, tmp_path / f"{name}.onnx")
    every = files.outcomes

    def two(*given: Any, **further: Any) -> Iterator[files.Outcome]:
        found = every(*given, **further)
        yield next(found)
        yield next(found)
        raise KeyboardInterrupt

    monkeypatch.setattr(files, "outcomes", two)
    with pytest.raises((SystemExit, KeyboardInterrupt)) as ended:
        session.check([str(tmp_path)], {**DEFAULTS, "format": form, "no_progress": True, "jobs": 1})
    output = capsys.readouterr()
    assert ("IRL201" in output.out) == shown
    if shown:
        assert ended.value.code == 130  # type: ignore[union-attr]
        assert output.err == "irlint: interrupted: 2 of 3 models were checked\n"
    else:
        assert ended.type is KeyboardInterrupt


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
@pytest.mark.parametrize(
    ("word", "answers"),
    [
        ("expl", "explain"),
        ("s", "shapes summary site/ some.onnx"),
        ("some", ""),
        ("", " ".join(COMMANDS[: COMMANDS.index("help")])),
    ],
)
def test_completion_in_bash(word: str, answers: str, tmp_path: Path) -> None:
    (tmp_path / "some.onnx").touch()
    (tmp_path / "site").mkdir()
    program = tmp_path.with_name(f"{tmp_path.name}-bin") / "irlint"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m irlint "$@"\n', "utf-8")
    program.chmod(0o755)
    script = f"""source <(_IRLINT_COMPLETE=bash_source irlint); COMP_WORDS=(irlint {word or "''"}) COMP_CWORD=1
_irlint_completion irlint 2>/dev/null; echo "${{COMPREPLY[*]}}" """
    environment = os.environ | {"PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == answers
