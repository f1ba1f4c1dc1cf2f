"""Whether OpenVINO's CPU plugin refuses the element types that the table says, and takes what is not in it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from make.openvino_types import asked, retyped
from oracles.ir_generator import line

from irlint.parsers.openvino.types import element_type
from irlint.schemas.openvino_cpu import is_refused

pytestmark = pytest.mark.oracle

LINES = (
    "Relu,Sin,Identity@16 f32[2,3]",
    "MaxPool@7 f32[1,3,8,8] ; kernel=2,2 strides=1,1 pads_begin=0,0 pads_end=0,0",
    "Broadcast@3 f32[16,1,1] i64{1,16,50,50} ; mode=numpy",
    "NonZero@3 f32[2,3]",
)


@pytest.mark.parametrize("text", LINES)
def test_the_table_says_what_is_compiled(text: str) -> None:
    dtypes = ("f32", "u2", "nf4", "f8e4m3", "string")
    read = line(text)
    cases = [
        (name, dtype, retyped(replace(read.case(), op=name), (0,), dtype)) for name in read.names for dtype in dtypes
    ]
    takes = dict(zip((case for _, _, case in cases), asked("openvino", [case for _, _, case in cases])))
    kept = [each for each in cases if takes[each[2]]]
    for (name, dtype, _), compiled in zip(kept, asked("compiled", [case for _, _, case in kept])):
        assert is_refused(name, read.opsets[0], 0, element_type(dtype) or "", sized=True) is not compiled, (name, dtype)
