"""What a shell, a file system and a terminal can do to a run: no traceback, no hang, the right exit status."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import onnx
import onnx.parser
import pytest
from command.process import BAD, FIXTURES, GOOD, run, words
from onnx import helper

import irlint
from irlint import parsers
from irlint.reporters.forms import FORMS

posix = pytest.mark.skipif(os.name != "posix", reason="a shell of POSIX")
full = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device that is always full")


def shell(script: str, folder: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """What a line of shell says, ``irlint`` being the command under test."""
    command = f'irlint() {{ {words()} "$@"; }}\n{script}'
    result = subprocess.run(
        ["sh", "-c", command],
        cwd=folder,
        env={**os.environ, **env},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="surrogateescape",
        timeout=60,
        check=False,
    )
    assert "Traceback" not in result.stdout + result.stderr
    return result


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copy(GOOD, tmp_path / "good.onnx")
    shutil.copy(BAD, tmp_path / "bad.onnx")
    return tmp_path


@posix
@pytest.mark.parametrize(
    ("script", "status", "text"),
    [
        ("mkdir x.onnx && irlint x.onnx", 2, "nothing to check"),
        ("mkdir x.onnx && cp good.onnx x.onnx && irlint x.onnx", 0, "Checked 1 ONNX model"),
        ("mkfifo x.onnx && irlint x.onnx", 2, "--stdin-filename"),
        ("irlint good.onnx gone.onnx lost.onnx", 2, "no such file or folder: lost.onnx"),
        ("mkfifo x.xml && irlint x.xml", 2, "--stdin-filename"),
        ("mkfifo x.onnx && irlint shapes x.onnx", 2, "--stdin-filename"),
        (
            "mkdir d && mkfifo d/x.onnx && irlint d",
            1,
            "error[IRL009]: the file cannot be opened: it is not a regular file",
        ),
        ("ln -s x.onnx x.onnx && irlint x.onnx", 2, "no such file or folder: x.onnx"),
        ("mkdir d && ln -s nowhere d/x.onnx && irlint d", 1, "the link to nowhere cannot be opened: no such file"),
        ("mkdir d && ln -s x.onnx d/x.onnx && cp bad.onnx d && irlint d", 1, "Found 2 errors in 2 of 2 models"),
        ("mkdir d && ln -s loop d/loop && cp good.onnx d && irlint d", 0, "Checked 1 ONNX model"),
        ("mkdir d && ln -s nowhere d/x.onnx && irlint d/x.onnx", 2, "no such file or folder: d/x.onnx"),
        ("mkdir d && ln -s nowhere d/x.onnx && irlint d --ignore unreadable-file", 0, "1 unreadable"),
        ("mkdir d && cp good.onnx d && ln -s ../d d/d && irlint d", 0, "Checked 1 ONNX model"),
        ("mkdir d && irlint d", 2, "nothing to check"),
        ("cp bad.onnx \"$(printf 'a\\nb\\033[31m.onnx')\" && irlint a*", 1, "a\\nb\\x1b[31m.onnx"),
        ("cp bad.onnx ./-x.onnx && irlint check -- -x.onnx", 1, "-x.onnx"),
        ("cp bad.onnx ./--no-progress && irlint --allow-empty -- --no-progress", 1, "--> --no-progress"),
        ("irlint -", 2, "--stdin-filename"),
        ("irlint - --stdin-filename m.onnx", 1, "the file is empty"),
        ("irlint - --stdin-filename m.onnx <&-", 2, "standard input is closed"),
        ("irlint good.onnx >&-", 0, ""),
        ("irlint bad.onnx >&-", 1, ""),
        ("irlint nowhere 2>&-", 2, ""),
        ("irlint good.onnx --output json=good.onnx/x.json", 2, "cannot write good.onnx/x.json"),
        ("mkdir d && irlint good.onnx --output json=d", 2, "cannot write d"),
        ("irlint good.onnx --output json=/dev/null && test -c /dev/null", 0, ""),
        ("irlint ''", 2, "no such file or folder"),
        ("irlint good.onnx/x", 2, "no such file or folder: good.onnx/x"),
    ],
)
def test_run(script: str, status: int, text: str, folder: Path) -> None:
    result = shell(script, folder)
    assert result.returncode == status, result.stdout + result.stderr
    assert text in result.stdout + result.stderr


@full
@pytest.mark.parametrize("command", ["irlint good.onnx", "irlint bad.onnx", "irlint rules", "irlint --help"])
def test_full_disk(command: str, folder: Path) -> None:
    result = shell(f"{command} >/dev/full", folder)
    assert result.returncode == 2
    assert "No space left on device" in result.stderr


@posix
def test_a_report_goes_through_a_link(folder: Path) -> None:
    (folder / "link.json").symlink_to("report.json")
    assert shell("irlint good.onnx --output json=link.json", folder).returncode == 0
    assert (folder / "link.json").is_symlink()
    assert (folder / "report.json").read_text().startswith("{")


@posix
def test_unreadable_file(folder: Path) -> None:
    (folder / "good.onnx").chmod(0)
    if os.access(folder / "good.onnx", os.R_OK):
        pytest.skip("this user may read everything")
    result = shell("irlint good.onnx", folder)
    assert result.returncode == 2
    assert "good.onnx: Permission denied" in result.stderr


@posix
def test_a_name_that_is_no_utf_8(folder: Path) -> None:
    name = b"n\xff\xfe.onnx"
    try:
        shutil.copy(os.fsencode(BAD), os.path.join(os.fsencode(folder), name))
    except OSError:
        pytest.skip("the file system takes no such name")
    for form in FORMS:
        assert run(".", "--format", form, cwd=folder).returncode == 1


@posix
@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
def test_names_that_steer_a_terminal(encoding: str, tmp_path: Path) -> None:
    model = onnx.load(BAD)
    model.graph.name = "g\n\x1b[2J中"
    model.graph.node[0].name = "evil\n\x1b[31mred\x1b]0;t\x07\u202e"
    onnx.save(model, tmp_path / "m.onnx")
    for form in ("text", "concise", "github"):
        result = run("m.onnx", "--format", form, cwd=tmp_path, PYTHONIOENCODING=encoding)
        assert result.returncode == 1
        assert "\x1b" not in result.stdout and "\u202e" not in result.stdout


def test_two_runs_give_the_same_bytes(tmp_path: Path) -> None:
    outputs = [f"--output={form}={tmp_path / form}" for form in FORMS]
    models = [path for path in sorted(FIXTURES.glob("*/bad/*")) if path.suffix != ".bin"][::3]
    first, second = (
        (
            run(*models, "-v", *outputs, cwd=FIXTURES, **seed).stdout,
            {form: (tmp_path / form).read_bytes() for form in FORMS},
        )
        for seed in ({}, {"PYTHONHASHSEED": "1"})
    )
    assert first == second
    assert all(len(text) > 10_000 for text in first[1].values())


#: Runs irlint, and reports when it waits for its standard input.
WAITING = """
import os, sys
from irlint.command.entry import main

class Stdin:
    buffer = property(lambda self: self)

    def read(self, size):
        os.write(1, b"reading")
        return os.read(0, 1)

sys.stdin = Stdin()
main()
"""


@posix
def test_interrupt() -> None:
    command = [sys.executable, "-c", WAITING, "-", "--stdin-filename", "m.onnx"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.read(7) == b"reading"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (130, b"", b"")


def test_long_lists_and_names_are_cut(tmp_path: Path) -> None:
    text = '<ir_version: 8, opset_import: ["" : 17]>\ng (float[1,3,8,8] x) => (float[1,3,8,8] y) { y = MaxPool (x) }'
    model = onnx.parser.parse_model(text)
    model.graph.node[0].attribute.append(helper.make_attribute("kernel_shape", list(range(1, 100_000))))
    model.graph.node[0].name = "n" * 60_000
    onnx.save(model, tmp_path / "m.onnx")
    (finding,) = irlint.check(tmp_path / "m.onnx").findings
    assert "(99999 entries)" in finding.message
    assert len(finding.message) <= 600
    result = run("m.onnx", cwd=tmp_path)
    assert result.returncode == 1
    assert len(result.stdout) < 5000


def test_two_thousand_nodes_with_one_defect_each(tmp_path: Path) -> None:
    nodes = [helper.make_node("Concat", ["x", "x"], [f"y{i}"], name=f"n{i}", axis=7) for i in range(2000)]
    given = helper.make_tensor_value_info("x", 1, ["N", 3])
    graph = helper.make_graph(nodes, "g", [given], [helper.make_tensor_value_info("y0", 1, ["N", "M"])])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), tmp_path / "m.onnx")
    result = run("m.onnx", cwd=tmp_path)
    assert "the same at 1999 more nodes" in result.stdout
    assert len(result.stdout.splitlines()) < 30


def test_what_cannot_be_opened_in_a_folder_is_a_finding(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "closed").mkdir()
    scandir, first_bytes = os.scandir, parsers.first_bytes

    def scanned(path: str) -> Any:
        if os.fspath(path).endswith("closed"):
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return scandir(path)

    def read(path: str) -> bytes:
        if os.fspath(path).endswith("good.onnx") or os.path.isdir(path):
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return first_bytes(path)

    monkeypatch.setattr(os, "scandir", scanned)
    monkeypatch.setattr(parsers, "first_bytes", read)
    report = irlint.check(folder)
    found = [(Path(finding.path).name, finding.rule.code, finding.message) for finding in report.findings]
    assert [each for each in found if each[1] == "IRL009"] == [
        ("closed", "IRL009", "the folder cannot be opened: permission denied"),
        ("good.onnx", "IRL009", "the file cannot be opened: permission denied"),
    ]
    assert [file.status for file in report.files] == ["checked", "unreadable", "unreadable"]
    with pytest.raises(PermissionError):
        irlint.check([folder, folder / "good.onnx"])
    with pytest.raises(PermissionError):
        irlint.check(folder / "closed")
