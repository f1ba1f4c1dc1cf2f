"""How IR documents spell types, shapes and numbers, with OpenVINO as the referee."""

from __future__ import annotations

import pytest

from irlint.dims import bounds
from irlint.parsers.openvino.types import (
    element_type,
    integer,
    leading_number,
    natural,
    partial_shape,
    port_precision,
    renamed_type,
)

pytestmark = pytest.mark.oracle

NET = """<net version="11"><layers>
<layer id="0" name="x" type="Parameter" version="opset1"><data shape="" element_type="f32"/>
<output><port id="0" precision="FP32"/></output></layer>
<layer id="1" name="r" type="Result" version="opset1"><input><port id="0"/></input></layer>
</layers><edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/></edges></net>"""


def refused(document, path):
    import openvino as library

    path.write_text(document)
    try:
        library.Core().read_model(path)
    except Exception:
        return True
    return False


@pytest.mark.parametrize(("text", "number"), [("0", 0), (" 12", 12), ("+7", 7), ("-3", -3), ("007", 7)])
def test_whole_numbers(text, number):
    assert integer(text) == number


@pytest.mark.parametrize("text", ["", " ", "-", "1 ", "1.5", "0x1", "1e3", "٣", "9223372036854775808", "--1"])
def test_what_is_no_whole_number(text):
    with pytest.raises(ValueError, match="integer"):
        integer(text)


def test_a_natural_number_is_not_below_zero():
    assert natural("0") == 0
    with pytest.raises(ValueError, match="below 0"):
        natural("-1")


@pytest.mark.parametrize(
    ("text", "number", "rest"),
    [("12", 12, ""), (" -1 ", -1, ""), ("2.5", 2, ".5"), ("1..8", 1, "..8"), ("3 4", 3, "4")],
)
def test_leading_numbers(text, number, rest):
    assert leading_number(text) == (number, rest)


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("", ()),
        ("[]", ()),
        ("2,3", (2, 3)),
        (" [ 2 , 3 ] ", (2, 3)),
        ("?,-1", (None, None)),
        ("...", None),
        ("[...]", None),
        ("2..2", (2,)),
        ("0..,..", (None, None)),
        ("8..2,1..-1", (None, None)),
        ("-2", (0,)),
        ("99999999999999999999", (0,)),
    ],
)
def test_shapes(text, shape):
    import openvino as library

    assert partial_shape(text, "d") == shape
    known = library.PartialShape(text)
    assert known.rank.is_dynamic if shape is None else len(known) == len(shape)


@pytest.mark.parametrize("text", ["1..8", "..5", "3..", "-3..5", "1..99999999999999999999"])
def test_intervals(text):
    import openvino as library

    (dim,) = partial_shape(text, lambda axis: f"d_{axis}")
    known = library.PartialShape(text)[0]
    assert bounds(dim) == (known.min_length, None if known.max_length == -1 else known.max_length)
    assert partial_shape(text, "d") == (dim,)


@pytest.mark.parametrize(
    "text",
    [
        "abc",
        "2,",
        "2,,3",
        ",2",
        "2abc",
        "2.5",
        "1 .. 8",
        "1..x",
        "...,2",
        "2,...",
        "1...3",
        "?..3",
        "+3",
        "[2",
        "1..2..3",
    ],
)
def test_shapes_that_are_none(text):
    import openvino as library

    with pytest.raises(RuntimeError):
        library.PartialShape(text)
    with pytest.raises(ValueError, match="shape"):
        partial_shape(text, "d")


NAMES = [
    "dynamic",
    "undefined",
    "unspecified",
    "boolean",
    "bool",
    "bf16",
    "f16",
    "f32",
    "f64",
    "i4",
    "i8",
    "i16",
    "i32",
    "i64",
    "u1",
    "u2",
    "u3",
    "u4",
    "u6",
    "u8",
    "u16",
    "u32",
    "u64",
    "nf4",
    "f4e2m1",
    "f8e4m3",
    "f8e5m2",
    "f8e8m0",
    "string",
    "f8",
    "i2",
    "fp16",
    "fp32",
    "bin",
    "q78",
    "fp64",
    "float",
    "int",
    "char",
    "u5",
    "i1",
]


@pytest.mark.parametrize("name", [*NAMES, *map(str.upper, NAMES)])
def test_element_types_and_precisions(name, tmp_path):
    sized = NET.replace("f32", name), NET.replace("FP32", name)
    by_attribute, by_precision = (refused(document, tmp_path / "m.xml") for document in sized)
    assert accepts(element_type, name) is not by_attribute
    assert accepts(port_precision, name) is not by_precision


def accepts(function, text):
    try:
        function(text)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize(
    ("text", "attribute", "port"),
    [
        ("FP32", "f32", "FP32"),
        ("F32", "f32", "FP32"),
        ("float32", "f32", "FP32"),
        ("fp16", "f16", "FP16"),
        ("BOOLEAN", "boolean", "BOOL"),
        ("int64", "i64", "I64"),
        ("uint8", "u8", "U8"),
        ("weird", None, None),
    ],
)
def test_what_another_format_calls_an_element_type(text, attribute, port):
    assert (renamed_type(text), renamed_type(text, port=True)) == (attribute, port)
