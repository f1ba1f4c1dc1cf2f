"""What an IR file can get wrong, a line each in ``ir_cases.txt``: what OpenVINO says of it, and what irlint finds."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from cases.ir_documents import (
    EDGES,
    INPUT,
    LAYERS,
    OUTPUT,
    SMALL,
    SOUND,
    WEIGHTS,
    const,
    edge,
    layer,
    loop,
    net,
    parameter,
    refused,
    result,
    small,
    written,
)

from irlint.run.one_file import inspected

TABLE = Path(__file__).resolve().parents[1] / "cases" / "ir_cases.txt"
NO_DIMS = ("<dim>2</dim><dim>3</dim>", "")


def unary(type: str, data: str = "", version: str = "opset1") -> str:
    """A Parameter, a layer of one input, and a Result."""
    layers = [parameter(0), layer(1, type, "0", "5", data=data, version=version), result(2)]
    return net(layers, [edge(0, 0, 1, 0), edge(1, 5, 2, 0)])


def stored(data: str, precision: str = "I64", dims: str = "<dim>2</dim>") -> str:
    """A Const and a Result."""
    text = net([const(0, data), result(1)], [edge(0, 0, 1, 0)])
    text = text.replace("<dim>2</dim><dim>3</dim>", dims, 1).replace("FP32", precision)
    return text.replace('<input><port id="0"><dim>2</dim><dim>3</dim></port></input>', '<input><port id="0"/></input>')


def branches() -> str:
    """An If of two branches, each with a Relu."""
    body = "".join((parameter(0), layer(1, "Relu", "0", "2"), result(2)))
    body = f"<layers>{body}</layers><edges>{edge(0, 0, 1, 0)}{edge(1, 2, 2, 0)}</edges>"
    ties = '<input external_port_id="1" internal_layer_id="0"/><output external_port_id="0" internal_layer_id="2"/>'
    inside = "".join(f"<{side}_port_map>{ties}</{side}_port_map>\n" for side in ("then", "else"))
    inside += "".join(f"<{side}_body>{body}</{side}_body>\n" for side in ("then", "else"))
    flag = layer(7, "Parameter", outputs="0", name="c", data='<data shape="" element_type="boolean"/>')
    flag = flag.replace(*NO_DIMS).replace("FP32", "BOOL")
    choice = layer(4, "If", "01", "2", name="if", version="opset8", inside=inside)
    choice = choice.replace('<port id="0"><dim>2</dim><dim>3</dim></port>', '<port id="0"/>', 1)
    return net([flag, parameter(0), choice, result(1)], [edge(7, 0, 4, 0), edge(0, 0, 4, 1), edge(4, 2, 1, 0)])


def variables(opset: str, data: str) -> str:
    """A ReadValue, an Assign and a Result of its value."""
    reading = layer(1, "ReadValue", "0", "1", name="rv", version=opset, data=f"<data {data}/>")
    writing = layer(2, "Assign", "0", "1", name="as", version=opset, data='<data variable_id="v"/>')
    return net([parameter(0), reading, writing, result(3)], [edge(0, 0, 1, 0), edge(1, 1, 2, 0), edge(1, 1, 3, 0)])


JOINED = layer(2, "Concat", "01", "2", data='<data axis="1"/>').replace(
    "<dim>3</dim></port></output>", "<dim>6</dim></port></output>"
)
HINTS = '<rt_info><attribute name="fused_names" version="0" value="a"/></rt_info>'

BASES = {
    "sound": SOUND,
    "sound10": SOUND.replace('version="11"', 'version="10"'),
    "small": SMALL,
    "open": SMALL.replace(*NO_DIMS),
    "const": stored('element_type="i64" shape="2" offset="8" size="16"'),
    "concat": net((*LAYERS[:2], JOINED, LAYERS[3].replace("<dim>3", "<dim>6")), EDGES),
    "clamp": unary("Clamp", '<data min="0" max="6"/>'),
    "softmax": unary("SoftMax", '<data axis="1"/>'),
    "convert": unary("Convert", '<data destination_type="f32"/>').replace('id="5" precision="FP32"', 'id="5" precision="UNSPECIFIED"'),
    "shapeof": unary("ShapeOf", '<data output_type="i64"/>', "opset3").replace(
        'id="5" precision="FP32"><dim>2</dim><dim>3</dim>', 'id="5" precision="UNSPECIFIED"><dim>2</dim>'
    ).replace('"0"><dim>2</dim><dim>3</dim></port></input></layer>\n</layers>', '"0"/></input></layer>\n</layers>'),
    "loop": loop(INPUT + OUTPUT, '<edge from-layer="2" to-layer="0"/>').replace("</layer>", "</layer>\n"),
    "dead-loop": loop(INPUT + OUTPUT, live=False),
    "if": branches(),
    "state3": variables("opset3", 'variable_id="v"'),
    "state6": variables("opset6", 'variable_id="v" variable_type="f32" variable_shape="2,3"'),
    "hints": SOUND.replace("</output></layer>", f"</output>{HINTS}</layer>", 1),
    "hints10": SOUND.replace("</output></layer>", f"</output>{HINTS}</layer>", 1).replace('version="11"', 'version="10"'),
    "dead": small(layer(5, "Subtract", "01", "2", name="dead"), edges=[edge(0, 0, 5, 0), edge(0, 0, 5, 1)]),
    "dead-const": small(const(7, 'element_type="i64" shape="2" offset="8" size="16"').replace("FP32", "I64").replace("<dim>3</dim>", "")),
}  # fmt: skip


def cases() -> list[tuple[str, str, str, str, str]]:
    """The table's lines: a base, a text in it, what stands there instead, the library's verdict, and the findings."""
    found = []
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            base, old, new, verdict, findings = line.split(" | ")
            found.append((base, old.replace("\\n", "\n"), new.replace("\\n", "\n"), verdict, findings.strip()))
    return found


def told(path: Path) -> str:
    """The findings in short, notes and what follows from others left out: ``error IRL110 6``."""
    _, findings = inspected(str(path))
    shown = [
        f"{each.severity.value} {each.rule.code} {each.line}"
        for each in findings
        if each.severity.value != "note" and not each.because
    ]
    return ", ".join(shown) or "-"


@pytest.mark.parametrize("base", BASES)
def test_the_bases_are_sound(base: str, tmp_path: Path) -> None:
    path = written(tmp_path, BASES[base])
    assert not refused(path)
    assert told(path) == "-"


@pytest.mark.parametrize(("base", "old", "new", "verdict", "findings"), cases())
def test_a_change(base: str, old: str, new: str, verdict: str, findings: str, tmp_path: Path) -> None:
    assert BASES[base].count(old) == 1
    path = written(tmp_path, BASES[base].replace(old, new))
    assert (refused(path), told(path)) == (verdict == "refused", findings)


def packed(*numbers: int, characters: bytes = b"") -> bytes:
    """Strings as an IR stores them: how many, where they begin and end, and their characters."""
    return struct.pack(f"<{len(numbers)}i", *numbers) + characters


POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 12345\n"
PAGE = b"<!DOCTYPE html><html><head><title>404</title></head><body>not found</body></html>"


@pytest.mark.parametrize(
    ("weights", "verdict", "findings"),
    [
        (WEIGHTS, "taken", "-"),
        (WEIGHTS + b"more", "taken", "-"),
        (WEIGHTS[:20], "refused", "error IRL702 4"),
        (b"", "refused", "error IRL702 4"),
        (None, "refused", "error IRL701 4"),
        (POINTER, "taken", "error IRL701 4"),
        (PAGE, "taken", "error IRL701 4"),
    ],
)
def test_the_weights_file(weights: bytes | None, verdict: str, findings: str, tmp_path: Path) -> None:
    path = written(tmp_path, BASES["const"], weights)
    assert (refused(path), told(path)) == (verdict == "refused", findings)


def test_a_folder_or_a_dangling_link_for_the_weights(tmp_path: Path) -> None:
    path = written(tmp_path, BASES["const"], None)
    path.with_suffix(".bin").mkdir()
    assert refused(path) and told(path) == "error IRL701 4"
    path.with_suffix(".bin").rmdir()
    path.with_suffix(".bin").symlink_to("nowhere")
    assert refused(path) and told(path) == "error IRL701 4"


@pytest.mark.parametrize(
    ("strings", "verdict", "findings"),
    [
        (packed(2, 0, 1, 3, characters=b"abc"), "taken", "-"),
        (packed(2, 0, 0, 0), "taken", "-"),
        (packed(2, 0, 1, 2, characters=b"abc"), "taken", "-"),
        (packed(3, 0, 1, 2, 3, characters=b"abc"), "taken", "error IRL705 4"),
        (packed(1, 0, 3, characters=b"abc"), "taken", "error IRL705 4"),
        (packed(-1, 0, 1, characters=b"abc"), "refused", "error IRL705 4"),
        (packed(2, 0, 3, 1, characters=b"abc"), "refused", "error IRL705 4"),
        (packed(2, -1, 1, 3, characters=b"abc"), "refused", "error IRL705 4"),
        (packed(2, 0, 1, 4, characters=b"abc"), "refused", "error IRL705 4"),
        (packed(2, 0), "refused", "error IRL705 4"),
        (packed(2**31 - 1, 0, 1, 3), "refused", "error IRL705 4"),
        (b"ab", "refused", "error IRL705 4"),
    ],
)
def test_strings(strings: bytes, verdict: str, findings: str, tmp_path: Path) -> None:
    data = f'element_type="string" shape="2" offset="0" size="{len(strings)}"'
    path = written(tmp_path, stored(data, "string"), strings)
    assert (refused(path), told(path)) == (verdict == "refused", findings)


@pytest.mark.parametrize(
    ("document", "verdict", "findings"),
    [
        ('<net version="11"></net>', "taken", "warning IRL121 1"),
        (SOUND.replace("<edges>", "<a>" * 5000 + "</a>" * 5000 + "<edges>"), "taken", "-"),
        (SOUND + "\ntrailing", "taken", "warning IRL006 12"),
        (SOUND.encode("utf-16"), "taken", "-"),
        (SOUND.replace('"x"', '"\u00e9"').encode("latin-1"), "taken", "warning IRL006 4"),
        (SOUND.replace("\n", "\r\n"), "taken", "-"),
        (net((LAYERS[0], LAYERS[1], LAYERS[3]), EDGES), "refused", "error IRL105 11"),
        (net(LAYERS, ()), "refused", "error IRL108 9"),
        (net(LAYERS, (edge(0, 0, 9, 0), *EDGES[1:])), "refused", "error IRL105 10"),
        (net(LAYERS, (edge(2, 0, 0, 0), *EDGES[1:])), "refused", "error IRL105 10"),
        (net((*LAYERS[:3], layer(3, "Result", "0", name="r").replace("Result", "result")), EDGES), "taken", "warning IRL121 7"),
    ],
)  # fmt: skip
def test_documents(document: str | bytes, verdict: str, findings: str, tmp_path: Path) -> None:
    path = written(tmp_path, document)
    assert (refused(path), told(path)) == (verdict == "refused", findings)
