"""What irlint finds in configurations of Triton, case by case."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from command.process import run
from folders.triton_cases import CASES, DEFAULT, MODELS, PAIR, written

import irlint
from irlint.reporters.triton import rendered
from irlint.run.contract import interface_and_contract

#: The models that take any batch.
BATCHED = ("pair", "default", "state")

A_OF_DEFAULT = DEFAULT + 'input { name: "a" data_type: TYPE_FP32 dims: [ -1, 3 ] }'
K = 'input { name: "k" data_type: TYPE_FP32 dims: [ 3 ] }'


@pytest.mark.parametrize("name", CASES)
def test_case(name: str, tmp_path: Path) -> None:
    found = irlint.check(written(tmp_path / "model", CASES[name])).findings
    codes = sorted({each.rule.code for each in found})
    assert codes == CASES[name][2].split(), [each.message for each in found]


@pytest.mark.parametrize("policy", ["", "version_policy { specific { versions: [ 1 ] } }"])
def test_versions_that_are_stored_elsewhere_are_a_warning(policy: str, tmp_path: Path) -> None:
    (tmp_path / "net").mkdir()
    (tmp_path / "net" / "config.pbtxt").write_text(f'backend: "onnxruntime"\n{policy}\n')
    found = irlint.check(tmp_path).findings
    assert [(each.rule.code, each.severity.value) for each in found] == [("IRL622", "warning")]


def test_a_template_is_skipped(tmp_path: Path) -> None:
    path = written(tmp_path / "model", ("pair", PAIR.replace("8", "${max_batch_size}"), ""))
    assert irlint.check(path).files[0].reason == "it is a template, which a script fills in"


def test_one_in_the_folder_of_a_version_is_skipped(tmp_path: Path) -> None:
    path = written(tmp_path / "model", ("pair", PAIR, ""))
    inside = path.with_name("1") / "config.pbtxt"
    inside.write_text(f'name: "model"\n{PAIR}')
    assert [each.status for each in irlint.check(tmp_path).files] == ["skipped", "checked", "checked"]
    assert irlint.check(written(tmp_path / "7", ("pair", PAIR, ""))).files[0].status == "checked"


@pytest.mark.parametrize("name", [name for name in MODELS if name != "sequence"])
def test_a_written_configuration_fits(name: str, tmp_path: Path) -> None:
    path = written(tmp_path / "model", (name, "", ""))
    text = rendered(*interface_and_contract(str(tmp_path / "model" / "1" / "model.onnx")))
    path.write_text(text)
    assert [each.message for each in irlint.check(path).findings] == []
    assert f"max_batch_size: {8 if name in BATCHED else 0}" in text


def test_a_sequence_has_no_configuration(tmp_path: Path) -> None:
    written(tmp_path / "model", ("sequence", "", ""))
    with pytest.raises(ValueError, match="y is not a tensor, and Triton supports only tensors"):
        rendered(*interface_and_contract(str(tmp_path / "model" / "1" / "model.onnx")))


@pytest.mark.parametrize(
    ("version", "listed", "code"),
    [(3, "", ""), (3, K, "IRL623 IRL624"), (4, K, "IRL624"), (4, f"{K[:-1]} optional: true }}", "")],
)
def test_an_initializer_among_the_inputs_is_one_from_ir_version_4_on(
    version: int, listed: str, code: str, tmp_path: Path
) -> None:
    path = written(tmp_path / "model", ("default", f"{A_OF_DEFAULT}\n{listed}", ""))
    file = tmp_path / "model" / "1" / "model.onnx"
    model = onnx.load(file)
    model.ir_version = version
    onnx.save(model, file)
    assert " ".join(sorted({each.rule.code for each in irlint.check(path).findings})) == code


def test_folders_are_left_out_on_request(tmp_path: Path) -> None:
    path = written(tmp_path / "model", ("pair", "nonsense", ""))
    assert run("check", tmp_path).returncode == 1
    assert run("check", "--no-folders", tmp_path).returncode == 0
    assert run("check", "--no-folders", path).returncode == 1


def test_the_entry_of_a_configuration(tmp_path: Path) -> None:
    path = written(tmp_path / "model", ("pair", PAIR, ""))
    entry = irlint.check(path).as_dict()["files"][0]
    assert (entry["format"], entry["kind"], entry["status"]) == (None, "triton", "checked")


def test_a_suppression_hides_a_finding(tmp_path: Path) -> None:
    path = written(tmp_path / "model", ("pair", f"{PAIR}max_batch_size: 8", ""))
    assert irlint.check(path, ignore=["config-not-parsed"]).findings == ()
