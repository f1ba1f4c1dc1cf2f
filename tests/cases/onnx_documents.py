"""Small ONNX documents in protobuf's text format, for what ONNX's own text syntax cannot say."""

from __future__ import annotations

import struct

#: What the file beside each document holds: float32 1, 2, 3, 4 and int64 3, 2.
WEIGHTS = struct.pack("<4f2q", 1, 2, 3, 4, 3, 2)

_HEAD = 'ir_version: 8\nopset_import { version: 17 }\nopset_import { domain: "f" version: 1 }\n'
_THREE = "dims: 3 data_type: 1 float_data: [1, 2, 3]"


def _type(number: int, *dims: int | str) -> str:
    sizes = " ".join(
        f"dim {{ dim_value: {dim} }}" if isinstance(dim, int) else f'dim {{ dim_param: "{dim}" }}' for dim in dims
    )
    return f"type {{ tensor_type {{ elem_type: {number} shape {{ {sizes} }} }} }}"


def _value(field: str, name: str, number: int, *dims: int | str) -> str:
    return f'{field} {{ name: "{name}" {_type(number, *dims)} }}\n'


def _node(name: str, op: str, inputs: str, output: str, *attributes: str, domain: str = "") -> str:
    ins = " ".join(f'input: "{each}"' for each in inputs.split())
    return "\n".join(
        [f'node {{ name: "{name}" op_type: "{op}" domain: "{domain}" {ins} output: "{output}"', *attributes, "}\n"]
    )


def _tensor(name: str, text: str) -> str:
    return f'attribute {{ name: "value" type: TENSOR t {{ name: "{name}" {text} }} }}'


_X = _value("input", "x", 1, 2, 3)

#: An If whose first branch adds a Constant and an initializer.
_IF = _node(
    "if",
    "If",
    "q",
    "y",
    'attribute { name: "then_branch" type: GRAPH g { name: "then"\n'
    + _node("inner", "Constant", "", "k2", _tensor("inner", _THREE))
    + _node("a2", "Add", "x k2", "t2")
    + _node("a3", "Add", "t2 c2", "u2")
    + f'initializer {{ name: "c2" {_THREE} }}\n'
    + _value("output", "u2", 1, 2, 3)
    + "} }",
    'attribute { name: "else_branch" type: GRAPH g { name: "else"\n'
    + _node("same", "Softmax", "x", "v2", 'attribute { name: "axis" type: INT i: 1 } # of the body')
    + _value("output", "v2", 1, 2, 3)
    + "} }",
)

_FUNCTION = (
    'functions { domain: "f" name: "F" input: "x" output: "y" attribute: "a" opset_import { version: 17 }\n'
    + _node("fk", "Constant", "", "k", _tensor("fk", _THREE))
    + _node("fs", "Elu", "x", "s", 'attribute { name: "alpha" type: FLOAT ref_attr_name: "a" }')
    + _node("fl", "LeakyRelu", "s", "l", 'attribute { name: "alpha" type: FLOAT f: 1 }')
    + _node("fa", "Add", "l k", "y")
    + "}\n"
)

#: Initializers, Constants and attributes in the main graph, in a body and in a function.
VALUES = (
    _HEAD
    + 'graph { name: "g"\n'
    + _X
    + _value("input", "q", 9)
    + f'initializer {{ name: "c" {_THREE} }}\n'
    + f'initializer {{ name: "unused" {_THREE} }}\n'
    + 'initializer { name: "texts" dims: 2 data_type: 8 string_data: ["a", "b"] }\n'
    + _node("k", "Constant", "", "d", _tensor("k", _THREE))
    + _node("one", "Constant", "", "o", 'attribute { name: "value_float" type: FLOAT f: 1 }')
    + _node("n", "Add", "x c", "t")
    + _node("m", "Add", "t d", "t1")
    + _node("s", "Softmax", "t1", "t3", 'attribute { name: "axis" type: INT i: 1 } # of the main graph')
    + _node("p", "Mul", "t3 o", "t4")
    + _node("f", "F", "t4", "z", 'attribute { name: "a" type: FLOAT f: 2 }', domain="f")
    + _node("id", "Identity", "texts", "w")
    + _node("len", "Shape", "x", "len")
    + _node("fill", "ConstantOfShape", "len", "v", _tensor("fill", "dims: 1 data_type: 1 float_data: 1"))
    + _IF
    + _value("output", "y", 1, 2, 3)
    + _value("output", "z", 1, 2, 3)
    + _value("output", "w", 8, 2)
    + _value("output", "v", 1, 2, 3)
    + "}\n"
    + _FUNCTION
)

_BESIDE = 'data_location: EXTERNAL external_data { key: "location" value: "w.bin" }'

#: Constants that lie in a file beside the model: an operand, one that nothing uses, a Constant, one of a body, indices.
#: What states a shape and axes lies in the model.
EXTERNAL = (
    _HEAD
    + 'graph { name: "g"\n'
    + _X
    + _value("input", "q", 9)
    + f'initializer {{ name: "c" dims: 3 data_type: 1 {_BESIDE} }}\n'
    + f'initializer {{ name: "unused" dims: 3 data_type: 1 {_BESIDE} }}\n'
    + _node("k", "Constant", "", "d", _tensor("k", f"dims: 3 data_type: 1 {_BESIDE}"))
    + _node("n", "Add", "x c", "t")
    + _node("m", "Add", "t d", "z")
    + 'initializer { name: "s" dims: 2 data_type: 7 int64_data: [3, 2] }\n'
    + _node("axes", "Constant", "", "a", _tensor("axes", "dims: 2 data_type: 7 int64_data: [3, 2]"))
    + _node("r", "Reshape", "x s", "w")
    + _node("u", "Unsqueeze", "x a", "v")
    + f'initializer {{ name: "i" dims: 1 data_type: 7 {_BESIDE} external_data {{ key: "offset" value: "24" }} }}\n'
    + _node("g", "Gather", "w i", "o")
    + _IF.replace(f'"c2" {_THREE}', f'"c2" dims: 3 data_type: 1 {_BESIDE}')
    + _value("output", "y", 1, 2, 3)
    + _value("output", "z", 1, 2, 3)
    + _value("output", "v", 1, 2, 3, 1, 1)
    + _value("output", "o", 1, 1, 2)
    + "}\n"
)

_SPARSE = (
    'values { name: "%s" dims: 3 data_type: 1 float_data: [1, 2, 3] } '
    'indices { name: "%s" dims: 3 data_type: 7 int64_data: [0, 2, 5] } dims: [2, 3]'
)

#: A sparse initializer and a sparse Constant.
SPARSE = (
    _HEAD
    + 'graph { name: "g"\n'
    + _X
    + f"sparse_initializer {{ {_SPARSE % ('c', 'i')} }}\n"
    + _node(
        "k",
        "Constant",
        "",
        "d",
        f'attribute {{ name: "sparse_value" type: SPARSE_TENSOR sparse_tensor {{ {_SPARSE % ("k", "j")} }} }}',
    )
    + _node("n", "Add", "x c", "t")
    + _node("m", "Add", "t d", "z")
    + _value("output", "z", 1, 2, 3)
    + "}\n"
)

BASES = {"values": VALUES, "external": EXTERNAL, "sparse": SPARSE}
