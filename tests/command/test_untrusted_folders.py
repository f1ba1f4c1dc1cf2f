"""Folders of unknown people: what lies in them is neither executed nor written through, and no report takes the place
of a file."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import onnx
import pytest
from command.process import BAD, FORKS, GOOD, WARNING, run, started

resource = pytest.importorskip("resource")

pytestmark = pytest.mark.skipif(not FORKS, reason="links, pipes and limits of processes")


@pytest.mark.parametrize("command", [["."], ["rules"], ["shapes", "m.onnx"], [".", "--config", "c.toml"]], ids=str)
def test_modules_in_the_working_folder_are_not_imported(command: list[str], tmp_path: Path) -> None:
    shutil.copy(GOOD, tmp_path / "m.onnx")
    (tmp_path / "c.toml").write_text('ignore = ["IRL9"]\n')
    for name in ("click", "onnx", "lxml", "numpy", "rich", "json", "tomllib", "tomli", "fnmatch"):
        (tmp_path / f"{name}.py").write_text("open('executed', 'w')\n")
    result = started(*command, cwd=tmp_path, PYTHONPATH=os.pathsep.join(sys.path), PYTHONDONTWRITEBYTECODE="1")
    assert (result.returncode, result.stderr) == (0, "")
    assert not (tmp_path / "executed").exists()


def test_names_that_a_shell_would_execute_are_not_completed(tmp_path: Path) -> None:
    model = onnx.load(GOOD)
    for at, name in enumerate(("w`id`", "w$(id)", "w\nx", "w x", "w;x", "w\x1b[2J", "w/a.b:0")):
        model.graph.node.add(op_type="Relu", input=[model.graph.input[0].name], output=[name], name=f"n{at}")
    onnx.save(model, tmp_path / "m.onnx")
    words = {"COMP_WORDS": "irlint why m.onnx w", "COMP_CWORD": "3", "_IRLINT_COMPLETE": "bash_complete"}
    assert run(cwd=tmp_path, **words).stdout == "plain,w/a.b:0\n"


def test_fix_writes_nothing_outside_of_the_folder(tmp_path: Path) -> None:
    for name in ("models", "outside"):
        (tmp_path / name).mkdir()
    shutil.copy(WARNING, tmp_path / "outside" / "m.onnx")
    shutil.copy(WARNING, tmp_path / "models" / "b.onnx")
    (tmp_path / "models" / "a.onnx").symlink_to("../outside/m.onnx")
    (tmp_path / "models" / "c.onnx").hardlink_to(tmp_path / "outside" / "m.onnx")
    result = run("fix", ".", cwd=tmp_path / "models")
    assert "not fixed: 1 link to files outside of the named paths (a.onnx)" in result.stderr
    assert (tmp_path / "outside" / "m.onnx").read_bytes() == WARNING.read_bytes()
    assert (tmp_path / "models" / "b.onnx").read_bytes() != WARNING.read_bytes()
    assert "fixed 1 finding" in run("fix", "a.onnx", cwd=tmp_path / "models").stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ["m.onnx", "--output", "json=m.onnx"],
        [".", "--output", "json=l.json"],
        [".", "--output", "json=irlint.toml"],
        ["m.onnx", "--baseline", "b.json", "--output", "json=b.json"],
        ["m.onnx", "--output", "json=r", "--output", "text=./r"],
        ["m.onnx", "--output", f"json={'a/' * 1500}x"],
        ["m.onnx", "--output", f"json={'a/' * 9000}x"],
        ["m.onnx", "--output", f"json={'a' * 300}"],
        ["m.onnx", "--output", "json=m.onnx/x"],
        ["summary", "pipe"],
        ["summary", "/dev/zero"],
    ],
    ids=lambda arguments: " ".join(arguments)[:40],
)
def test_files_that_are_neither_written_nor_read(arguments: list[str], tmp_path: Path) -> None:
    shutil.copy(BAD, tmp_path / "m.onnx")
    (tmp_path / "l.json").symlink_to("m.onnx")
    (tmp_path / "irlint.toml").write_text('ignore = ["IRL9"]\n')
    (tmp_path / "b.json").write_text('{"schema": "irlint-baseline-1", "findings": {}}')
    os.mkfifo(tmp_path / "pipe")
    before = sorted(tmp_path.iterdir())
    result = run(*arguments, cwd=tmp_path)
    assert (result.returncode, result.stderr.startswith("irlint: error: ")) == (2, True)
    assert (sorted(tmp_path.iterdir()), (tmp_path / "m.onnx").read_bytes()) == (before, BAD.read_bytes())


@pytest.mark.parametrize("arguments", [[], ["--jobs", "2"], ["--format", "jsonl", "--jobs", "2"]], ids=str)
def test_a_process_that_may_open_few_files(arguments: list[str], tmp_path: Path) -> None:
    for name in "abcd":
        shutil.copy(BAD, tmp_path / f"{name}.onnx")
    expected = started(".", *arguments, cwd=tmp_path)
    for limit in (6, 8, 11, 12, 14):
        result = subprocess.run(
            [sys.executable, "-m", "irlint", ".", *arguments],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            preexec_fn=lambda limit=limit: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit)),
        )
        if result.returncode == 2:
            assert (result.stderr.count("\n"), "Too many open files" in result.stderr) == (1, True)
        else:
            assert (result.returncode, result.stdout, result.stderr) == (1, expected.stdout, "")


@pytest.mark.parametrize("file", ["m.onnx", "m.xml", "m.txt", "irlint.toml"])
def test_text_of_files_elsewhere_is_not_shown(file: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "key").write_text("TOKEN = 5ECRE7\n")
    folder = tmp_path / "models"
    folder.mkdir()
    shutil.copy(BAD, folder / "bad.onnx")
    (folder / file).symlink_to("../secret/key")
    for arguments in (["."], [file], [".", "--format", "html"], ["diff", "--textconv", file]):
        result = run(*arguments, cwd=folder)
        assert (result.returncode in (0, 1, 2), "5ECRE7" in result.stdout + result.stderr) == (True, False)


def test_numbers_without_end(tmp_path: Path) -> None:
    shutil.copy(GOOD, tmp_path / "m.onnx")
    assert run("m.onnx", "--timeout", "9" * 30, cwd=tmp_path).returncode == 0
    assert run("shapes", "m.onnx", "--around", "y", "--depth", "9" * 30, cwd=tmp_path).returncode == 0


@pytest.mark.parametrize("signal", ["SIGTERM", "SIGHUP", "SIGINT"])
@pytest.mark.parametrize(
    "options", [["--output", "json=r.json"], ["--cache", "c"], ["--baseline", "r.json", "--update-baseline"]], ids=str
)
def test_signals_while_a_file_is_written(signal: str, options: list[str], tmp_path: Path) -> None:
    shutil.copy(BAD, tmp_path / "m.onnx")
    (tmp_path / "r.json").write_text('{"schema": "irlint-baseline-1", "findings": {}}')
    before = sorted(tmp_path.iterdir()), (tmp_path / "r.json").read_text()
    code = (
        "import os, signal\nfrom irlint.command.entry import main\n"
        f"os.chmod = lambda *_: os.kill(os.getpid(), signal.{signal})\nmain()"
    )
    result = subprocess.run([sys.executable, "-c", code, "m.onnx", *options], cwd=tmp_path, capture_output=True)
    assert (result.returncode, result.stderr) == ({"SIGTERM": -15, "SIGHUP": -1, "SIGINT": 130}[signal], b"")
    files = sorted(path for path in tmp_path.rglob("*") if path.is_file())
    assert (files, (tmp_path / "r.json").read_text()) == before


def test_a_disk_without_room(tmp_path: Path) -> None:
    shutil.copy(WARNING, tmp_path / "m.onnx")
    (tmp_path / "r.json").write_text('{"schema": "irlint-baseline-1", "findings": {}}')
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    full = (
        "import resource, signal\nsignal.signal(signal.SIGXFSZ, "
        "signal.SIG_IGN)\nresource.setrlimit(resource.RLIMIT_FSIZE, (20, 20))\n"
    )
    code = f"{full}from irlint.command.entry import main\nmain()"
    for arguments in (
        ["m.onnx", "--output", "json=n/o.json"],
        ["m.onnx", "--output", "json=/dev/full"],
        ["m.onnx", "--baseline", "r.json", "--update-baseline"],
        ["fix", "m.onnx"],
        ["fix", "m.onnx", "--output", "o.onnx"],
        ["init"],
    ):
        result = subprocess.run([sys.executable, "-c", code, *arguments], cwd=tmp_path, capture_output=True, text=True)
        assert (result.returncode, result.stderr.count("\n")) == (2, 1), arguments
        assert ": cannot write " in result.stderr
        assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    cached = subprocess.run([sys.executable, "-c", code, "m.onnx", "--cache", "c"], cwd=tmp_path, capture_output=True)
    assert (cached.returncode, [path for path in (tmp_path / "c").rglob("*") if path.is_file()]) == (0, [])


def test_a_model_that_is_changed_while_it_is_fixed(tmp_path: Path) -> None:
    shutil.copy(WARNING, tmp_path / "m.onnx")
    shutil.copy(GOOD, tmp_path / "new")
    code = (
        "import os\nfrom irlint.run import fixing\nsound = fixing._with_safe_fixes\n"
        "def tidied(*rest):\n    os.replace('new', 'm.onnx')\n    return sound(*rest)\n"
        "fixing._with_safe_fixes = tidied\nfrom irlint.command.entry import main\nmain()"
    )
    result = subprocess.run([sys.executable, "-c", code, "fix", "m.onnx"], cwd=tmp_path, capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (
        2,
        "irlint: error: fix: m.onnx was changed meanwhile, so it is not written\n",
    )
    assert (tmp_path / "m.onnx").read_bytes() == GOOD.read_bytes()
