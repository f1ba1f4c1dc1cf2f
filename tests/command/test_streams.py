"""Standard output and files: every encoding, closed pipes, and what stood in a file before."""

from __future__ import annotations

import errno
import io
import json
import os
import shutil
import sys
from pathlib import Path

import pytest
from command.process import BAD, GOOD, IR, ended, ran, run

from irlint.command import settings, streams
from irlint.reporters import console
from irlint.reporters.forms import FORMS

posix = pytest.mark.skipif(os.name != "posix", reason="permissions and devices of POSIX")


def answered(*arguments: object, encoding: str, cwd: Path) -> bytes:
    result = ran(*arguments, cwd=cwd, PYTHONIOENCODING=encoding)
    assert result.stderr == b""
    return result.stdout


@pytest.fixture
def named(tmp_path: Path) -> Path:
    """A folder with a model whose name is in no code page of the West."""
    shutil.copy(BAD, tmp_path / "модель.onnx")
    (tmp_path / ".git").mkdir()
    return tmp_path


@pytest.mark.parametrize("form", [form.name for form in FORMS.values() if form.document])
def test_documents_are_the_same_bytes_in_every_encoding(form: str, named: Path) -> None:
    first, *others = (
        answered(".", "--format", form, encoding=each, cwd=named) for each in ("utf-8", "cp1252", "cp437")
    )
    assert first
    assert others == [first, first]
    assert b"\r" not in first


@pytest.mark.parametrize("encoding", ["cp1252", "cp437", "ascii"])
@pytest.mark.parametrize("form", ["text", "concise"])
def test_what_an_encoding_does_not_have_is_escaped(form: str, encoding: str, named: Path) -> None:
    text = answered(".", "--format", form, encoding=encoding, cwd=named).decode(encoding)
    assert "\\u043c\\u043e\\u0434" in text


def test_listing_is_json_in_every_encoding(named: Path) -> None:
    text = answered("shapes", "модель.onnx", "--format", "json", encoding="cp1252", cwd=named)
    assert json.loads(text)["path"] == "модель.onnx"
    assert answered("shapes", "модель.onnx", encoding="cp437", cwd=named)


class Closed(io.RawIOBase):
    """A pipe that nobody reads any more, with the number by which a system says so."""

    def __init__(self, number: int) -> None:
        self.number = number

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        raise OSError(self.number, os.strerror(self.number))


@pytest.mark.parametrize(
    ("windows", "number", "quiet"),
    [(False, errno.EPIPE, True), (True, errno.EPIPE, True), (True, errno.EINVAL, True), (False, errno.EINVAL, False)],
)
def test_closed_pipe(windows: bool, number: int, quiet: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "WINDOWS", windows)
    stream = io.TextIOWrapper(Closed(number))  # type: ignore[type-var]
    monkeypatch.setattr(sys, "stdout", stream)
    if quiet:
        streams.emit("text")
    else:
        with pytest.raises(SystemExit):
            streams.emit("text")
    monkeypatch.undo()
    stream.detach()


@posix
def test_standard_output_is_not_replaced(tmp_path: Path) -> None:
    with open(tmp_path / "log", "wb") as log:
        assert ended([str(GOOD), "--output", "json=/dev/stdout"], tmp_path, os.environ, (0, log, 2)) == 0
    text = (tmp_path / "log").read_text()
    assert text.startswith("No findings.\n")
    assert json.loads(text.partition("model.\n")[2])["summary"]["errors"] == 0
    assert [path.name for path in tmp_path.iterdir()] == ["log"]


@posix
def test_permissions_of_a_file_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "r.json"
    file.write_text("old")
    file.chmod(0o600)
    run(GOOD, "--output", f"json={file}", "--output", f"sarif={tmp_path / 'new.sarif'}")
    assert (file.stat().st_mode & 0o777, json.loads(file.read_text())["schema"]) == (0o600, "irlint-report-1")
    mask = os.umask(0)
    os.umask(mask)
    assert (tmp_path / "new.sarif").stat().st_mode & 0o777 == 0o666 & ~mask


def test_a_file_that_somebody_has_open_is_written_into(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise PermissionError(errno.EACCES, "somebody has it open")

    monkeypatch.setattr(os, "replace", refused)
    (tmp_path / "r.txt").write_text("something longer than what comes")
    streams.write(str(tmp_path / "r.txt"), "new\n", "--output")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("r.txt", b"new\n")]


def test_wildcards_where_the_shell_leaves_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("b.onnx", "a.onnx", "c[1].onnx"):
        Path(name).touch()
    paths = ("*.onnx", "c[1].onnx", "gone*", "-")
    assert settings.expanded(paths) == paths
    monkeypatch.setattr(console, "WINDOWS", True)
    assert settings.expanded(paths) == ("a.onnx", "b.onnx", "c[1].onnx", "c[1].onnx", "gone*", "-")


def test_line_ends_are_not_translated(tmp_path: Path) -> None:
    windows = "import sys, io; sys.stdout = io.TextIOWrapper(sys.stdout.detach(), newline='\\r\\n')"
    result = ran(IR, "--format", "sarif", "--output", "json=r.json", cwd=tmp_path, prelude=windows)
    assert json.loads(result.stdout)["version"] == "2.1.0"
    assert b"\r" not in result.stdout + (tmp_path / "r.json").read_bytes()
