"""Layers of the same text: what is read of them by their text is what their elements say."""

from __future__ import annotations

from pathlib import Path

import pytest

from irlint import parsers
from irlint.model import Model
from irlint.parsers import openvino
from irlint.parsers.openvino.repeated import sections

FIXTURES = sorted((Path(__file__).parents[3] / "fixtures" / "openvino").rglob("*.xml"))
_BODY = next(path for path in FIXTURES if path.name == "IRL153-slices-uneven.xml")

_PORT = '<port id="{id}" precision="FP32"{names}><dim>1</dim><dim>8</dim></port>'


def _document(*, names: str = "v{at}", offset: str = "{bytes}", extra: str = "", count: int = 4) -> str:
    layers = [
        '<layer id="0" name="x" type="Parameter" version="opset1"><data shape="1,8" element_type="f32"/>'
        f"<output>{_PORT.format(id=0, names='')}</output></layer>"
    ]
    edges = []
    for at in range(count):
        own = ' names="' + names.format(at=at) + '"'
        place = offset.format(bytes=32 * at)
        first = 2 * at + 1
        layers += [
            f'<layer id="{first}" name="c{at}" type="Const" version="opset1"><data element_type="f32" shape="1,8" '
            f'offset="{place}" size="32"/><output>{_PORT.format(id=0, names=own)}</output></layer>',
            f'<layer id="{first + 1}" name="a{at}" type="Add" version="opset1"><data auto_broadcast="numpy"/><input>'
            f"{_PORT.format(id=0, names='')}{_PORT.format(id=1, names='')}</input>"
            f"<output>{_PORT.format(id=2, names=own)}</output>{extra.replace('{at}', str(at))}</layer>",
        ]
        edges += [
            f'<edge from-layer="{first - 1}" from-port="{2 if at else 0}" to-layer="{first + 1}" to-port="0"/>',
            f'<edge from-layer="{first}" from-port="0" to-layer="{first + 1}" to-port="1" />',
        ]
    last = 2 * count + 1
    layers += [
        f'<layer id="{last}" name="r" type="Result" '
        f'version="opset1"><input>{_PORT.format(id=0, names="")}</input></layer>'
    ]
    edges += [f'<edge from-layer="{last - 1}" from-port="2" to-layer="{last}" to-port="0"/>']
    joined = "\n".join(layers), "\n".join(edges)
    return (
        '<?xml version="1.0"?>\n<net name="m" '
        f'version="11"><layers>\n{joined[0]}\n</layers><edges>{joined[1]}</edges></net>'
    )


DOCUMENTS = {
    "plain": _document(),
    "several names": _document(names="v{at},w{at}"),
    "names with a blank line": _document(names="v{at}\n"),
    "no names": _document(names=""),
    "no offset": _document(offset=""),
    "offsets that are no numbers": _document(offset="{bytes}x"),
    "rt_info": _document(extra='<rt_info><attribute name="fused_names_0" version="0" value="a"/></rt_info>'),
    "fused names": _document(extra='<rt_info><attribute name="fused_names" version="0" value="a{at}"/></rt_info>'),
    "fused names of no attribute": _document(
        extra='<rt_info><attribute name="fused_names" version="0" value="&{at}"/></rt_info>'
    ),
    "more than fused names": _document(
        extra='<rt_info><attribute name="fused_names" version="0" value="a{at}"/><attribute name="layout" version="0" '
        'layout="[N]"/></rt_info>'
    ),
    "fused names of a conversion": _document(
        extra='<rt_info><attribute name="decompression" version="0"/>'
        '<attribute name="fused_names" version="0" value="a{at}"/></rt_info>'
    ),
    "an attribute twice": _document(extra="<rt_info>" + '<attribute name="precise" version="0"/>' * 2 + "</rt_info>"),
    "an attribute without a name": _document(extra='<rt_info><attribute version="0"/></rt_info>'),
    "what irlint is asked, in an attribute": _document(
        extra='<rt_info><attribute name="irlint.ignore" value="IRL{at}"/></rt_info>'
    ),
    "a tag's end in a name, and more than fused names": _document(
        extra='<rt_info><attribute name="layout" version="0" layout="[N]"/></rt_info>'
    ).replace('names="v2"', 'names="v2>"'),
    "what irlint is asked": _document(extra='<rt_info><irlint.ignore value="IRL{at}"/></rt_info>'),
    "an unknown element": _document(extra='<more names="y"/>'),
    "a second output": _document(extra="<output><port id='9'/></output>".replace("'", '"')),
    "references": _document(names="v{at}&amp;"),
    "a bare ampersand": _document(names="v{at}&"),
    "a tag in a name": _document(names="v{at}<"),
    "a tag in the last name": _document().replace('name="a3"', 'name="a<3"'),
    "a quotation mark too many": _document().replace('offset="64"', 'offset="64""'),
    "a quotation mark too few": _document().replace('names="v3"', 'names="v3'),
    "an apostrophe": _document().replace('name="a2"', "name='a2'"),
    "an apostrophe elsewhere": _document().replace("</net>", "<meta_data a='it'/></net>"),
    "a prefix": _document(extra="<a:b/>"),
    "a section between": _document().replace("<edges>", "<more><one/></more><edges>").replace("</net>", "<x/></net>"),
    "an offset of a port": _document().replace("<output><port", '<output offset="1"><port'),
    "sections inside another": _document().replace("<layers>", "<a><layers>").replace("</edges>", "</edges></a>"),
    "a declaration with an encoding": _document().replace("?>", " encoding='UTF-8' ?>"),
    "a blank line before the declaration": "\n" + _document(),
    "a wrong declaration": _document().replace('"1.0"', "\"1.0'"),
    "comments": _document(extra="<!-- <layer > -->"),
    "a layer without an id": _document().replace('id="3"', 'no="3"'),
    "the same id twice": _document().replace('id="3"', 'id="5"'),
    "an edge of another order": _document().replace('from-port="0" to-layer="2"', 'to-layer="2" from-port="0"'),
    "layers within layers": _document().replace("</layer>", '<layer id="77"/></layer>', 1),
    "none": _document(count=0),
    "edges before the layers": _document().replace(
        "<layers>", '<edges><edge from-layer="0" from-port="0" to-layer="2" to-port="0"/></edges><layers>'
    ),
    "a text that looks like an offset": _document().replace(
        '><data element_type="f32"', '> offset="16"<data element_type="f32"'
    ),
    "a value that ends like an offset": _document().replace(
        'version="opset1"><data element', 'version="opset1"><x a="b offset="/><data element'
    ),
    "defaults of a DOCTYPE": '<!DOCTYPE net [<!ATTLIST data offset CDATA "16">]>'
    + _document(offset="").replace(' offset=""', ""),
    "fused names twice": _document(
        extra="<rt_info>" + '<attribute name="fused_names" version="0" value="a{at}"/>' * 2 + "</rt_info>"
    ),
    "layers of a body, of the same number": _BODY.read_text("utf-8").replace("<layers>", '<layers a="b">', 1),
    "a long name": _document(names="v" * 70_000 + "{at}"),
}


def read_of(model: Model) -> list[object]:
    read: list[object] = [(each.fault.message, each.graph, each.place) for each in model.problems]
    if model.graph is None:
        return read
    for node in model.graph.nodes:
        values = [
            [value and (value.name, value.declared, value.port, value.place) for value in values]
            for values in (node.inputs, node.outputs)
        ]
        texts = [(name, each.kind, each.place) for name, each in node.attributes.items()]
        texts += [(name, each.value, None) for name, each in node.attributes.items() if each.kind == "TEXT"]
        ports = (node.input_ports, node.output_ports)
        own = (node.name, node.op, node.version, node.index, node.place, node.id, dict(node.metadata))
        read.append((*own, ports, values, texts))
    return [*read, *((value.name, each) for value, each in model.graph.constants.items())]


def _both_ways(path: Path, data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    one = parsers.read(path, data)
    with monkeypatch.context() as changed:
        changed.setattr(openvino, "sections", lambda data: None)
        other = parsers.read(path, data)
    assert read_of(one) == read_of(other)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_documents(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "m.bin").write_bytes(bytes(1024))
    _both_ways(tmp_path / "m.xml", DOCUMENTS[name].encode(), monkeypatch)


def test_fixtures(monkeypatch: pytest.MonkeyPatch) -> None:
    for path in FIXTURES[::4]:
        _both_ways(path, path.read_bytes(), monkeypatch)


def test_sections_of_what_openvino_writes() -> None:
    assert sections(DOCUMENTS["plain"].encode()) is not None
    message = [name for name, text in DOCUMENTS.items() if sections(text.encode()) is None]
    assert set(message) >= {"comments", "an edge of another order", "layers within layers", "a prefix"}
