"""Edits of an IR: what each changes in the text, and that every other byte stays."""

from __future__ import annotations

import pytest
from cases.ir_documents import EDGES, INPUT, LAYERS, OUTPUT, SOUND, edge, layer, loop, net, parameter, result, sound

from irlint.findings.edits import Edit
from irlint.fixes.openvino import rewritten
from irlint.fixes.wire import Unwritable
from irlint.parsers import openvino as parser

DIMS = "<dim>2</dim><dim>3</dim>"
OUT = f'<port id="2" precision="FP32">{DIMS}</port>'
SUB = {"node": "op", "index": 2}


def written(text: str | bytes, *edits: Edit) -> bytes:
    data = text if isinstance(text, bytes) else text.encode()
    pieces = rewritten(data, parser.read("m.xml", data), edits)
    return b"".join(piece if isinstance(piece, bytes) else data[slice(*piece)] for piece in pieces)


def set_to(name: str, value: object) -> Edit:
    return Edit("attribute", name=name, value=value, **SUB)


def declared(**changes: object) -> Edit:
    return Edit("declaration", **{**SUB, **changes})


#: Edits of the sound document, and what they replace in it by what.
CASES = {
    "an attribute where there is no data": (
        set_to("auto_broadcast", "none"),
        LAYERS[2],
        LAYERS[2].replace("<input>", '<data auto_broadcast="none"/><input>'),
    ),
    "dims": (declared(name="2:2", shape=(4, None)), OUT, OUT.replace(DIMS, "<dim>4</dim><dim>-1</dim>")),
    "a dim that is kept": (declared(name="2:2", shape=("N", 5)), OUT, OUT.replace("3</dim>", "5</dim>")),
    "fewer dims": (declared(name="2:2", shape=(2,)), OUT, OUT.replace("<dim>3</dim>", "")),
    "no dims": (declared(name="2:2", shape=()), OUT, OUT.replace(DIMS, "")),
    "more dims": (declared(name="2:2", shape=(2, 3, 4)), OUT, OUT.replace(DIMS, DIMS + "<dim>4</dim>")),
    "a precision": (declared(name="2:2", dtype="bool"), OUT, OUT.replace("FP32", "BOOL")),
    "an input port": (
        declared(input=1, shape=(2, 1), dtype="float16"),
        f'<port id="1">{DIMS}</port>',
        '<port id="1" precision="FP16"><dim>2</dim><dim>1</dim></port>',
    ),
    "a Parameter": (
        Edit("declaration", node="x", index=0, name="0:0", shape=(None, 3, 1), dtype="int64"),
        LAYERS[0],
        LAYERS[0]
        .replace("2,3", "?,3,1")
        .replace("f32", "i64")
        .replace("FP32", "I64")
        .replace(DIMS, "<dim>-1</dim><dim>3</dim><dim>1</dim>"),
    ),
    "another edge": (
        Edit("input", input=1, value="0:0", **SUB),
        EDGES[1],
        EDGES[1].replace('from-layer="1"', 'from-layer="0"'),
    ),
    "a name": (Edit("rename", value='a<"b"&\'é', **SUB), 'name="op"', 'name="a&lt;&quot;b&quot;&amp;&apos;é"'),
    "a layer": (
        Edit("remove", node="y", index=1),
        f"{LAYERS[1]}\n{LAYERS[2]}\n{LAYERS[3]}\n</layers>\n<edges>\n{EDGES[0]}\n{EDGES[1]}",
        f"{LAYERS[2]}\n{LAYERS[3]}\n</layers>\n<edges>\n{EDGES[0]}",
    ),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_only_what_an_edit_names_changes(name: str, encoding: str) -> None:
    edit, old, new = CASES[name]
    head = '<!DOCTYPE net>\r\n<!-- é --><net name="n"'
    text = SOUND.replace('<?xml version="1.0"?>\n', "").replace('<net name="n"', head)
    assert text.count(old) == 1
    assert written(text.encode(encoding), edit) == text.replace(old, new).encode(encoding)


def test_attributes_that_are_there() -> None:
    text = sound('<layer id="2"', '<layer id="2"').replace("<input>", "<data a='1'  b=\"2\" a='3' />\n<input>", 1)
    assert written(text, set_to("a", [1, 2])) == text.replace("a='1'", "a='1,2'").encode()
    assert written(text, set_to("b", True)) == text.replace('b="2"', 'b="true"').encode()
    assert written(text, set_to("a", None)) == text.replace(" a='1'", "").replace(" a='3'", "").encode()
    assert written(text, set_to("c", 1.5), set_to("c", 2.5)) == text.replace("a='3' />", "a='3' c=\"2.5\" />").encode()


def test_characters_that_the_encoding_lacks() -> None:
    text = '<?xml version="1.0" encoding="ISO-8859-1"?>' + SOUND.partition("?>")[2].replace('"y"', '"ü"')
    found = written(text.encode("latin-1"), Edit("rename", value="€", **SUB))
    assert found == text.replace('"op"', '"&#8364;"').encode("latin-1")


def test_bytes_that_are_no_characters_stay() -> None:
    data = SOUND.encode().replace(b'"y"', b'"\xff"')
    assert written(data, Edit("rename", value="z", **SUB)) == data.replace(b'"op"', b'"z"')


def test_lines_are_kept_where_elements_have_their_own() -> None:
    text = net(
        [
            *LAYERS[:2],
            '  <layer id="2" name="op" type="Subtract" version="opset1">\n    <input/>\n    <output>\n      <port '
            'id="2" precision="FP32" />\n    </output>\n  </layer>',
            LAYERS[3],
        ],
        EDGES,
    )
    found = written(text, set_to("a", 1), declared(name="2:2", shape=(2, 3))).decode()
    assert '"opset1">\n    <data a="1"/>\n    <input/>' in found
    assert '<port id="2" precision="FP32" >\n        <dim>2</dim>\n        <dim>3</dim>\n      </port>\n' in found


def test_an_edge_is_added() -> None:
    text = net(LAYERS, EDGES[::2])
    found = written(text, Edit("input", input=1, value="0:0", **SUB))
    assert found == text.replace(EDGES[2], EDGES[2] + "\n" + edge(0, 0, 2, 1)).encode()
    bare = text.replace("\n" + EDGES[2], "").replace("\n" + EDGES[0], "")
    assert (
        f"<edges>{edge(0, 0, 2, 1)}\n".replace("><", ">\n  <", 1)
        in written(bare, Edit("input", input=1, value="0:0", **SUB)).decode()
    )


def test_a_body() -> None:
    text = loop(INPUT + OUTPUT)
    edit = Edit("declaration", graph="ti/body", node="op", index=1, name="1:2", shape=(2, 4))
    old, new = (
        layer(1, "Relu", "0", "2"),
        layer(1, "Relu", "0", "2").replace(f'FP32">{DIMS}', 'FP32"><dim>2</dim><dim>4</dim>'),
    )
    assert written(text, edit) == text.replace(old, new).encode()
    with pytest.raises(Unwritable):
        written(text, Edit("remove", graph="ti/body", node="r", index=2))


@pytest.mark.parametrize(
    "edit",
    [
        Edit("order", order=(1, 0), **SUB),
        Edit("rename", node="op", index=1, value="z"),
        Edit("rename", node="op", index=9, value="z"),
        Edit("rename", value="\0", **SUB),
        Edit("rename", graph="nowhere", value="z", **SUB),
        Edit("input", input=1, value="9:0", **SUB),
        declared(name="1:0", shape=()),
        declared(input=2, shape=()),
        declared(name="2:2", dtype="complex64"),
    ],
)
def test_what_cannot_be_written(edit: Edit) -> None:
    with pytest.raises(Unwritable):
        written(SOUND, edit)


def test_edges_of_layers_that_share_an_id() -> None:
    text = net([*LAYERS, parameter(1, "z"), result(4)], EDGES)
    with pytest.raises(Unwritable):
        written(text, Edit("input", input=1, value="1:0", **SUB))


def test_what_is_inside_a_removed_layer_goes_with_it() -> None:
    edits = (Edit("declaration", node="y", index=1, name="1:0", shape=(1,)), CASES["a layer"][0])
    assert written(SOUND, *edits) == written(SOUND, edits[1])
