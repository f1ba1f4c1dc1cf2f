"""The element types that a caller of an IR of version 10 sees."""

from __future__ import annotations

from pathlib import Path

import pytest
from cases.ir_documents import NO_DIMS, SMALL, written
from cases.models import OV_NAMES

import irlint

TYPES = ("boolean", "bf16", "f16", "f32", "f64", "i4", "i8", "i16", "i32", "i64", "u4", "u8", "u16", "u32", "u64")


@pytest.mark.oracle
@pytest.mark.parametrize("version", [10, 11])
@pytest.mark.parametrize("type", TYPES)
def test_openvino_says_the_same(type: str, version: int, tmp_path: Path) -> None:
    import openvino

    text = SMALL.replace('version="11"', f'version="{version}"').replace('element_type="f32"', f'element_type="{type}"')
    path = written(tmp_path, text.replace("FP32", "UNSPECIFIED").replace(*NO_DIMS))
    model = openvino.Core().read_model(path)
    given, made = (
        OV_NAMES.get(name, name)
        for name in (each.get_element_type().get_type_name() for each in (model.inputs[0], model.outputs[0]))
    )
    found = irlint.contract(path)
    assert (found["inputs"][0]["dtype"], found["outputs"][0]["dtype"]) == (given, made)
    assert irlint.shapes(path)["values"][0]["dtype"] == given
    assert not [each for each in irlint.check(path).findings if each.severity.value != "note"]
