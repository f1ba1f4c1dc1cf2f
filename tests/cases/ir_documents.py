"""Small IR documents, and what OpenVINO says of them."""

from __future__ import annotations

import struct
from pathlib import Path

from irlint.model import Model, Node

WEIGHTS = struct.pack("<4q", 5, 6, 7, 8)


def layer(id, type, inputs="", outputs="", *, name="op", data="", version="opset1", inside="", attributes=""):
    """A layer; ``inputs`` and ``outputs`` are port ids, one character each."""
    dims = "<dim>2</dim><dim>3</dim>"
    ins = "".join(f'<port id="{port}">{dims}</port>' for port in inputs)
    outs = "".join(f'<port id="{port}" precision="FP32">{dims}</port>' for port in outputs)
    return (
        f'<layer id="{id}" name="{name}" type="{type}" version="{version}"{attributes}>{data}'
        + (f"<input>{ins}</input>" if inputs else "")
        + (f"<output>{outs}</output>" if outputs else "")
        + f"{inside}</layer>"
    )


def parameter(id, name="x", shape="2,3"):
    return layer(id, "Parameter", outputs="0", name=name, data=f'<data shape="{shape}" element_type="f32"/>')


def result(id, name="r"):
    return layer(id, "Result", "0", name=name)


def const(id, data='element_type="i64" shape="2" offset="8" size="16"', type="Const"):
    return layer(id, type, outputs="0", name="c", data=f"<data {data}/>")


def edge(from_layer, from_port, to_layer, to_port):
    return f'<edge from-layer="{from_layer}" from-port="{from_port}" to-layer="{to_layer}" to-port="{to_port}"/>'


def net(layers, edges, version=11):
    return (
        f'<?xml version="1.0"?>\n<net name="n" version="{version}">\n<layers>\n'
        + "\n".join(layers)
        + "\n</layers>\n<edges>\n"
        + "\n".join(edges)
        + "\n</edges>\n</net>"
    )


LAYERS = (parameter(0, "x"), parameter(1, "y"), layer(2, "Subtract", "01", "2"), result(3))
EDGES = (edge(0, 0, 2, 0), edge(1, 0, 2, 1), edge(2, 2, 3, 0))
DEAD = layer(5, "Subtract", "01", "2", name="dead")
SMALL = net([parameter(0), result(1)], [edge(0, 0, 1, 0)])
SOUND = net(LAYERS, EDGES)


def small(*more, edges=(), version=11):
    return net([parameter(0), result(1), *more], [edge(0, 0, 1, 0), *edges], version)


def dead(text, edges=None):
    """A sound graph and beside it a layer 5 that nothing uses."""
    return small(text, edges=edges or [edge(0, 0, 5, 0), edge(0, 0, 5, 1)])


def sound(old="", new="", count=-1, version=11, layers=LAYERS, edges=EDGES):
    text = net(layers, edges, version)
    assert old in text
    return text.replace(old, new, count) if old else text


def loop(entries, back_edges="", body_edges=None, inside=None, live=True, tag="port_map"):
    """A TensorIterator whose body is a Relu."""
    layers = inside or [parameter(0), layer(1, "Relu", "0", "2"), result(2)]
    body = "".join(layers), "".join(body_edges or [edge(0, 0, 1, 0), edge(1, 2, 2, 0)])
    text = (
        f"<{tag}>{entries}</{tag}><back_edges>{back_edges}</back_edges>"
        f"<body><layers>{body[0]}</layers><edges>{body[1]}</edges></body>"
    )
    iterator = layer(4, "TensorIterator", "0", "1", name="ti", inside=text)
    if not live:
        return small(iterator, edges=[edge(0, 0, 4, 0)])
    return net([parameter(0), iterator, result(1)], [edge(0, 0, 4, 0), edge(4, 1, 1, 0)])


INPUT = '<input external_port_id="0" internal_layer_id="0"/>'
OUTPUT = '<output external_port_id="1" internal_layer_id="2"/>'


def written(folder, document, weights=WEIGHTS, name="m.xml"):
    """The path of a document in a folder, with weights beside it."""
    path = folder / name
    path.write_bytes(document if isinstance(document, bytes) else document.encode())
    if weights is not None:
        path.with_suffix(".bin").write_bytes(weights)
    return path


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


def named(version, *names):
    """A sound graph whose ports have names."""
    text = net(LAYERS, EDGES, version)
    for name in names:
        text = text.replace('precision="FP32">', f'precision="FP32" names="{name}">', 1)
    return text


JOINED = layer(2, "Concat", "01", "2", data='<data axis="1"/>').replace(
    "<dim>3</dim></port></output>", "<dim>6</dim></port></output>"
)
HINTS = '<rt_info><attribute name="fused_names" version="0" value="a"/></rt_info>'

#: The documents that cases change, by name.
BASES = {
    "sound": SOUND,
    "sound10": SOUND.replace('version="11"', 'version="10"'),
    "named10": named(10, "tx", "ty", "tz"),
    "named11": named(11, "tx", "ty", "x"),
    "small": SMALL,
    "open": SMALL.replace(*NO_DIMS),
    "const": stored('element_type="i64" shape="2" offset="8" size="16"'),
    "concat": net((*LAYERS[:2], JOINED, LAYERS[3].replace("<dim>3", "<dim>6")), EDGES),
    "clamp": unary("Clamp", '<data min="0" max="6"/>'),
    "softmax": unary("SoftMax", '<data axis="1"/>'),
    "convert": unary("Convert", '<data '
        'destination_type="f32"/>').replace('id="5" precision="FP32"', 'id="5" precision="UNSPECIFIED"'),
    "shapeof": unary("ShapeOf", '<data output_type="i64"/>', "opset3").replace(
        'id="5" precision="FP32"><dim>2</dim><dim>3</dim>', 'id="5" precision="UNSPECIFIED"><dim>2</dim>'
    ).replace('"0"><dim>2</dim><dim>3</dim></port></input></layer>\n</layers>', '"0"/></input></layer>\n</layers>'),
    "loop": loop(INPUT + OUTPUT, '<edge from-layer="2" to-layer="0"/>').replace("</layer>", "</layer>\n"),
    "dead-loop": loop(INPUT + OUTPUT, live=False),
    "if": branches(),
    "state3": variables("opset3", 'variable_id="v"'),
    "state6": variables("opset6", 'variable_id="v" variable_type="f32" variable_shape="2,3"'),
    "hints": SOUND.replace("</output></layer>", f"</output>{HINTS}</layer>", 1),
    "hints10": SOUND.replace("</output></layer>", "</output>"
        f"{HINTS}</layer>", 1).replace('version="11"', 'version="10"'),
    "dead": small(layer(5, "Subtract", "01", "2", name="dead"), edges=[edge(0, 0, 5, 0), edge(0, 0, 5, 1)]),
    "dead-const": small(const(7, 'element_type="i64" shape="2" '
        'offset="8" size="16"').replace("FP32", "I64").replace("<dim>3</dim>", "")),
}  # fmt: skip


def severities(model: Model) -> set[tuple[str, str]]:
    return {(problem.fault.rule.code, problem.fault.severity.value) for problem in model.problems}


def refused(path: Path) -> bool:
    import openvino as library

    try:
        library.Core().read_model(path)
    except Exception:
        return True
    return False


def node(model: Model, name: str) -> Node:
    return next(node for node in model.graph.nodes if node.name == name)
