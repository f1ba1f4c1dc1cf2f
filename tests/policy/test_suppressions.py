"""Suppressions: entries of the configuration and of the models themselves, and the notes on those that hide nothing."""

from __future__ import annotations

import datetime
import json
import shutil
from pathlib import Path
from typing import Any

import onnx
import pytest
from command.process import BAD, FIXTURES, GOOD, IR, WARNING, run

from irlint.policy.suppressions import Suppression, in_force

DAY = datetime.date(2027, 1, 31)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A repository of three models, each with one finding."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "models").mkdir()
    for name, model in {"bad.onnx": BAD, "unsorted.onnx": WARNING, "ir.xml": IR}.items():
        shutil.copy(model, tmp_path / "models" / name)
    return tmp_path


def entry(**keys: object) -> str:
    text = {"reason": '"known"', **{key: f'"{each}"' if isinstance(each, str) else each for key, each in keys.items()}}
    return "\n".join(["[[suppress]]", *(f"{key} = {each}" for key, each in text.items()), ""])


def report(*arguments: object, cwd: Path) -> dict[str, Any]:
    result = run(*arguments, "--format", "json", cwd=cwd)
    assert result.returncode in (0, 1), result.stderr
    document: dict[str, Any] = json.loads(result.stdout)
    return document


@pytest.mark.parametrize(
    ("keys", "left"),
    [
        ({"file": "models/bad.onnx"}, {"IRL104", "IRL204"}),
        ({"file": "bad.onnx"}, {"IRL104", "IRL204"}),
        ({"file": "models/*.onnx"}, {"IRL204"}),
        ({"file": "models"}, set()),
        ({"file": "**/*.xml"}, {"IRL104", "IRL201"}),
        ({"rule": "IRL201"}, {"IRL104", "IRL204"}),
        ({"rule": "IRL2"}, {"IRL104"}),
        ({"rule": "IRL20?"}, {"IRL104"}),
        ({"rule": "*-broadcast-*"}, {"IRL104", "IRL201"}),
        ({"rule": "broadcast-mismatch"}, {"IRL104", "IRL204"}),
        ({"node": "add"}, {"IRL104", "IRL201"}),
        ({"node": "ad*"}, {"IRL104", "IRL201"}),
        ({"node": "[ay]*", "rule": "IRL2"}, {"IRL104"}),
        ({"file": "*.xml", "rule": "IRL201"}, {"IRL104", "IRL201", "IRL204"}),
        ({"file": "models/bad.onnx", "expires": datetime.date(9999, 12, 31)}, {"IRL104", "IRL204"}),
        ({"file": "models/bad.onnx", "expires": "2020-02-29"}, {"IRL104", "IRL201", "IRL204"}),
    ],
)
def test_what_is_left(keys: dict[str, Any], left: set[str], folder: Path) -> None:
    (folder / "irlint.toml").write_text(entry(**keys))
    found = report(".", cwd=folder)
    assert {finding["code"] for finding in found["findings"]} == left
    assert found["summary"].get("suppressed", 0) == 3 - len(left)


@pytest.mark.parametrize(
    ("expires", "left"), [(None, 1), (DAY, 1), (DAY + datetime.timedelta(1), 1), (DAY - datetime.timedelta(1), 0)]
)
def test_an_entry_holds_to_the_end_of_its_last_day(expires: datetime.date | None, left: int) -> None:
    entry = Suppression("m.onnx", None, "", "known", expires, "irlint.toml:1")
    assert len(in_force([entry], today=DAY)) == left


def test_hidden_findings_are_counted_in_every_form_that_counts(folder: Path) -> None:
    (folder / "irlint.toml").write_text(entry(file="models"))
    for form in ("text", "concise", "json", "sarif", "github", "gitlab", "junit", "markdown"):
        result = run(".", "--fail-on", "note", "--format", form, cwd=folder)
        assert (result.returncode, result.stderr) == (0, "")
        assert ("IRL" in result.stdout) == (form == "sarif") == ("suppressions" in result.stdout)
        assert ("3 findings suppressed" in result.stdout) == (form in ("text", "concise", "github", "markdown"))


def test_expired_entry_is_reported(folder: Path) -> None:
    (folder / "irlint.toml").write_text("\n" + entry(file="models/bad.onnx", expires=datetime.date(2020, 2, 29)))
    result = run("models/bad.onnx", cwd=folder)
    assert result.returncode == 1
    assert result.stderr == (
        "irlint: note: irlint.toml:2: the suppression (file models/bad.onnx) expired on 2020-02-29 and no longer "
        "hides findings: fix them, or set a later date; its reason was: known\n"
    )
    assert run("models/bad.onnx", "-q", cwd=folder).stderr == ""


STALE = "irlint: note: irlint.toml:1: the suppression"


@pytest.mark.parametrize(
    ("keys", "arguments", "text"),
    [
        (
            {"file": "models/bad.onnx", "rule": "IRL3"},
            (".",),
            f"{STALE} (file models/bad.onnx) is unused; remove it\n",
        ),
        (
            {"file": "models/bad.onnx", "rule": "IRL3"},
            ("models/bad.onnx",),
            f"{STALE} (file models/bad.onnx) is unused; remove it\n",
        ),
        ({"file": "gone.onnx"}, (".",), f"{STALE} (file gone.onnx) is unused: no file that it matches was checked\n"),
        ({"node": "nobody"}, (".",), f"{STALE} (node nobody) is unused; remove it\n"),
        ({"rule": "IRL3"}, (".",), f"{STALE} (of every file) is unused; remove it\n"),
        ({"node": "nobody"}, ("models",), ""),
        ({"file": "gone.onnx"}, ("models/bad.onnx",), ""),
        ({"file": "*.onnx", "rule": "IRL3"}, ("models/bad.onnx",), ""),
        ({"rule": "IRL3"}, (".", "--ignore", "IRL3"), ""),
        ({"rule": "IRL3"}, (".", "--exclude", "bad.onnx"), ""),
        ({"rule": "IRL2"}, (".",), ""),
    ],
)
def test_stale_entries(keys: dict[str, Any], arguments: tuple[str, ...], text: str, folder: Path) -> None:
    (folder / "irlint.toml").write_text(entry(**keys))
    before = run(*arguments, "--isolated", cwd=folder).returncode
    result = run(*arguments, cwd=folder)
    assert result.stderr == text
    assert result.returncode == before or keys == {"rule": "IRL2"}


def test_suppressed_before_the_baseline(folder: Path) -> None:
    run(".", "--baseline", "known.json", "--update-baseline", cwd=folder)
    (folder / "irlint.toml").write_text('baseline = "known.json"\n' + entry(file="models/bad.onnx"))
    found = report(".", cwd=folder)["summary"]
    assert (found["suppressed"], found["hidden"]) == (1, 2)
    assert "stale entries: 1 (models/bad.onnx: IRL201)" in run(".", cwd=folder).stderr


# In the model.


def ignoring(text: str, node: bool) -> bytes:
    model = onnx.load(BAD)
    owner = model.graph.node[0] if node else model
    prop = owner.metadata_props.add()
    prop.key, prop.value = "irlint.ignore", text
    return model.SerializeToString()


def ir_ignoring(text: str, node: bool) -> bytes:
    document = IR.read_text()
    if not node:
        info = f'<rt_info><irlint><ignore value="{text}"/></irlint></rt_info>'
        return document.replace("</net>", f"{info}</net>").encode()
    head, mark, rest = document.partition('<layer id="2"')
    data, close, tail = rest.partition("<input>")
    info = f'<rt_info><attribute name="irlint.ignore" value="{text}"/></rt_info>'
    return f"{head}{mark}{data}{info}{close}{tail}".encode()


@pytest.mark.parametrize("node", [False, True], ids=["model", "node"])
@pytest.mark.parametrize(
    ("form", "text", "hides"),
    [
        ("onnx", "IRL201", True),
        ("onnx", "IRL2", True),
        ("onnx", "IRL305, broadcast-mismatch", True),
        ("onnx", "IRL305", False),
        ("openvino", "IRL204", True),
        ("openvino", "IRL3;IRL2", True),
        ("openvino", "pdpd-broadcast-mismatch", True),
        ("openvino", "IRL201", False),
    ],
)
def test_a_model_names_what_is_not_reported(form: str, text: str, hides: bool, node: bool, tmp_path: Path) -> None:
    file = tmp_path / ("m.onnx" if form == "onnx" else "m.xml")
    file.write_bytes(ignoring(text, node) if form == "onnx" else ir_ignoring(text, node))
    found = report(file, cwd=tmp_path)
    assert len(found["findings"]) == (0 if hides else 1)
    assert found["summary"].get("suppressed", 0) == (1 if hides else 0)
    assert run(file, cwd=tmp_path).returncode == (0 if hides else 1)


@pytest.mark.parametrize("node", [False, True], ids=["model", "node"])
def test_a_model_that_names_more_than_it_needs(node: bool, tmp_path: Path) -> None:
    (tmp_path / "m.onnx").write_bytes(ignoring("IRL201 IRL340 brodcast-mismatch", node))
    where = 'Add "y"' if node else "the model"
    result = run("m.onnx", cwd=tmp_path)
    assert result.returncode == 0
    assert result.stderr == (
        f"irlint: note: m.onnx: irlint.ignore in {where} lists IRL340, which is unused; remove it\n"
        f"irlint: note: m.onnx: irlint.ignore in {where} lists brodcast-mismatch, which is no rule, did you mean "
        "'broadcast-mismatch'?\n"
    )
    bare = run("m.onnx", "--no-ignores", cwd=tmp_path)
    assert (bare.returncode, bare.stderr) == (1, "")


def test_many_nodes_that_name_rules_in_vain(tmp_path: Path) -> None:
    model = onnx.load(FIXTURES / "onnx" / "good" / "small-detector.onnx")
    for node in model.graph.node:
        prop = node.metadata_props.add()
        prop.key, prop.value = "irlint.ignore", "IRL201"
    onnx.save(model, tmp_path / "m.onnx")
    lines = run("m.onnx", cwd=tmp_path).stderr.splitlines()
    assert lines[0] == 'irlint: note: m.onnx: irlint.ignore in Conv "c1" lists IRL201, which is unused; remove it'
    assert lines[-1] == f"irlint: note: m.onnx: and {len(model.graph.node) - 5} more unused entries"


def test_a_sound_model_that_names_a_rule(tmp_path: Path) -> None:
    model = onnx.load(GOOD)
    prop = model.metadata_props.add()
    prop.key, prop.value = "irlint.ignore", "IRL201"
    onnx.save(model, tmp_path / "m.onnx")
    result = run("m.onnx", cwd=tmp_path)
    assert (result.returncode, "lists IRL201, which is unused" in result.stderr) == (0, True)
