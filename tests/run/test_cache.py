"""Outcomes that are kept: the same report without the work, and none that is no longer true."""

from __future__ import annotations

import json
import os
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path

import onnx
import onnx.helper as make
import pytest
from command.process import BAD, FIXTURES, GOOD, WARNING, ran

from irlint.run import cache

#: Before irlint runs: each model that is really checked is printed.
PRELUDE = """
import sys
from irlint.run import one_file
sound = one_file.inspected
def inspected(path, *rest, **options):
    print("checked", path, file=sys.stderr)
    return sound(path, *rest, **options)
one_file.inspected = inspected
"""

IR = """<net version="11"><layers><layer id="0" name="c" type="Const" version="opset1">
<data element_type="i64" shape="1" offset="0" size="8"/><output><port id="0" precision="I64"><dim>1</dim></port>\
</output></layer>
<layer id="1" name="r" type="Result" version="opset1"><input><port id="0"><dim>1</dim></port></input></layer></layers>
<edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/></edges></net>
"""


def checked(folder: Path, *arguments: str, **env: str) -> tuple[list[str], bytes]:
    """Which models a run with a cache really checks, and its report, which is that of a run without one."""
    options = ("models", "--jobs", "1", *arguments)
    with_cache = ran(*options, "--cache", folder / "kept", cwd=folder, prelude=PRELUDE, **env)
    without = ran(*options, cwd=folder, **env)
    assert (with_cache.returncode, with_cache.stdout) == (without.returncode, without.stdout)
    lines = [line.split() for line in with_cache.stderr.decode().splitlines()]
    return [words[1].removeprefix("models/") for words in lines if words[0] == "checked"], with_cache.stdout


def external(path: Path) -> None:
    tensor = onnx.TensorProto(name="s", dims=[1], data_type=7, data_location=onnx.TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value="s.data")
    ends = [[make.make_tensor_value_info(name, 1, None)] for name in "xy"]
    graph = make.make_graph([make.make_node("Reshape", ["x", "s"], ["y"])], "g", *ends, [tensor])
    onnx.save(make.make_model(graph, ir_version=8, opset_imports=[make.make_opsetid("", 17)]), path)
    path.with_name("s.data").write_bytes((-1).to_bytes(8, "little", signed=True))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    models = tmp_path / "models"
    models.mkdir()
    for name, source in {"bad": BAD, "good": GOOD, "warned": WARNING}.items():
        shutil.copy(source, models / f"{name}.onnx")
    shutil.copy(FIXTURES / "openvino" / "bad" / "IRL204-pdpd-broadcast-mismatch.xml", models / "lost.xml")
    (models / "ir.xml").write_text(IR)
    (models / "ir.bin").write_bytes(bytes(8))
    external(models / "ext.onnx")
    return tmp_path


EVERY = ["bad.onnx", "ext.onnx", "good.onnx", "ir.xml", "lost.xml", "warned.onnx"]


def test_a_second_run_checks_what_is_not_kept(folder: Path) -> None:
    assert checked(folder)[0] == EVERY
    assert checked(folder)[0] == ["lost.xml"]
    assert checked(folder, "--format", "jsonl")[0] == EVERY
    for path in (folder / "models").iterdir():
        os.utime(path, (1, 1))
    assert checked(folder, "--format", "jsonl")[0] == ["lost.xml"]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda models: shutil.copy(BAD, models / "good.onnx"), "good.onnx"),
        (lambda models: (models / "ir.bin").write_bytes(bytes(7)), "ir.xml"),
        (lambda models: (models / "ir.bin").write_bytes(bytes(7) + b"1"), "ir.xml"),
        (lambda models: (models / "ir.bin").unlink(), "ir.xml"),
        (lambda models: (models / "s.data").write_bytes(bytes(8)), "ext.onnx"),
        (lambda models: (models / "s.data").write_bytes(bytes(9)), "ext.onnx"),
        (lambda models: (models / "s.data").unlink(), "ext.onnx"),
        (lambda models: os.link(models / "s.data", models.parent / "other"), "ext.onnx"),
    ],
)
def test_what_has_changed_is_checked(change: Callable[[Path], object], expected: str, folder: Path) -> None:
    checked(folder)
    change(folder / "models")
    assert checked(folder)[0] == sorted([expected, "lost.xml"])


@pytest.mark.parametrize("arguments", [("--ignore", "IRL2"), ("--shape", "x=N,?"), ("--target", "onnxruntime@1.17")])
def test_what_is_asked_otherwise_is_checked(arguments: tuple[str, ...], folder: Path) -> None:
    (folder / "models" / "good.onnx").unlink()
    checked(folder)
    assert len(checked(folder, *arguments)[0]) == 5
    assert checked(folder, *arguments)[0] == ["lost.xml"]


def test_another_configuration(folder: Path) -> None:
    checked(folder)
    (folder / "irlint.toml").write_text(
        '[severity]\nIRL201 = "note"\n[[suppress]]\nrule = "IRL104"\nreason = "known"\n'
    )
    assert checked(folder)[0] == EVERY
    assert checked(folder, PYTHONHASHSEED="7")[0] == ["lost.xml"]


def test_entries_that_are_damaged_or_hostile(folder: Path) -> None:
    checked(folder)

    class Hostile:
        def __reduce__(self) -> tuple[object, ...]:
            return os.mkdir, (str(folder / "made"),)

    for number, file in enumerate(sorted(path for path in (folder / "kept").rglob("*") if path.is_file())):
        file.write_bytes(
            (b"", b"nonsense", pickle.dumps(Hostile()), pickle.dumps(1), file.read_bytes()[:90])[number % 5]
        )
    assert checked(folder)[0] == EVERY
    assert not (folder / "made").exists()
    assert checked(folder)[0] == ["lost.xml"]


#: A pickle that gives the class of findings an attribute by which none of them is a root.
BUILD = b"cirlint.findings.report\nFinding\nN}X\x07\0\0\0becauseX\x01\0\0\0xs\x86b."


def test_a_pickle_changes_no_class(folder: Path) -> None:
    checked(folder)
    for file in entries(folder):
        file.write_bytes(BUILD)
    kept, report = checked(folder)
    assert kept == EVERY
    assert b"Found 2 errors" in report


def entries(folder: Path) -> list[Path]:
    return sorted(path for path in (folder / "kept").rglob("*") if path.is_file())


def entry_of(folder: Path, name: str) -> Path:
    return next(file for file in entries(folder) if json.loads(file.read_bytes())[0] == f"models/{name}")


def test_the_entry_of_another_model(folder: Path) -> None:
    checked(folder)
    shutil.copy(entry_of(folder, "good.onnx"), entry_of(folder, "bad.onnx"))
    assert checked(folder)[0] == ["bad.onnx", "lost.xml"]


def test_the_entry_of_another_folder(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("other")
    (other / "models").mkdir()
    shutil.copy(BAD, other / "models" / "good.onnx")
    checked(folder)
    checked(other)
    entry_of(other, "good.onnx").write_bytes(entry_of(folder, "good.onnx").read_bytes())
    assert checked(other)[0] == ["good.onnx"]


def changed(text: str, at: tuple[int, ...], value: object) -> str:
    """An entry with another value at a place in its lists."""
    whole = inner = json.loads(text)
    for index in at[:-1]:
        inner = inner[index]
    inner[at[-1]] = value
    return json.dumps(whole)


@pytest.mark.parametrize(
    ("at", "value"),
    [
        ((2,), "zz"),
        ((3,), []),
        ((3, 0, 0), "models/good\0.onnx"),
        ((3, 0, 2), []),
        ((3, 0, 2), [[1 << 80, 1 << 81]]),
        ((3, 0, 1), "1"),
        ((5,), []),
        ((5, 0, 0), "models/good.onnx"),
        ((5, 0, 3), "many"),
        ((5, 0, 4), 1),
        ((5, 0, 15), {}),
        ((5, 1, 0, 1), "IRL99999"),
        ((5, 1, 0, 1), "os"),
        ((5, 1, 0, 2), "none"),
        ((5, 1, 0, 3), None),
        ((5, 1, 0, 15), "text"),
        ((5, 1, 0, 15, 1, 0), [1]),
        ((5, 2), "error"),
    ],
    ids=repr,
)
def test_entries_with_something_else_in_a_field(at: tuple[int, ...], value: object, folder: Path) -> None:
    checked(folder)
    file = entry_of(folder, "bad.onnx")
    file.write_text(changed(file.read_text(), at, value))
    assert checked(folder)[0] == ["bad.onnx", "lost.xml"]


def test_a_format_that_is_none(folder: Path) -> None:
    checked(folder)
    file = entry_of(folder, "ext.onnx")
    file.write_text(changed(file.read_text(), (5, 0, 1), "remote.web"))
    assert checked(folder)[0] == ["ext.onnx", "lost.xml"]


def test_what_is_read_again_is_what_was_written(folder: Path) -> None:
    from irlint.run.files import Settings

    kept = 0
    for path in (*sorted(FIXTURES.glob("*/bad/*.onnx"))[::9], *sorted(FIXTURES.glob("*/bad/*.xml"))[::9]):
        settings = Settings({}, drawn=True, cache=str(folder / "kept"))
        first = cache.cached_outcome(settings, str(path))
        entry = cache._read(cache._file(settings.cache, str(path)))
        kept += entry is not None
        assert entry is None or entry.outcome == first
    assert kept > 15


def test_another_program(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from irlint.run.files import Settings

    asked = cache._hash_of(Settings({}))
    assert cache._hash_of(Settings({})) == asked
    assert cache._hash_of(Settings({}, drawn=True)) != asked
    monkeypatch.setattr(cache, "_program", lambda: iter([("irlint", 1, 2)]))
    assert cache._hash_of(Settings({})) != asked


def test_another_installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another place and another time are the same program, another file is not."""

    def program(name: str, record: str | None) -> list[object]:
        site = tmp_path / name
        (site / "irlint-0.1.0.dist-info").mkdir(parents=True)
        (site / "irlint" / "run").mkdir(parents=True)
        (site / "irlint" / "run" / "cache.py").touch()
        if record is not None:
            (site / "irlint-0.1.0.dist-info" / "RECORD").write_text(record)
        monkeypatch.setattr(cache, "__file__", str(site / "irlint" / "run" / "cache.py"))
        return list(cache._program())

    record = "../../bin/irlint,sha256={},9\nirlint/run/cache.py,sha256=a,5\nirlint/run/__pycache__/cache.pyc,,\n"
    first = program("first", record.format("x"))
    assert ("irlint/run/cache.py,sha256=a,5\n" in first) and len(first) == 4
    assert program("second", record.format("y")) == first
    assert program("changed", record.replace("=a", "=b")) != first
    assert program("no-record", None) != program("checkout", "../../bin/irlint,,\n")


def test_a_folder_that_cannot_be_written(folder: Path) -> None:
    (folder / "kept").write_text("no folder")
    assert checked(folder)[0] == checked(folder)[0] == EVERY


def test_several_processes(folder: Path) -> None:
    first = ran("models", "--jobs", "3", "--cache", "kept", cwd=folder)
    second = ran("models", "--jobs", "3", "--cache", "kept", cwd=folder, prelude=PRELUDE)
    assert first.stdout == second.stdout
    assert second.stderr.decode().split() == ["checked", "models/lost.xml"]
