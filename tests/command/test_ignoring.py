"""``irlint ignore``."""

from __future__ import annotations

import shutil
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper
from policy.test_configuration import run

BAD = Path(__file__).resolve().parents[2] / "fixtures" / "onnx" / "bad" / "IRL201-broadcast-mismatch.onnx"

ENTRY = """[[suppress]]
file = "m.onnx"
node = "y"
rule = "broadcast-mismatch"
reason = "fed otherwise"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copy(BAD, tmp_path / "m.onnx")
    return tmp_path


def ignored(folder: Path, *further: str) -> None:
    result = run("ignore", "m.onnx", "y", "IRL201", "--reason", "fed otherwise", *further, cwd=folder)
    assert (result.returncode, result.stderr) == (0, "")
    assert run("m.onnx", cwd=folder).returncode == 0


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("irlint.toml", None, ENTRY),
        ("irlint.toml", "# why\nignore = ['IRL9']\n", f"# why\nignore = ['IRL9']\n\n{ENTRY}"),
        (".irlint.toml", "ignore = ['IRL9']", f"ignore = ['IRL9']\n\n{ENTRY}"),
        ("irlint.toml", "ignore = ['IRL9']\r\n", f"ignore = ['IRL9']\n\n{ENTRY}".replace("\n", "\r\n")),
        ("pyproject.toml", "[tool.irlint]\n", "[tool.irlint]\n\n" + ENTRY.replace("[[", "[[tool.irlint.")),
        ("pyproject.toml", "[tool.ruff]\n", "[tool.ruff]\n"),
    ],
)
def test_the_rest_of_the_file_is_kept(name: str, before: str | None, after: str, folder: Path) -> None:
    file = folder / name
    if before is not None:
        file.write_bytes(before.encode())
    ignored(folder)
    assert file.read_bytes() == after.encode()


def test_a_model_behind_a_linked_folder(folder: Path) -> None:
    """The entry matches the path under which the model is checked, and the path to which the link leads."""
    (folder / "real").mkdir()
    (folder / "m.onnx").rename(folder / "real" / "m.onnx")
    (folder / "link").symlink_to("real")
    result = run("ignore", "link/m.onnx", "y", "IRL201", "--reason", "fed otherwise", cwd=folder)
    assert result.returncode == 0
    assert (folder / "irlint.toml").read_text() == ENTRY.replace("m.onnx", "link/m.onnx")
    assert run("link/m.onnx", cwd=folder).returncode == 0
    assert run("real/m.onnx", cwd=folder).returncode == 0


def test_a_working_folder_behind_a_link(folder: Path) -> None:
    (folder / "real").mkdir()
    (folder / "m.onnx").rename(folder / "real" / "m.onnx")
    (folder / "config").mkdir()
    (folder / "config" / "link").symlink_to("../real")
    file, linked = folder / "config" / "irlint.toml", folder / "config" / "link"
    file.touch()
    result = run("ignore", "m.onnx", "y", "IRL201", "--reason", "fed otherwise", "--config", str(file), cwd=linked)
    assert (result.returncode, result.stderr) == (0, "")
    assert file.read_text() == ENTRY.replace("m.onnx", "../real/m.onnx")
    assert run("link/m.onnx", cwd=folder / "config").returncode == 0


def test_a_last_day(folder: Path) -> None:
    ignored(folder, "--expires", "2999-12-31")
    assert "expires = 2999-12-31\n" in (folder / "irlint.toml").read_text()


def test_a_prefix_of_rules(folder: Path) -> None:
    """One entry for each rule that the node breaks."""
    x, y, i = (
        helper.make_tensor_value_info(name, dtype, [2, size])
        for name, dtype, size in (("x", TensorProto.FLOAT, 3), ("y", TensorProto.FLOAT, 4), ("i", TensorProto.INT64, 3))
    )
    nodes = [helper.make_node("Add", ["x", "y"], ["z"], "n"), helper.make_node("Add", ["x", "i"], ["t"], "n")]
    z = helper.make_tensor_value_info("z", TensorProto.FLOAT, [2, 4])
    onnx.save(helper.make_model(helper.make_graph(nodes, "g", [x, y, i], [z])), folder / "m.onnx")
    result = run("ignore", "m.onnx", "n", "IRL", "--reason", "x", cwd=folder)
    assert (result.returncode, result.stdout) == (0, "Wrote irlint.toml: 3 findings suppressed.\n")
    assert (folder / "irlint.toml").read_text().count("[[suppress]]") == 3
    assert run("m.onnx", cwd=folder).returncode == 0


def test_entries_beside_a_value(folder: Path) -> None:
    (folder / "irlint.toml").write_text("suppress = []\n")
    result = run("ignore", "m.onnx", "y", "IRL201", "--reason", "x", cwd=folder)
    assert (result.returncode, "'suppress' is set above" in result.stderr) == (2, True)


def test_names_that_are_globs(folder: Path) -> None:
    (folder / "a[1]*.onnx").write_bytes(BAD.read_bytes())
    result = run("ignore", "a[1]*.onnx", "y", "broadcast-mismatch", "--reason", 'a "quote"', cwd=folder)
    assert (result.returncode, run("a[1]*.onnx", cwd=folder).returncode) == (0, 0)
    assert run("m.onnx", cwd=folder).returncode == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["m.onnx", "z", "IRL201", "--reason", "x"], "help: its findings are IRL201 at y"),
        (["m.onnx", "y", "IRL310", "--reason", "x"], "m.onnx has no finding of IRL310 at y"),
        (["m.onnx", "y", "IRL201"], "--reason is missing"),
        (["m.onnx", "y", "broadcast-mismach", "--reason", "x"], "did you mean 'broadcast-mismatch'?"),
        (["n.onnx", "y", "IRL201", "--reason", "x"], "no such file: n.onnx"),
        (["m.onnx", "y", "IRL201", "--reason", "x", "--expires", "soon"], "irlint.toml:"),
    ],
)
def test_what_suppresses_nothing_is_not_written(arguments: list[str], message: str, folder: Path) -> None:
    (folder / "irlint.toml").write_text("# mine\n")
    result = run("ignore", *arguments, cwd=folder)
    assert (result.returncode, message in result.stderr) == (2, True)
    assert (folder / "irlint.toml").read_text() == "# mine\n"


def test_an_entry_is_written_once(folder: Path) -> None:
    ignored(folder)
    again = run("ignore", "m.onnx", "y", "IRL201", "--reason", "x", cwd=folder)
    assert (again.returncode, (folder / "irlint.toml").read_text()) == (2, ENTRY)
