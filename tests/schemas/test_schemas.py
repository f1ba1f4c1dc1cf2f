"""The table of ONNX's schemas is what the ``onnx`` package says."""

from __future__ import annotations

from pathlib import Path

import onnx.defs
import pytest
from make import schemas as make_schemas

from irlint import schemas as schema
from irlint.targets.newest import RUNTIME


def test_table_is_written_from_the_package() -> None:
    assert Path(schema.__file__).with_name(make_schemas.TABLE.name).read_text("ascii") == make_schemas.table()


def test_table_of_onnxruntime_is_of_the_newest_release_that_was_measured() -> None:
    assert schema.runtime_version().rpartition(".")[0] == RUNTIME


@pytest.mark.oracle
def test_table_of_onnxruntime() -> None:
    import onnxruntime

    text = Path(schema.__file__).with_name(make_schemas.RUNTIME_TABLE.name).read_text("ascii")
    if text.split()[2] == onnxruntime.__version__:
        assert text == make_schemas.runtime_table()
    assert schema.of_runtime("BiasGelu", schema.MICROSOFT) in make_schemas.runtime_schemas()
    assert schema.of_runtime("Unheard", schema.MICROSOFT) is None


@pytest.mark.parametrize("domain", sorted(schema.OFFICIAL_DOMAINS))
def test_every_operator_at_every_opset(domain: str) -> None:
    newest = schema.latest_opset(domain)
    assert newest == onnx.defs.C.schema_version_map()[domain][1] if domain in onnx.defs.C.schema_version_map() else 0
    names = {each.name for each in onnx.defs.get_all_schemas_with_history() if each.domain == domain}
    assert schema.official_names(domain) == names
    for name in names:
        for version in range(1, newest + 1):
            assert schema.official(name, version, domain) == schema.installed(name, version, domain), (name, version)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("tensor(float)", "float32"),
        ("tensor(int64)", "int64"),
        ("seq(tensor(double))", "seq(float64)"),
        ("optional(seq(tensor(bool)))", "optional(seq(bool))"),
        ("map(string, tensor(float))", "map(string,float32)"),
        ("sparse_tensor(float16)", "sparse_tensor(float16)"),
    ],
)
def test_type_name(text: str, name: str) -> None:
    assert schema.type_name(text) == name


def test_unknown_operator() -> None:
    assert schema.official("Relux", 17, "") is None
    assert schema.official_versions("Relu", "") == (1, 6, 13, 14)
    assert schema.official("Gelu", 19, "") is None
