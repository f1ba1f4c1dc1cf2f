"""Which edges of an IR are meant: where they lead from the wrong layer, from none, or are missing."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

import irlint

TYPES = {"f32": "FP32", "i64": "I64"}


def _port(id: int, shape: str, kind: str) -> str:
    dims = "".join(f"<dim>{dim}</dim>" for dim in shape.split(",") if dim)
    return f'<port id="{id}" precision="{TYPES[kind]}">{dims}</port>'


def _layer(id: int, name: str, type: str, ins: str, out: str, data: str = "", kinds: str = "") -> str:
    """A layer whose ports have the shapes ``ins`` and ``out``; ``kinds`` has the letter of the type of each input, f
    where it says none."""
    shapes = ins.split() if ins else []
    letters = (kinds + "f" * len(shapes))[: len(shapes)]
    inputs = "".join(
        _port(at, shape, {"f": "f32", "i": "i64"}[letter]) for at, (shape, letter) in enumerate(zip(shapes, letters))
    )
    kind = "i64" if 'element_type="i64"' in data else "f32"
    output = f"<output>{_port(len(shapes), out, kind)}</output>" if out else ""
    inside = f"<input>{inputs}</input>" * bool(inputs) + output
    return f'<layer id="{id}" name="{name}" type="{type}" version="opset1">{data}{inside}</layer>\n'


def _const(id: int, name: str, shape: str, offset: int, kind: str = "f32") -> str:
    size = (8 if kind == "i64" else 4) * eval(shape.replace(",", "*"))
    data = f'<data element_type="{kind}" shape="{shape}" offset="{offset}" size="{size}"/>'
    return _layer(id, name, "Const", "", shape, data)


def _net(layers: list[str], edges: str) -> str:
    """A document; an edge is ``LAYER:PORT-LAYER:PORT``."""
    written = ""
    for each in edges.split():
        source, target = (end.split(":") for end in each.split("-"))
        written += (
            f'<edge from-layer="{source[0]}" from-port="{source[1]}" to-layer="{target[0]}" to-port="{target[1]}"/>\n'
        )
    return f'<net name="m" version="11"><layers>\n{"".join(layers)}</layers><edges>\n{written}</edges></net>'


PARAMETER = _layer(0, "x", "Parameter", "", "2,3", '<data shape="2,3" element_type="f32"/>')
PRODUCT = '<data transpose_a="false" transpose_b="false"/>'

#: x [2, 3] by a [3, 6] by b [6, 3].
PRODUCTS = [
    PARAMETER,
    _const(1, "a", "3,6", 0),
    _layer(2, "up", "MatMul", "2,3 3,6", "2,6", PRODUCT),
    _const(3, "b", "6,3", 72),
    _layer(4, "down", "MatMul", "2,6 6,3", "2,3", PRODUCT),
    _layer(5, "y", "Result", "2,3", ""),
]
PRODUCTS_WIRED = "0:0-2:0 1:0-2:1 2:2-4:0 3:0-4:1 4:2-5:0"
PRODUCTS_SWAPPED = "0:0-2:0 3:0-2:1 2:2-4:0 1:0-4:1 4:2-5:0"

#: x [2, 3] to [3, 2], and that transposed to [2, 3].
RESHAPED = [
    PARAMETER,
    _const(1, "target", "2", 0, "i64"),
    _layer(2, "flat", "Reshape", "2,3 2", "3,2", '<data special_zero="false"/>', "fi"),
    _const(3, "scale", "1,2", 136),
    _layer(4, "times", "Multiply", "3,2 1,2", "3,2", '<data auto_broadcast="numpy"/>'),
    _const(5, "other", "1,5", 32),
    _layer(6, "y", "Result", "3,2", ""),
    _layer(7, "z", "Result", "1,5", ""),
]
RESHAPED_WIRED = "0:0-2:0 1:0-2:1 2:2-4:0 3:0-4:1 4:2-6:0 5:0-7:0"
RESHAPED_WRONG = "0:0-2:0 1:0-2:1 2:2-4:0 5:0-4:1 4:2-6:0 5:0-7:0"


def _findings(text: str, tmp_path: Path, size: int = 144) -> list[irlint.Finding]:
    path = tmp_path / "model.xml"
    path.write_text(text)
    path.with_suffix(".bin").write_bytes(struct.pack("<2q", 3, 2) + bytes(size - 16))
    return [each for each in irlint.check(path).findings if each.severity.value != "note"]


@pytest.mark.parametrize(
    ("layers", "edges", "wrong", "fix"),
    [
        (
            PRODUCTS,
            PRODUCTS_WIRED,
            PRODUCTS_SWAPPED,
            'connect layer 1 "a" as input 1, and connect layer 3 "b" as input 1 in MatMul (layer 4); this also fixes 1 '
            "more",
        ),
        (
            RESHAPED,
            RESHAPED_WIRED,
            RESHAPED_WRONG,
            'connect layer 3 "scale" as input 1',
        ),
    ],
)
def test_an_edge_from_the_wrong_layer_is_reported_with_the_one_that_is_meant(
    layers: list[str], edges: str, wrong: str, fix: str, tmp_path: Path
) -> None:
    assert not _findings(_net(layers, edges), tmp_path)
    first, *others = _findings(_net(layers, wrong), tmp_path)
    assert first.suggestion == fix
    assert all(each.because == first.fingerprint for each in others)


def test_the_only_layer_that_fits_is_proposed_where_others_use_it(tmp_path: Path) -> None:
    used = [*RESHAPED, _layer(8, "used", "Result", "1,2", "")]
    (found,) = _findings(_net(used, f"{RESHAPED_WRONG} 3:0-8:0"), tmp_path)
    assert found.suggestion == 'connect layer 3 "scale" as input 1'


def test_of_three_layers_that_fit_none_is_proposed(tmp_path: Path) -> None:
    spare = [*RESHAPED, _const(8, "s", "1,2", 64), _const(9, "t", "1,2", 64)]
    (found,) = _findings(_net(spare, RESHAPED_WRONG), tmp_path)
    assert "connect" not in found.suggestion


def test_a_layer_behind_the_port_is_not_proposed_for_it(tmp_path: Path) -> None:
    layers = [
        PARAMETER,
        _const(1, "w", "3,6", 0),
        _layer(2, "add", "Add", "2,3 2,3", "2,3", '<data auto_broadcast="numpy"/>'),
        _layer(3, "twice", "Relu", "2,3", "2,3").replace('"Relu"', '"ReLU"'),
        _layer(4, "y", "Result", "2,3", ""),
    ]
    (found,) = _findings(_net(layers, "0:0-2:0 1:0-2:1 2:2-3:0 2:2-4:0"), tmp_path)
    assert "connect" not in found.suggestion


def test_ports_on_a_cycle_are_ignored(tmp_path: Path) -> None:
    numpy = '<data auto_broadcast="numpy"/>'
    layers = [
        PARAMETER,
        _const(1, "w", "1,5", 0),
        _layer(2, "add", "Add", "2,3 1,5", "2,3", numpy),
        _layer(3, "sub", "Subtract", "2,3 1,5", "2,3", numpy),
        _const(4, "spare", "2,3", 20),
        _layer(5, "y", "Result", "2,3", ""),
        _layer(6, "times", "Multiply", "2,3 2,3", "2,3", numpy),
        _layer(7, "z", "Result", "2,3", ""),
    ]
    wired = "3:2-2:0 4:0-2:1 2:2-3:0 1:0-3:1 3:2-5:0 0:0-6:0 1:0-6:1 6:2-7:0"
    found = [each for each in _findings(_net(layers, wired), tmp_path, size=44) if each.op == "Multiply"]
    assert [each.rule.code for each in found] == ["IRL201"]
    assert "swapped" not in found[0].help


# --- ports without an edge --------------------------------------------------------------------------------------------


def _block(at: int, id: int) -> list[str]:
    ins = f"b{at}/in", f"b{at}/add"
    return [
        _layer(id, ins[0], "ReLU", "2,3", "2,3"),
        _layer(id + 1, f"b{at}/tanh", "Tanh", "2,3", "2,3"),
        _layer(id + 2, ins[1], "Add", "2,3 2,3", "2,3", '<data auto_broadcast="numpy"/>'),
    ]


BLOCKS = [PARAMETER, *_block(1, 1), *_block(2, 4), *_block(3, 7), _layer(10, "y", "Result", "2,3", "")]
BLOCKS_WIRED = (
    "0:0-1:0 1:1-2:0 2:1-3:0 1:1-3:1 3:2-4:0 4:1-5:0 5:1-6:0 4:1-6:1 6:2-7:0 7:1-8:0 8:1-9:0 7:1-9:1 9:2-10:0"
)


def test_a_missing_edge_is_reported_as_other_blocks_have_it(tmp_path: Path) -> None:
    assert not _findings(_net(BLOCKS, BLOCKS_WIRED), tmp_path)
    (found,) = _findings(_net(BLOCKS, BLOCKS_WIRED.replace(" 4:1-6:1", "")), tmp_path)
    assert found.suggestion == 'connect layer 4 "b2/in" as input 1'


def test_a_missing_edge_has_no_fix_where_three_layers_fit(tmp_path: Path) -> None:
    layers = [PARAMETER, *_block(1, 1), _layer(10, "y", "Result", "2,3", "")]
    (found,) = _findings(_net(layers, "0:0-1:0 1:1-2:0 2:1-3:0 3:2-10:0"), tmp_path)
    assert (found.suggestion, found.fix) == ("", None)


def test_a_port_may_go_where_the_operation_works_without_it(tmp_path: Path) -> None:
    layers = [
        PARAMETER,
        _const(1, "zero", "3", 0),
        _layer(2, "join", "Concat", "2,3 2,3", "2,3", '<data axis="0"/>'),
        _layer(3, "y", "Result", "2,3", ""),
    ]
    (found,) = _findings(_net(layers, "0:0-2:0 2:2-3:0"), tmp_path)
    assert found.help.endswith("or remove the port")


# --- an edge from a layer that is not there ---------------------------------------------------------------------------


def test_a_constant_that_was_taken_out_is_restored_from_its_bytes(tmp_path: Path) -> None:
    edges = PRODUCTS_WIRED
    (found,) = _findings(_net([each for each in PRODUCTS if 'name="a"' not in each], edges), tmp_path, size=144)
    assert found.rule.code == "IRL105"
    assert found.help == (
        'restore the layer as a Const with <data element_type="f32" shape="3,6" offset="0" size="72"/>: these 72 bytes '
        "of model.bin belong to no other layer, and their number fits the float32[3, 6] of input port 1"
    )


def test_without_bytes_that_fit_the_layer_is_described(tmp_path: Path) -> None:
    layers = [each for each in PRODUCTS if 'name="a"' not in each]
    layers[2] = _const(3, "b", "6,3", 48)
    (found,) = _findings(_net(layers, PRODUCTS_WIRED), tmp_path, size=144)
    assert found.help == (
        "restore the layer, which gives the float32[3, 6] that input port 1 declares, or connect the edge to another "
        "layer"
    )


# --- two layers of one id ---------------------------------------------------------------------------------------------


def test_of_two_layers_of_one_id_the_ports_decide_which_is_meant(tmp_path: Path) -> None:
    alike = _net([each.replace('id="2" name="b1/tanh"', 'id="1" name="b1/tanh"') for each in BLOCKS], BLOCKS_WIRED)
    (found,) = [each for each in _findings(alike, tmp_path) if each.rule.code == "IRL106"]
    assert found.help == "give one of the two the id 2, to which edges refer but which no layer has"
    add = _net([each.replace('id="3" name="b1/add"', 'id="2" name="b1/add"') for each in BLOCKS], BLOCKS_WIRED)
    (found,) = [each for each in _findings(add, tmp_path) if each.rule.code == "IRL106"]
    assert found.help == (
        'give Add "b1/add" the id 3, to which edges refer but which no layer has: they lead into input ports 0, 1 and '
        "from output port 2, "
        "which fits its ports but not those of the other layer"
    )


# --- constants whose attributes, bytes and ports disagree -------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "help"),
    [
        (
            ('shape="3,6"', 'shape="3,12"'),
            'write shape="3,6": the ports declare float32[3, 6], which needs exactly 72 bytes',
        ),
        (
            ('"f32" shape="3,6"', '"f64" shape="3,6"'),
            'write element_type="f32": the ports declare float32[3, 6], which needs exactly 72 bytes',
        ),
        (
            ('size="72"', 'size="36"'),
            'write size="72": the ports declare float32[3, 6], too, and the next bytes of the file belong '
            "to no other constant",
        ),
    ],
)
def test_the_attribute_of_a_constant_that_the_others_speak_against(
    change: tuple[str, str], help: str, tmp_path: Path
) -> None:
    layers = list(PRODUCTS)
    layers[1] = layers[1].replace(*change)
    found = [each for each in _findings(_net(layers, PRODUCTS_WIRED), tmp_path) if each.rule.code == "IRL703"]
    assert [each.help for each in found] == [help]


# --- an input whose shape was changed ---------------------------------------------------------------------------------


def test_of_a_changed_input_the_error_that_it_leads_to_is_reported(tmp_path: Path) -> None:
    x, *others = PRODUCTS
    edited = x.replace('shape="2,3"', 'shape="2,4"').replace("<dim>3</dim>", "<dim>4</dim>")
    first = _layer(7, "first", "Tanh", "2,3", "2,3")
    wired = PRODUCTS_WIRED.replace("0:0-2:0", "0:0-7:0 7:1-2:0")
    assert not _findings(_net([x, first, *others], wired), tmp_path)
    found = _findings(_net([edited, first, *others], wired), tmp_path)
    (root,) = [each for each in found if not each.because]
    assert root.rule.code == "IRL320"
    assert root.severity.value == "error"
    assert {each.rule.code for each in found if each.because == root.fingerprint} == {"IRL601"}
    assert root.suggestion.startswith('change 4 to 3 on axis 1 of input layer 0 "x"')
    report = irlint.check(tmp_path / "model.xml").text(width=200)
    assert (
        "Parameter 'x' (layer 0) is [2, 4], and the ports that it leads to declare [2, 3]; that shape fixes this"
        in report
    )


def test_a_changed_input_that_breaks_nothing_is_reported_at_its_port(tmp_path: Path) -> None:
    layers = [
        PARAMETER.replace('shape="2,3"', 'shape="2,4"').replace("<dim>3</dim>", "<dim>4</dim>"),
        _layer(1, "first", "Tanh", "2,3", "2,3"),
        _layer(2, "y", "Result", "2,3", ""),
    ]
    found = _findings(_net(layers, "0:0-1:0 1:1-2:0"), tmp_path, size=16)
    (root,) = [each for each in found if not each.because]
    assert root.rule.code == "IRL601"
