"""Faults of IR documents, each against OpenVINO's own verdict."""

from __future__ import annotations

import pytest
from cases.ir_documents import (
    DEAD,
    EDGES,
    INPUT,
    LAYERS,
    OUTPUT,
    SMALL,
    SOUND,
    const,
    dead,
    edge,
    layer,
    loop,
    net,
    node,
    parameter,
    refused,
    result,
    severities,
    small,
    sound,
    written,
)

from irlint.parsers import openvino
from irlint.policy.rulebook import by_code

pytestmark = pytest.mark.oracle


@pytest.mark.parametrize(
    ("document", "code"),
    [
        # edges
        (sound(edges=(edge(8, 0, 2, 0), *EDGES[1:])), "IRL105"),
        (sound(edges=(edge(0, 5, 2, 0), *EDGES[1:])), "IRL105"),
        (sound(edges=(edge(0, 0, 2, 7), *EDGES[1:])), "IRL105"),
        (sound(edges=(*EDGES, edge(1, 0, 0, 0))), "IRL105"),
        (sound(edges=(*EDGES, edge(3, 0, 4, 0)), layers=(*LAYERS, result(4))), "IRL105"),
        (sound(layers=(*LAYERS[:2], layer(2, "Subtract", "0", "2"), LAYERS[3])), "IRL105"),
        (sound("<output>", "<output/><output>", 1), "IRL105"),
        (sound(edges=(*EDGES, EDGES[0])), "IRL107"),
        (sound(edges=(*EDGES, edge(1, 0, 2, 0))), "IRL107"),
        (sound(edges=EDGES[1:]), "IRL108"),
        (sound(edges=EDGES[1:], version=10), "IRL108"),
        (sound(edges=EDGES[:2]), "IRL108"),
        (sound(layers=(*LAYERS[:2], layer(2, "Subtract", "013", "2"), LAYERS[3])), "IRL108"),
        # attributes that must be there
        *((dead(DEAD.replace(f" {name}=", " z=", 1)), "IRL110") for name in ("id", "name", "type", "version")),
        *(
            (dead(DEAD.replace('id="5"', f'id="{id}"')), "IRL110")
            for id in ("", "-2", "2.7", "two", "0x2", "2 ", "1" * 20)
        ),
        *(
            (dead(DEAD, [edge(0, 0, 5, 0).replace(name, "z"), edge(0, 0, 5, 1)]), "IRL110")
            for name in ("from-layer", "from-port", "to-layer", "to-port")
        ),
        (dead(DEAD, [edge(0, 0, 5, 0), edge(0, 0, 5, "x")]), "IRL110"),
        (dead(DEAD.replace('<port id="0">', "<port>")), "IRL110"),
        (dead(DEAD.replace(' precision="FP32"', "")), "IRL110"),
        # ports
        *((dead(DEAD.replace("FP32", precision)), "IRL111") for precision in ("F32", "", " FP32", "q78", "float")),
        *(
            (dead(DEAD.replace("<dim>2", f"<dim>{dim}", 1)), "IRL111")
            for dim in ("?", "", "-2", "９", "- 1", "--1", "x", "9223372036854775808")
        ),
        (
            sound(
                layers=(*LAYERS[:2], layer(2, "Subtract", "00", "2"), LAYERS[3]),
                edges=(EDGES[0], edge(1, 0, 2, 0), EDGES[2]),
            ),
            "IRL111",
        ),
        (sound(layers=(*LAYERS[:2], layer(2, "Subtract", "01", "22"), LAYERS[3])), "IRL111"),
        # constants
        *(
            (net([const(0, data), result(1)], [edge(0, 0, 1, 0)]), "IRL705")
            for data in (
                'shape="2" offset="0" size="16"',
                'element_type="i64" offset="0" size="16"',
                'element_type="i64" shape="2" size="16"',
                'element_type="i64" shape="2" offset="0"',
                'element_type="i64" shape="2" offset="x" size="16"',
                'element_type="i64" shape="2" offset="0" size=""',
                'element_type="i64" shape="2" offset="-8" size="16"',
                'element_type="i64" shape="2" offset="8abc" size="16"',
                'element_type="i64" shape="a" offset="0" size="16"',
                'element_type="i64" shape="2,,1" offset="0" size="16"',
                'element_type="i64" shape="[2]" offset="0" size="16"',
                'element_type="i64" shape="-1" offset="0" size="16"',
                'element_type="i64" shape="?" offset="0" size="16"',
                'element_type="FP32" shape="2" offset="0" size="16"',
                'element_type="" shape="2" offset="0" size="16"',
            )
        ),
        (net([layer(0, "Const", outputs="0"), result(1)], [edge(0, 0, 1, 0)]), "IRL705"),
        # bodies
        *(
            (loop(entries), "IRL110")
            for entries in (
                INPUT.replace("external", "z") + OUTPUT,
                INPUT.replace("internal", "z") + OUTPUT,
                INPUT + OUTPUT.replace("internal", "z"),
                INPUT + OUTPUT.replace("external", "z"),
                INPUT.replace("/>", ' axis="x"/>') + OUTPUT,
                INPUT.replace("/>", ' axis="-1"/>') + OUTPUT,
                INPUT.replace("/>", ' axis="0" start="0abc"/>') + OUTPUT,
            )
        ),
        (loop(INPUT + OUTPUT, '<edge from-layer="2"/>'), "IRL110"),
        (loop(INPUT + OUTPUT, '<edge to-layer="0"/>'), "IRL110"),
        (loop(INPUT + OUTPUT, body_edges=[edge(0, 0, 1, 0), edge(0, 0, 1, 0), edge(1, 2, 2, 0)]), "IRL107"),
        # the document
        *((sound(version=version), "IRL007") for version in ("7", "9", "12", "", "11x", "1.5")),
        (sound(' version="11"', ""), "IRL007"),
        (sound("</layers>", ""), "IRL005"),
        (sound("</layers>", "</layer>"), "IRL005"),
        (sound("<layers>", "</foo><layers>"), "IRL005"),
        (sound("<layers>", "<layers><></>"), "IRL005"),
        (sound('name="n"', "name=n"), "IRL005"),
        (sound("</net>", "</NET>"), "IRL005"),
        (sound("<?xml", "<?>xml"), "IRL005"),
        (sound("</net>", ""), "IRL003"),
        (SOUND[:-3], "IRL003"),
        (SOUND[: SOUND.index("Subtract")], "IRL003"),
        (sound("<edges>", "<!-- <edges>"), "IRL003"),
        (SOUND + "<a><b></a>", "IRL005"),
        (SOUND + "<a>", "IRL003"),
    ],
)
def test_what_openvino_refuses_is_one_error(document, code, tmp_path):
    path = written(tmp_path, document)
    assert refused(path)
    assert severities(openvino.read(path)) == {(code, "error")}


@pytest.mark.parametrize(
    ("document", "code"),
    [
        (sound(edges=(*EDGES, edge(0, 0, 9, 0))), "IRL105"),
        (small(DEAD, edges=[edge(9, 0, 5, 0), edge(0, 0, 5, 1)]), "IRL105"),
        (small(DEAD, edges=[edge(0, 7, 5, 0), edge(0, 0, 5, 1)]), "IRL105"),
        (small(DEAD, edges=[edge(0, 0, 5, 0), edge(0, 0, 5, 9)]), "IRL105"),
        (small(layer(5, "Relu", outputs="1"), layer(5, "Relu", outputs="1")), "IRL106"),
        (small(DEAD, edges=[edge(0, 0, 5, 0), edge(0, 0, 5, 1), edge(0, 0, 5, 1)]), "IRL107"),
        (small(DEAD), "IRL108"),
        (
            dead(
                DEAD.replace('<port id="0">', '<port id="0" precision="junk">'),
                edges=[edge(0, 0, 5, 0), edge(0, 0, 5, 1)],
            ),
            "IRL111",
        ),
        *((small().replace("<dim>2", f"<dim>{dim}", 1), "IRL111") for dim in ("1..8", "2.5", "2abc", "0x10", "1 2")),
        (small(layer(5, "Relu", outputs="11")), "IRL111"),
        (small(const(7, 'x="1"')), "IRL705"),
        (
            net(
                [const(0, 'element_type="i64" shape="2abc" offset="0" size="16"'), result(1)],
                [edge(0, 0, 1, 0)],
            ),
            "IRL705",
        ),
        (
            loop(INPUT + OUTPUT, body_edges=[edge(0, 0, 1, 0), edge(0, 0, 1, 0), edge(1, 2, 2, 0)], live=False),
            "IRL107",
        ),
        *(
            (SMALL.replace('name="n"', name), "IRL006")
            for name in (
                'name="a & b"',
                'name="&foo;"',
                'name="a < b"',
                'name="a" name="b"',
                'name="\x01"',
                'a:b="1"',
            )
        ),
        (SMALL + "text", "IRL006"),
        (SMALL + "<net/>", "IRL006"),
        ("text" + SMALL, "IRL006"),
        (SMALL.replace("<layers>", "<layers> & "), "IRL006"),
        (SMALL.replace('name="x"', 'name="é"').encode("latin-1"), "IRL006"),
        (
            SMALL.replace('"1.0"?>', '"1.0"?><!DOCTYPE net [<!ENTITY a "b"><!ENTITY c "&a;&a;">]>').replace(
                '"x"', '"&d;"'
            ),
            "IRL006",
        ),
    ],
)
def test_what_openvino_passes_over_is_one_warning(document, code, tmp_path):
    path = written(tmp_path, document)
    assert not refused(path)
    model = openvino.read(path)
    assert severities(model) == {(code, "warning")}
    assert model.graph is not None and len(model.graph.outputs) == 1


@pytest.mark.parametrize(
    "document",
    [
        SOUND,
        net([*LAYERS[:2], layer(2, "Subtract", "10", "2"), LAYERS[3]], EDGES),
        sound("<net", "<NET").replace("</net", "</NET"),
        sound(version=" 11"),
        sound(version="+11"),
        sound(version="011"),
        sound(' version="11"', ' xmlns="u" version="11"'),
        sound('id="2"', 'id=" 2"'),
        sound('id="2"', 'id="02"'),
        sound("<dim>2", "<dim> +2 ", 1),
        sound("<dim>2", "<dim><![CDATA[2]]>", 1),
        sound("<dim>2", "<dim><!-- n -->2", 1),
        sound("<dim>2", "<dim>-1", 1),
        sound("</net>", "<layers/><edges><edge/></edges></net>"),
        sound("<layers>", "<?pi?><layers><!-- a -->"),
        sound('name="n"', "name='&quot;'"),
        sound('<?xml version="1.0"?>\n', ""),
        SOUND.encode("utf-16"),
        SOUND.encode("utf-16-le"),
        SOUND.encode("utf-16-be"),
        SOUND.encode("utf-32"),
        b"\xef\xbb\xbf" + SOUND.encode(),
        sound('"1.0"', '"1.0" encoding="ISO-8859-1"').replace('"x"', '"é"').encode("latin-1"),
        small(layer(5, "Relu", outputs="1", name="")),
        small(layer(5, "", outputs="1", name="", version="")).replace('type=""', 'type="Nonsense"'),
        net([const(0), result(1)], [edge(0, 0, 1, 0)]),
        net(
            [const(0, 'element_type="I64" shape=" 2 , 1, " offset="+8" size=" 16"'), result(1)],
            [edge(0, 0, 1, 0)],
        ).replace("1, ", "1,"),
        loop(INPUT + OUTPUT),
        loop(INPUT + OUTPUT, '<edge from-layer="2" to-layer="0"/>'),
        loop(INPUT + OUTPUT.replace("/>", ' axis="-1"/>')),
        loop(INPUT.replace("/>", ' start="x"/>') + OUTPUT),
    ],
)
def test_what_openvino_accepts_has_no_problem(document, tmp_path):
    path = written(tmp_path, document)
    assert not refused(path)
    assert severities(openvino.read(path)) == set()


def test_an_id_given_twice_and_used_is_an_error_though_openvino_takes_the_last(tmp_path):
    twice = (*LAYERS[:3], layer(2, "Add", "01", "2", name="sum"), LAYERS[3])
    path = written(tmp_path, sound(layers=twice))
    assert not refused(path)
    model = openvino.read(path)
    assert severities(model) == {("IRL106", "error")}
    assert model.problems[0].fault.message == 'Subtract "op" and Add "sum" have the same id, 2'
    assert model.graph.outputs == (node(model, "sum").outputs[0],)


@pytest.mark.parametrize(
    "code",
    [f"IRL{number}" for number in ("001", "003", "005", "006", "007", 105, 106, 107, 108, 110, 111, 705)],
)
def test_the_examples_of_a_rule(code, tmp_path):
    from irlint import parsers

    rule = by_code(code)
    bad, good = (
        parsers.read(written(tmp_path, rule.bad, name="bad.xml")),
        parsers.read(written(tmp_path, rule.good, name="good.xml")),
    )
    assert severities(bad) == {(code, rule.severity.value)}
    assert severities(good) == set()
    assert all(problem.fault.help for problem in bad.problems)


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (
            sound(edges=(*EDGES[:1], edge(1, 0, 2, 4), *EDGES[2:])),
            'edge to port 4 of layer 2 "op", which has input ports 0 and 1',
        ),
        (
            sound(edges=(edge(1, 3, 2, 0), *EDGES[1:])),
            'edge from port 3 of layer 1 "y", which has only the output port 0',
        ),
        (sound(edges=(*EDGES, edge(2, 2, 9, 0))), 'edge from layer 2 "op" to layer 9: no layer has the id 9'),
        (sound(edges=EDGES[1:]), 'no edge leads into input port 0 of layer 2 "op"'),
        (sound('name="op"', ""), 'layer 2 has no attribute "name"'),
        (sound('name="op" type="Subtract"', ""), 'layer 2 has no attributes "name", "type"'),
        (sound(' from-port="2"', ""), 'an <edge> has no attribute "from-port"'),
        (
            sound('from-port="2"', 'from-port="b"'),
            'an <edge> has from-port="b"; expected an integer of at least 0',
        ),
        (sound('<port id="2"', "<port"), 'an output port of layer 2 "op" has no attribute "id"'),
        (
            sound("<dim>2", "<dim>?", 1),
            'dim 0 of output port 0 of layer 0 "x" is "?", but must be an integer or -1',
        ),
        (sound(version="7"), 'the IR is of version "7"; expected 10 or 11'),
        (
            sound("</layers>", ""),
            "line 14, column 1: </net> appears instead of </layers>, which was opened in line 3",
        ),
        (
            SOUND[: SOUND.index("<edges>")],
            "line 9, column 1: the file ends inside <net>, which was opened in line 2",
        ),
    ],
)
def test_messages(document, message, tmp_path):
    model = openvino.read(written(tmp_path, document))
    assert message in [problem.fault.message for problem in model.problems]


def test_one_broken_layer_does_not_hide_the_rest(tmp_path):
    document = sound(
        layers=(
            parameter(0),
            LAYERS[1].replace("<dim>2", "<dim>?"),
            LAYERS[2].replace(' type="Subtract"', ""),
            LAYERS[3],
        ),
        edges=(*EDGES, EDGES[1]),
    )
    model = openvino.read(written(tmp_path, document))
    assert severities(model) == {("IRL111", "error"), ("IRL110", "error"), ("IRL107", "error")}
    assert [node.name for node in model.graph.nodes] == ["x", "y", "r"]


def test_a_layer_without_an_id_does_not_make_its_edges_dangle(tmp_path):
    model = openvino.read(written(tmp_path, sound('id="1" name', "name")))
    assert severities(model) == {("IRL110", "error")}
