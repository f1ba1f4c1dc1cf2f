"""What Python code that imports irlint has: models in memory, the choice of rules, and reports that tests can raise."""

from __future__ import annotations

import io
import pickle
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy
import onnx
import onnx.parser
import pytest

import irlint

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
BAD, GOOD = (FIXTURES / "onnx" / kind / "IRL201-broadcast-mismatch.onnx" for kind in ("bad", "good"))
BAD_IR, GOOD_IR = (FIXTURES / "openvino" / kind / "IRL204-pdpd-broadcast-mismatch.xml" for kind in ("bad", "good"))
WEIGHTED = FIXTURES / "openvino" / "good" / "IRL705-invalid-const.xml"
WARNING = FIXTURES / "onnx" / "bad" / "IRL104-nodes-not-sorted.onnx"

#: What makes of a file each thing that may be given in its place.
IN_MEMORY = {
    "bytes": Path.read_bytes,
    "bytearray": lambda path: bytearray(path.read_bytes()),
    "memoryview": lambda path: memoryview(path.read_bytes()),
    "file object": lambda path: io.BytesIO(path.read_bytes()),
    "ModelProto": onnx.load,
    "what torch.onnx.export returns": lambda path: SimpleNamespace(model_proto=onnx.load(path)),
}


@pytest.mark.parametrize("kind", IN_MEMORY)
def test_models_in_memory(kind: str) -> None:
    bad, good = (IN_MEMORY[kind](path) for path in (BAD, GOOD))
    (found,) = irlint.check(bad).findings
    assert (found.rule.code, found.path) == ("IRL201", "<memory>/model.onnx")
    assert irlint.check(good, shapes={"b": (1,)}).findings


@pytest.mark.parametrize("path", [BAD, GOOD, BAD_IR, GOOD_IR, WARNING])
def test_a_model_in_memory_is_reported_as_its_file(path: Path) -> None:
    name, data = path.as_posix(), path.read_bytes()
    assert irlint.check(data, name=name).text() == irlint.check(path).text()
    with path.open("rb") as file:
        assert irlint.check(file).as_dict() == irlint.check(path).as_dict()
    for asked in (irlint.shapes, irlint.contract, irlint.info, irlint.targets):
        assert asked(data, name=path) == asked(path)
    assert irlint.diff(data, path, names=(path, None)) == irlint.diff(path, path)
    value = irlint.shapes(path)["values"][0]["name"]
    assert irlint.why(data, value, name=path) == irlint.why(path, value)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_an_ir_without_a_name(encoding: str) -> None:
    text = GOOD_IR.read_text("utf-8").replace('encoding="utf-8"', f'encoding="{encoding.removesuffix("-sig")}"')
    report = irlint.check(text.encode(encoding))
    assert (report.files[0].path, report.files[0].format, report.findings) == ("<memory>/model.xml", "openvino", ())


def test_files_beside_a_model_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = WEIGHTED.read_bytes()
    monkeypatch.chdir(tmp_path)
    assert irlint.check(data).findings == ()
    assert [each.rule.code for each in irlint.check(data, name="m.xml").findings] == ["IRL701"]
    assert [each.rule.code for each in irlint.check([data, data], select="IRL7").findings] == []


def test_several_models() -> None:
    report = irlint.check([BAD.read_bytes(), onnx.load(BAD), GOOD])
    assert {each.path for each in report.files} == {"<memory>/model-1.onnx", "<memory>/model-2.onnx", GOOD.as_posix()}
    assert len(report.errors) == 2


def test_two_models_in_memory_are_distinguished() -> None:
    def model(scale: float) -> onnx.ModelProto:
        made = onnx.parser.parse_model(
            '<ir_version: 8, opset_import: ["" : 17]> g (float[300] x) => (float[300] y) { y = Mul (x, w) }'
        )
        made.graph.initializer.append(
            onnx.helper.make_tensor("w", 1, [300], b"\0\0\0" * 300 + bytes([int(scale)]) * 300, raw=True)
        )
        return made

    assert irlint.diff(model(1), model(1))["changes"] == []
    found = irlint.diff(model(1), model(2), names=("m.onnx", "m.onnx"))
    assert [found["old"]["path"], found["new"]["path"], len(found["changes"])] == ["m.onnx", "m.onnx", 1]
    assert irlint.diff(model(1), model(2))["old"]["path"] == "<memory>/old.onnx"


@pytest.mark.parametrize(
    ("options", "codes"),
    [
        ({}, {"IRL201"}),
        ({"select": "IRL2"}, {"IRL201"}),
        ({"select": ["IRL1", "broadcast-mismatch"]}, {"IRL201"}),
        ({"select": "IRL1,IRL3"}, set()),
        ({"ignore": ["IRL2"]}, set()),
        ({"select": ["IRL2"], "ignore": "IRL201"}, set()),
        ({"targets": "onnxruntime@1.10", "select": "IRL8"}, {"IRL816"}),
    ],
)
def test_choice_of_rules(options: dict[str, object], codes: set[str]) -> None:
    assert {each.rule.code for each in irlint.check(BAD, **options).findings} == codes


def test_no_configuration_but_the_one_that_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "irlint.toml").write_text('ignore = ["IRL201"]\nexclude = ["models/old.onnx"]', "utf-8")
    for name in ("m", "old"):
        (tmp_path / "models" / f"{name}.onnx").write_bytes(BAD.read_bytes())
    monkeypatch.chdir(tmp_path)
    assert len(irlint.check("models").errors) == 2
    report = irlint.check("models", config="irlint.toml")
    assert [each.path for each in report.files] == ["models/m.onnx"]
    assert report.findings == ()
    assert len(irlint.check(onnx.load(BAD), name="m.onnx").errors) == 1
    assert irlint.check(onnx.load(BAD), name="m.onnx", config=tmp_path / "irlint.toml").findings == ()


def test_baseline_and_shapes_of_the_configuration(tmp_path: Path) -> None:
    model = tmp_path / "m.onnx"
    model.write_bytes(BAD.read_bytes())
    (found,) = irlint.check(model).findings
    entry = f'{{"schema": "irlint-baseline-1", "findings": {{"m.onnx": {{"IRL201": ["{found.fingerprint}"]}}}}}}'
    (tmp_path / "known.json").write_text(entry, "utf-8")
    file = tmp_path / "irlint.toml"
    file.write_text('baseline = "known.json"', "utf-8")
    assert (irlint.check(model, config=file).findings, irlint.check(model, config=file).hidden) == ((), 1)
    file.write_text('[[models]]\nfile = "m.onnx"\nshapes = { b = "1" }', "utf-8")
    assert not irlint.check(model, config=file).errors


def test_report() -> None:
    bad, good, warned = irlint.check(BAD), irlint.check(GOOD), irlint.check(WARNING)
    assert (bad.ok, good.ok, warned.ok) == (False, True, True)
    assert (len(bad.errors), len(bad.warnings), len(warned.errors), len(warned.warnings)) == (1, 0, 0, 1)
    assert bad.errors[0].severity is irlint.Severity.ERROR and isinstance(bad.errors[0], irlint.Finding)
    assert isinstance(bad, irlint.Report) and {"Report", "check", "assert_valid"} <= set(dir(irlint))
    assert repr([bad, good]) == "[<Report: 1 error in 1 model>, <Report: no findings in 1 model>]"
    place = f"{BAD.as_posix()}: Add y: axis 1 is 64 against 32: input 0 is"
    assert repr(bad.errors[0]).startswith(f"<Finding error[IRL201] {place}")
    assert repr(bad.errors[0].rule) == "<Rule IRL201 broadcast-mismatch>"
    with pytest.raises(AttributeError, match="no attribute 'chek'"):
        irlint.chek  # noqa: B018


def test_text_of_a_report(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FIXTURES)
    report = irlint.check(BAD.relative_to(FIXTURES))
    assert report.text() == f"{report}\n" and "differ, and neither is 1" in str(report)
    assert max(map(len, report.text(width=70).splitlines())) <= 70
    assert "\x1b[" in report.text(color=True) and "\x1b[" not in str(report)
    assert str(irlint.check(GOOD)) == "No findings.\nChecked 1 ONNX model."
    assert str(pickle.loads(pickle.dumps(report))) == str(report)


def test_what_is_raised(tmp_path: Path) -> None:
    report = irlint.check(BAD)
    with pytest.raises(irlint.InvalidModel) as raised:
        report.raise_for_errors()
    assert str(raised.value) == str(report) and raised.value.report is report
    assert str(pickle.loads(pickle.dumps(raised.value))) == str(report)
    irlint.check([GOOD, WARNING]).raise_for_errors()
    with pytest.raises(AssertionError) as failed:
        irlint.assert_valid(BAD)
    assert str(failed.value) == str(report)
    irlint.assert_valid(GOOD)
    irlint.assert_valid(BAD, ignore="IRL201")
    with pytest.raises(AssertionError, match="IRL201"):
        irlint.assert_valid(onnx.load(GOOD), shapes={"b": (7, 1, 1)})
    with pytest.raises(AssertionError, match=r"^Nothing to check\.\nChecked nothing\.$"):
        irlint.assert_valid(tmp_path)


@pytest.mark.parametrize(
    "shape",
    [
        (7, 1, 1),
        "7,1,1",
        " 7, 1, 1 ",
        ["7", "1", "1"],
        numpy.array([7, 1, 1]),
        (numpy.int64(7), numpy.uint8(1), True),
        (size for size in (7, 1, 1)),
    ],
)
def test_forms_of_shapes(shape: Any) -> None:
    (found,) = irlint.check(GOOD, shapes={"b": shape}).errors
    assert "[7, 1, 1]" in found.message


def test_a_text_of_nothing_is_a_scalar() -> None:
    assert irlint.shapes(GOOD, shapes={"b": ""})["values"][1]["shape"] == []


@pytest.mark.parametrize(
    ("model", "options", "error", "message"),
    [
        (3, {}, TypeError, "not int"),
        (onnx.GraphProto(), {}, TypeError, "not GraphProto"),
        (io.StringIO(""), {}, TypeError, "binary mode"),
        (BAD, {"name": "m.onnx"}, ValueError, "`name` is only for a model in memory"),
        ([BAD], {"name": "m.onnx"}, ValueError, "these are several"),
        (BAD, {"select": "IRL20x"}, ValueError, "select: unknown rule 'IRL20x'"),
        (BAD, {"ignore": ["nope"]}, ValueError, "ignore: unknown rule 'nope'"),
        (BAD, {"select": []}, ValueError, "it names no rule"),
        (BAD, {"targets": "tensorflow"}, ValueError, "unknown target 'tensorflow'"),
        (onnx.load(BAD), {"shapes": {"q": (1,)}}, ValueError, "the inputs of <memory>/model.onnx are x, b"),
        (GOOD, {"shapes": {"b": (1.5, 1)}}, ValueError, "1.5 is not a size: it has to be an integer, a name"),
        (GOOD, {"shapes": {"b": numpy.array([7.0])}}, ValueError, "7.0.* is not a size"),
        (GOOD, {"shapes": {"b": (numpy.int64(-1),)}}, ValueError, "^-1 is not a size: it has to be at least 0"),
        (GOOD, {"shapes": {"b": "1,,3"}}, ValueError, "'' is not a size"),
        (GOOD, {"shapes": {"b": 3}}, ValueError, "the shape of 'b' is 3, where a list or a text"),
        ("gone.onnx", {}, FileNotFoundError, "gone.onnx"),
        (BAD, {"config": "gone.toml"}, FileNotFoundError, "gone.toml"),
        (BAD, {"config": BAD}, ValueError, "^the file is not valid TOML"),
        (BAD, {"config": FIXTURES.parent / "pyproject.toml"}, ValueError, r"no table \[tool.irlint\]"),
    ],
)
def test_what_is_refused(model: object, options: dict[str, object], error: type[Exception], message: str) -> None:
    if "pyproject" in str(options.get("config")) and not (FIXTURES.parent / "pyproject.toml").exists():
        pytest.skip("there is no checkout")
    with pytest.raises(error, match=message):
        irlint.check(model, **options)


def test_types_are_imported_when_they_are_asked_for() -> None:
    code = "import sys, irlint; print(*[name for name in sys.modules if name.startswith('irlint')])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert set(loaded) == {"irlint", "irlint.lazy_typing"}


@pytest.mark.parametrize("question", [irlint.shapes, irlint.contract, irlint.info, irlint.targets])
def test_a_shape_for_an_input_that_the_model_does_not_have(question: Any) -> None:
    head = '<ir_version: 8, opset_import: ["" : 17]>'
    model = onnx.parser.parse_model(f"{head} g (float[2] x) => (float[2] y) {{ y = Neg (x) }}")
    with pytest.raises(ValueError, match="no input named z; the model's inputs are x"):
        question(model, shapes={"z": [1, 3]})


def test_a_shape_for_an_input_with_a_default_applies() -> None:
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]> g (float[2,3] x, float[1,3] d) => (float[a,b] y) { y = Add (x, d) }'
    )
    model.graph.initializer.append(onnx.helper.make_tensor("d", onnx.TensorProto.FLOAT, (1, 3), [0.0, 0.0, 0.0]))
    assert not irlint.check(model).findings
    (found,) = irlint.check(model, shapes={"d": (4, 3)}).errors
    assert (found.rule.code, found.message) == ("IRL201", "axis 0 is 2 in input 0 and 4 in input 1")
