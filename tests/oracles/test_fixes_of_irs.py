"""Broken IRs after their suggested fixes: OpenVINO computes what it does for the sound one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy
import pytest
from oracles.openvino_worker import outcomes

import irlint

#: Changes of the document, separated by &, each of what before > what after it, where ``5:2-7:0`` is an edge and
#: ``layer 6`` a layer, and ``dims 3,6`` the dims of a port; and behind | the edits that fix that, nothing where none is made.
BROKEN = """
5:2-7:0 > | connect layer 5 "turned" as input 0 in Subtract (layer 7)
5:2-7:0 > 5:2-7:9 | connect layer 5 "turned" as input 0 in Subtract (layer 7)
5:2-7:0 > 5:2-8:0 | connect layer 7 "difference" as input 0 in Softmax (layer 8), connect layer 5 "turned" as input 0 in Subtract (layer 7)
5:2-7:0 > 55:2-7:0 | connect layer 5 "turned" as input 0 in Subtract (layer 7)
5:2-7:0 > 5:2-7:0 3:2-7:0 | connect layer 5 "turned" as input 0 in Subtract (layer 7)
5:2-7:0 > 5:2-7:0 5:2-7:0 | connect layer 5 "turned" as input 0 in Subtract (layer 7)
to-layer="7" to-port="1" > to_layer="7" to-port="1" | connect layer 6 "converted" as input 1 in Subtract (layer 7)
2:0-3:1 > 4:0-3:1 & 4:0-5:1 > 2:0-5:1 | connect layer 2 "w" as input 1 in MatMul (layer 3), connect layer 4 "order" as input 1 in Transpose (layer 5)
3:2-5:0 > 3:2-5:1 & 4:0-5:1 > 4:0-5:0 | connect layer 3 "product" as input 0 in Transpose (layer 5), connect layer 4 "order" as input 1 in Transpose (layer 5)
5:2-7:0 > 2:0-7:0 | connect layer 5 "turned" as input 0 in Subtract (layer 7)
id="4" name="order" > id="6" name="order" | set id="4" (only edges name it) in Const (layer 6)
id="8" name="soft" > name="soft" | set id="8" (only edges name it) in Softmax[8]
<port id="1" precision="I64"> > <port id="7" precision="I64"> | connect layer 4 "order" as input 1 in Transpose (layer 5)
<port id="1" precision="I64"> > <port id="0" precision="I64"> | set id="1" at input 1 in Transpose (layer 5)
out 6 > | insert output port 1 in Convert (layer 6)
version="11" > version="12" | set version="11" in <net>
version="11" > version="eleven" | set version="11" in <net>
version="opset8" > version="opset99" | set version="opset8" in Softmax (layer 8)
version="opset8" > | set version="opset8" in Softmax (layer 8)
type="Subtract" > type="Sub" | set type="Subtract" in Sub (layer 7)
type="Const" > type="Constant" | set type="Const" in Const (layer 2)
"numpy" > "nump" | set auto_broadcast="numpy" in Subtract (layer 7)
axis="1" > axis="[1]" | set axis="1" in Softmax (layer 8)
shape="3, 6" > shape="6, 3" | set shape="3,6" in Const (layer 2)
shape="3, 6" > shape="3, 7" | set shape="3,6" in Const (layer 2)
shape="3, 6" > shape="3, 8" & dims 3,6 > dims 3,8 | set shape="3,6" in Const (layer 2), change 8 to 6 on axis 1 of output port 0
size="72" > size="36" | set size="72" in Const (layer 2)
offset="96" > offset="112" | set offset="96" in Const (layer 9)
element_type="f32" shape="3, 6" > element_type="i32" shape="3, 6" | set element_type="f32" in Const (layer 2)
shape="1,2,3" > shape="1,3,2" | set shape="1,2,3" in Parameter (layer 0)
offset="96" size="16" > offset="88" size="16" | change 1 to 12 in constant layer 9 "pattern" (entry 1)
layer 6 > & 1:0-6:0 > & 6:1-7:1 > 1:0-7:1 | insert a Convert with destination_type="f32" before input 1 in Subtract (layer 7)
layer 5 > & 3:2-5:0 > & 4:0-5:1 > & 5:2-7:0 > 3:2-7:0 | insert a Transpose with order="0,2,1" before input 0 in Subtract (layer 7)
layer 10 > & 8:1-10:0 > & 9:0-10:1 > & 10:2-11:0 > 8:1-11:0 |
5:2-7:0 > & 6:1-7:1 > |
layer 8 > & 7:2-8:0 > & 8:1-10:0 > |
5:2-7:0 > 6:1-7:0 & 6:1-7:1 > 5:2-7:1 |
""".strip().splitlines()


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An IR that OpenVINO wrote, which has a constant of each kind that decides a shape."""
    import openvino
    from openvino import opset13 as op

    x = op.parameter([1, 2, 3], numpy.float32, name="x")
    w = op.constant(numpy.arange(18, dtype=numpy.float32).reshape(3, 6), name="w")
    product = op.matmul(x, w, False, False, name="product")
    turned = op.transpose(product, op.constant(numpy.array([0, 2, 1]), name="order"), name="turned")
    n = op.parameter([1, 6, 2], numpy.int32, name="n")
    difference = op.subtract(turned, op.convert(n, "f32", name="converted"), name="difference")
    flat = op.reshape(
        op.softmax(difference, 1, name="soft"), op.constant(numpy.array([1, 12]), name="pattern"), False, name="flat"
    )
    path = tmp_path_factory.mktemp("sound") / "m.xml"
    openvino.save_model(openvino.Model([op.result(flat, name="y")], [x, n], "m"), path, compress_to_fp16=False)
    assert path.with_suffix(".bin").stat().st_size == 112
    return path


def _expanded(text: str, document: str) -> str:
    """What a shorthand stands for in a document."""
    if text.startswith(("layer ", "out ")):
        what, _, id = text.partition(" ")
        found = re.search(rf'<layer id="{id}" .*?</layer>', document, re.DOTALL)
        assert found
        return found[0] if what == "layer" else found[0][found[0].index("<output>") : found[0].index("</layer>")]
    if text.startswith("dims "):
        return ("\n" + "\t" * 5).join(f"<dim>{size}</dim>" for size in text[5:].split(","))
    edge = r'<edge from-layer="\1" from-port="\2" to-layer="\3" to-port="\4" />'
    return re.sub(r"(\d+):(\d+)-(\d+):(\d+)", edge, text)


@pytest.mark.oracle
def test_broken_irs_compute_again(sound: Path, tmp_path: Path) -> None:
    document, weights = sound.read_text("utf-8"), sound.with_suffix(".bin").read_bytes()
    paths = [sound]
    for number, line in enumerate(BROKEN):
        changes, _, edits = (part.strip() for part in line.partition("|"))
        text = document
        for change in changes.split("&"):
            before, _, after = (_expanded(part.strip(), document) for part in f"{change.strip()} ".partition(" > "))
            assert before in text, line
            text = text.replace(before, after, 1)
        path = tmp_path / f"{number}.xml"
        path.write_text(text, "utf-8")
        path.with_suffix(".bin").write_bytes(weights)
        found = irlint.fix(path, unsafe=True)
        assert ", ".join(edit.text for edit in found.edits) == edits, line
        if not edits:
            assert found.data == path.read_bytes(), line
            continue
        assert found.report.ok, line
        again = tmp_path / f"{number}.fixed.xml"
        again.write_bytes(found.data)
        again.with_suffix(".bin").write_bytes(weights)
        assert not any(each.fix for each in found.report.findings), line
        paths.append(again)
    wanted, *given = outcomes(paths, values=True)
    assert wanted[0] == "ok"
    for path, one in zip(paths[1:], given, strict=True):
        assert one[:2] == wanted[:2], BROKEN[int(path.name.partition(".")[0])]


@pytest.mark.oracle
def test_an_edit_that_leaves_the_end_of_the_weights_unused_is_only_suggested(sound: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.xml"
    path.write_text(sound.read_text("utf-8").replace('offset="96"', 'offset="112"'), "utf-8")
    weights = sound.with_suffix(".bin").read_bytes() + numpy.array([2, 12]).tobytes()
    path.with_suffix(".bin").write_bytes(weights)
    (found,) = [each for each in irlint.check(path).findings if each.severity.value == "error"]
    assert found.suggestion.startswith('change 2 to 1 in constant layer 9 "pattern" (entry 0)')
    assert found.fix is None
    assert irlint.fix(path, unsafe=True).data == path.read_bytes()


#: Changes of a layer's version or type, and the edit that fixes each.
RETYPED = {
    'Interpolate" version="opset11"': ('Interpolate" version="opset1"', 'set version="opset11" in Interpolate'),
    'MVN" version="opset6"': ('LayerNormalization" version="opset6"', 'set type="MVN" in LayerNormalization'),
    'name="block/MVN" type="MVN"': ('name="block" type="LayerNorm"', 'set type="MVN" in LayerNorm'),
    'name="block/PRelu" type="PReLU"': ('name="block/PRelu" type="LeakyRelu"', 'set type="PRelu" in LeakyRelu'),
}


@pytest.mark.oracle
def test_layers_of_another_opset_or_type_compute_again(tmp_path: Path) -> None:
    import openvino
    from openvino import opset13 as op

    x = op.parameter([1, 2, 3, 4], numpy.float32, name="x")
    normal = op.mvn(x, op.constant(numpy.array([3])), True, 1e-5, "inside_sqrt", name="block/MVN")
    leaky = op.prelu(normal, op.constant(numpy.array([0.5], numpy.float32)))
    leaky.set_friendly_name("block/PRelu")
    scales, axes = op.constant(numpy.array([2, 2], numpy.float32)), op.constant(numpy.array([2, 3]))
    large = op.interpolate(leaky, scales, "nearest", "scales", axes=axes, name="large")
    path = tmp_path / "m.xml"
    openvino.save_model(openvino.Model([op.result(large, name="y")], [x], "m"), path, compress_to_fp16=False)
    document, weights = path.read_text("utf-8"), path.with_suffix(".bin").read_bytes()
    paths = [path]
    for number, (before, (after, edit)) in enumerate(RETYPED.items()):
        assert before in document
        broken = tmp_path / f"{number}.xml"
        broken.write_text(document.replace(before, after), "utf-8")
        broken.with_suffix(".bin").write_bytes(weights)
        found = irlint.fix(broken, unsafe=True)
        assert [each.text.partition(" (")[0] for each in found.edits] == [edit]
        paths += [broken, tmp_path / f"{number}.fixed.xml"]
        paths[-1].write_bytes(found.data)
        paths[-1].with_suffix(".bin").write_bytes(weights)
    given = outcomes(paths, values=True)
    assert [each[0] == "ok" for each in given[1::2]] == [False] * len(RETYPED)
    assert all(each[:2] == given[0][:2] for each in given[2::2])


@pytest.mark.oracle
@pytest.mark.parametrize("name", ["external_port_id", "internal_layer_id"])
def test_exchanged_ids_of_a_port_map_are_swapped_back(name: str, tmp_path: Path) -> None:
    import openvino
    from openvino import opset13 as op

    x, state = op.parameter([4, 3], numpy.float32, name="x"), op.parameter([1, 5], numpy.float32, name="s")
    row, before = op.parameter([1, 3], numpy.float32), op.parameter([1, 5], numpy.float32)
    weights = op.constant(numpy.arange(15, dtype=numpy.float32).reshape(3, 5) / 15)
    added = op.add(before, op.matmul(row, weights, False, False))
    after, rows = op.result(op.tanh(added)), op.result(op.relu(added))
    loop = op.tensor_iterator()
    loop.set_body(openvino.Model([after, rows], [row, before], "body"))
    loop.set_sliced_input(row, x.output(0), 0, 1, 1, -1, 0)
    loop.set_merged_input(before, state.output(0), after.output(0))
    last = loop.get_iter_value(after.output(0), -1)
    every = loop.get_concatenated_slices(rows.output(0), 0, 1, 1, -1, 0)
    path = tmp_path / "m.xml"
    openvino.save_model(openvino.Model([op.result(last), op.result(every)], [x, state], "m"), path)
    document = path.read_text("utf-8")
    assert not irlint.check(path, ignore=["IRL720"]).findings
    broken = re.sub(
        rf'(<port_map>.*?){name}="\d"(.*?){name}="\d"', rf'\1{name}="1"\2{name}="0"', document, count=1, flags=re.DOTALL
    )
    path.write_text(broken, "utf-8")
    assert outcomes([path])[0][0] != "ok"
    found = irlint.fix(path, unsafe=True)
    assert [each.text for each in found.edits] == [
        f'set {name}="{id}" in entry {id} of the port map in TensorIterator (layer 2)' for id in (0, 1)
    ]
    assert found.data.decode() == document


#: Changes of the loop below, with the names of layers for their ids, and behind | the edit or help. A change of dynamic
#: sizes has the help only. With another Result as an output, OpenVINO computes something else.
LOOPS = """
from-layer="h_out" > from-layer="p_out" | set from-layer="h_out" in back edge 0
from-layer="c_out" > from-layer="o_out" | set from-layer="c_out" in back edge 1
external_port_id="1" > external_port_id="0" | set external_port_id="1" in entry 1 of the port map
internal_layer_id="p_out" > internal_layer_id="o_out" | set internal_layer_id="p_out" in entry 5 of the port map
dynamic from-layer="h_out" > from-layer="p_out" | write from-layer="h_out": Result h_out has float32[x_0, 5]
dynamic from-layer="c_out" > from-layer="o_out" | write from-layer="c_out": Result c_out, which nothing uses, has float32[x_0, 5]
""".strip().splitlines()


def loop(path: Path, batch: int, steps: int) -> None:
    """Writes a TensorIterator whose cell has two states; Result 13 is one of them and an output, Result 14 only the
    other one."""
    import openvino
    from openvino import opset13 as op

    float32, random = numpy.float32, numpy.random.default_rng(0)

    def weights(*shape: int) -> Any:
        return op.constant(random.random(shape, float32))

    x, *starts = (
        op.parameter([batch, *each], float32, name=name) for name, *each in (("x", steps, 3), ("h", 5), ("c", 5))
    )
    row, *states = (op.parameter([batch, *each], float32) for each in ((1, 3), (5,), (5,)))
    one = op.constant(numpy.array([1]))
    cell = op.lstm_cell(op.squeeze(row, one), *states, weights(20, 3), weights(20, 5), weights(20), hidden_size=5)
    product = op.matmul(cell.output(0), weights(5, 2), False, False)
    ends = cell.output(0), cell.output(1), op.unsqueeze(product, one), product
    results = [op.result(end, name=name) for end, name in zip(ends, ("h_out", "c_out", "o_out", "p_out"))]
    iterator = op.tensor_iterator()
    iterator.set_body(openvino.Model(results, [row, *states], "body"))
    iterator.set_sliced_input(row, x.output(0), 0, 1, 1, -1, 1)
    for state, start, end in zip(states, starts, results):
        iterator.set_merged_input(state, start.output(0), end.output(0))
    outputs = [iterator.get_concatenated_slices(results[2].output(0), 0, 1, 1, -1, 1)]
    outputs += [iterator.get_iter_value(results[at].output(0), -1) for at in (0, 3)]
    model = openvino.Model([op.result(op.relu(each)) for each in outputs], [x, *starts], "m")
    openvino.save_model(model, path, compress_to_fp16=False)


@pytest.mark.oracle
@pytest.mark.parametrize("line", LOOPS)
def test_ids_of_a_loop_that_nothing_refers_to(line: str, tmp_path: Path) -> None:
    change, _, expected = line.partition(" | ")
    dynamic, path = change.startswith("dynamic"), tmp_path / "m.xml"
    loop(path, *((-1, -1) if dynamic else (1, 4)))
    sound = path.read_text("utf-8")
    ids = re.findall(r'<layer id="(\d+)" name="(\w+_out)" type="Result"', sound)
    for id, name in ids:
        change, expected = change.replace(name, id), expected.replace(name, id)
    before, after = change.removeprefix("dynamic ").split(" > ")
    assert not irlint.check(path, ignore=["IRL720"]).findings
    place = sound.rindex(before, 0, sound.index("</back_edges>"))
    path.write_text(sound[:place] + after + sound[place + len(before) :], "utf-8")
    if dynamic:
        (found,) = irlint.check(path, ignore=["IRL720"]).findings
        assert (found.rule.code, found.severity.value, found.help) == ("IRL393", "warning", expected)
        return
    assert (outcomes([path], runs=True)[0][0] == "ok") == ("internal_layer_id" in change)
    fixed = irlint.fix(path, unsafe=True)
    assert [each.text.partition(" in TensorIterator")[0] for each in fixed.edits] == [expected]
    assert fixed.data.decode() == sound


#: What is changed in the type of a layer, and behind | the suggestion, which is not written.
CONVERTED = """
ids I64 i64 > FP32 f32 | declare layer {ids} "ids" as int64, or insert a Convert with destination_type="i64" before input 1
x FP32 f32 > I64 i64 | declare layer {x} "x" as float32, or insert a Convert with destination_type="f32" before input 0
w FP32 f32 > I32 i32 | set element_type="f32" in Const (layer {w}), and declare output port 0 as float32, or insert a Convert with destination_type="f32" before input 1
""".strip().splitlines()


@pytest.mark.oracle
@pytest.mark.parametrize("line", CONVERTED)
def test_an_input_or_a_constant_of_another_type_is_converted_or_declared(line: str, tmp_path: Path) -> None:
    import openvino
    from openvino import opset13 as op

    x, ids = op.parameter([2, 4], numpy.float32, name="x"), op.parameter([2, 3], numpy.int64, name="ids")
    weights = op.constant(numpy.arange(12, dtype=numpy.float32).reshape(4, 3), name="w")
    product = op.matmul(x, weights, False, False)
    taken = op.gather(op.constant(numpy.arange(9, dtype=numpy.float32).reshape(9, 1)), ids, op.constant(0))
    model = openvino.Model([op.result(product), op.result(taken)], [x, ids], "m")
    path = tmp_path / "m.xml"
    openvino.save_model(model, path, compress_to_fp16=False)
    document = path.read_text("utf-8")
    change, _, expected = line.partition(" | ")
    name, *types = re.split(" > | ", change)
    found = re.search(rf'<layer id="(\d+)" name="{name}".*?</layer>', document, re.DOTALL)
    assert found
    layer = found[0].replace(f'"{types[0]}"', f'"{types[2]}"').replace(f'"{types[1]}"', f'"{types[3]}"')
    path.write_text(document.replace(found[0], layer), "utf-8")
    assert outcomes([path])[0][0] != "ok"
    (error,) = [each for each in irlint.check(path).findings if each.severity.value == "error"]
    ids_of = {name: re.search(rf'<layer id="(\d+)" name="{name}"', document)[1] for name in ("ids", "x", "w")}  # type: ignore[index]
    assert error.suggestion == expected.format(**ids_of)
    assert irlint.fix(path, unsafe=True).data == path.read_bytes()
