"""Variables of an IR that are read and never written, used twice, or begin without a size: OpenVINO's first inference
decides."""

from __future__ import annotations

from pathlib import Path

import pytest
from cases.ir_documents import edge, net
from oracles.openvino_worker import outcomes

import irlint


def layer(id: int, type: str, inputs: int = 0, data: str = "", version: str = "opset1", outputs: int = 1) -> str:
    """A layer whose ports state no sizes; its inputs are 0 and on, its output is 8."""
    ins = "".join(f'<port id="{port}"/>' for port in range(inputs))
    outs = '<port id="8" precision="dynamic"/>' * outputs
    return (
        f'<layer id="{id}" name="{type}{id}" type="{type}" version="{version}"><data {data}/>'
        f"<input>{ins}</input><output>{outs}</output></layer>"
    )


def parameter(id: int, shape: str = "2,3") -> str:
    return layer(id, "Parameter", data=f'shape="{shape}" element_type="f32"')


def read(id: int, variable: str, shape: str = "2,3", inputs: int = 1) -> str:
    stated = f'variable_id="{variable}" variable_type="f32" variable_shape="{shape}"'
    return layer(id, "ReadValue", inputs, stated, "opset6")


def old_read(id: int, variable: str) -> str:
    return layer(id, "ReadValue", 1, f'variable_id="{variable}"', "opset3")


def assign(id: int, variable: str) -> str:
    return layer(id, "Assign", 1, f'variable_id="{variable}"', "opset6", 0)


def result(id: int) -> str:
    return layer(id, "Result", 1, outputs=0)


def document(layers: list[str], edges: list[tuple[int, int, int]]) -> str:
    return net(layers, [edge(source, 8, target, port) for source, target, port in edges])


#: A Parameter, a ReadValue of it, and a Result.
READ = [parameter(0), read(1, "v"), result(9)]
#: Their edges where an Add of the two stands before the Result.
ADDED = [(0, 1, 0), (0, 2, 0), (1, 2, 1), (2, 9, 0)]
ADD, RELU = layer(2, "Add", 2), layer(3, "Relu", 1)
SHAPE = layer(2, "ShapeOf", 1, 'output_type="i64"', "opset3")
LIKE = layer(2, "ConvertLike", 2)
JOINED = layer(2, "Concat", 2, 'axis="1"')

#: Layers, edges, the codes of what irlint finds, and whether the first inference succeeds.
CASES: dict[str, tuple[list[str], list[tuple[int, int, int]], str, bool]] = {
    "written": ([*READ, assign(4, "v"), ADD], [*ADDED, (2, 4, 0)], "", True),
    "written first": ([assign(4, "v"), ADD, *READ], [*ADDED, (2, 4, 0)], "", True),
    "not written": ([*READ, ADD], ADDED, "IRL125", False),
    "not written, without an initial value": (
        [parameter(0), read(1, "v", inputs=0), ADD, result(9)],
        [(0, 2, 0), (1, 2, 1), (2, 9, 0)],
        "IRL125",
        False,
    ),
    "not written, of opset 3": ([parameter(0), old_read(1, "v"), ADD, result(9)], ADDED, "IRL125", False),
    "a result": (READ, [(0, 1, 0), (1, 9, 0)], "IRL125", False),
    "another one is written": (
        [*READ, ADD, read(5, "w"), RELU, assign(6, "w"), result(8)],
        [*ADDED, (0, 5, 0), (5, 3, 0), (3, 6, 0), (3, 8, 0)],
        "IRL125",
        False,
    ),
    "of another width": (
        [*READ, JOINED, assign(4, "v")],
        [(0, 1, 0), (0, 2, 0), (1, 2, 1), (2, 9, 0), (2, 4, 0)],
        "IRL129",
        False,
    ),
    "of another width, of opset 3": (
        [parameter(0), old_read(1, "v"), JOINED, assign(4, "v").replace("opset6", "opset3"), result(9)],
        [(0, 1, 0), (0, 2, 0), (1, 2, 1), (2, 9, 0), (2, 4, 0)],
        "IRL129",
        False,
    ),
    "of another element type": (
        [*READ, SHAPE, assign(4, "v")],
        [(0, 1, 0), (1, 2, 0), (1, 9, 0), (2, 4, 0)],
        "IRL129",
        False,
    ),
    "of a width that the variable allows": (
        [parameter(0), read(1, "v", "2,?"), JOINED, assign(4, "v"), result(9)],
        [(0, 1, 0), (0, 2, 0), (1, 2, 1), (2, 9, 0), (2, 4, 0)],
        "",
        True,
    ),
    "above the limit of the variable": (
        [parameter(0), read(1, "v", "2,1..4"), JOINED, assign(4, "v"), result(9)],
        [(0, 1, 0), (0, 2, 0), (0, 2, 1), (1, 9, 0), (2, 4, 0)],
        "IRL129",
        False,
    ),
    "into another variable": (
        [*READ, RELU, read(5, "w"), assign(6, "w")],
        [(0, 1, 0), (1, 3, 0), (3, 6, 0), (0, 5, 0), (5, 9, 0)],
        "IRL125",
        False,
    ),
    "nothing uses it": (READ, [(0, 1, 0), (0, 9, 0)], "IRL905", True),
    "nothing uses what follows from it": ([*READ, RELU], [(0, 1, 0), (1, 3, 0), (0, 9, 0)], "IRL905", True),
    "for its shape": ([*READ, SHAPE], [(0, 1, 0), (1, 2, 0), (2, 9, 0)], "", True),
    "for its dynamic shape": (
        [parameter(0, "?,3"), read(1, "v", "?,3"), SHAPE, result(9)],
        [(0, 1, 0), (1, 2, 0), (2, 9, 0)],
        "IRL125",
        False,
    ),
    "for its type": ([*READ, LIKE], ADDED, "", True),
    "converted": ([*READ, LIKE], [(0, 1, 0), (1, 2, 0), (0, 2, 1), (2, 9, 0)], "IRL125", False),
    "without elements": (
        [parameter(0, "2,0"), read(1, "v", "2,0"), parameter(5), JOINED, result(9)],
        [(0, 1, 0), (5, 2, 0), (1, 2, 1), (2, 9, 0)],
        "",
        True,
    ),
    "read twice": (
        [*READ, read(5, "v"), ADD, assign(4, "v")],
        [(0, 1, 0), (0, 5, 0), (1, 2, 0), (5, 2, 1), (2, 9, 0), (2, 4, 0)],
        "IRL126",
        False,
    ),
    "read twice, and one unused": (
        [*READ, read(5, "v"), ADD, assign(4, "v")],
        [*ADDED, (0, 5, 0), (2, 4, 0)],
        "IRL905",
        True,
    ),
    "written twice": (
        [*READ, ADD, assign(4, "v"), assign(5, "v")],
        [*ADDED, (2, 4, 0), (0, 5, 0)],
        "IRL126",
        False,
    ),
    **{
        f"no initial value, {shape}": (
            [parameter(0), read(1, "v", shape, 0), RELU, layer(2, "Add", 2), assign(4, "v"), result(9)],
            [(1, 3, 0), (0, 2, 0), (3, 2, 1), (3, 4, 0), (2, 9, 0)],
            codes,
            runs,
        )
        for shape, codes, runs in [
            ("2,3", "", True),
            ("2..4,3", "IRL127", False),
            ("2,1..3", "IRL127", False),
        ]
    },
    "no initial value, joined": (
        [parameter(0), read(1, "v", "?,?", 0), JOINED, assign(4, "v"), result(9)],
        [(0, 2, 0), (1, 2, 1), (2, 4, 0), (2, 9, 0)],
        "IRL127",
        False,
    ),
    "no initial value, joined along the dynamic axis": (
        [parameter(0), read(1, "v", "2,?", 0), JOINED, assign(4, "v"), result(9)],
        [(0, 2, 0), (1, 2, 1), (2, 4, 0), (2, 9, 0)],
        "",
        True,
    ),
}


def written(name: str, folder: Path) -> Path:
    layers, edges, *_ = CASES[name]
    path = folder / "model.xml"
    path.write_text(document(layers, edges))
    path.with_suffix(".bin").write_bytes(b"")
    return path


@pytest.mark.parametrize("name", CASES)
def test_what_is_found(name: str, tmp_path: Path) -> None:
    findings = irlint.check(written(name, tmp_path)).findings
    assert " ".join(sorted(each.rule.code for each in findings)) == CASES[name][2]
    assert not any(each.severity.value == "error" for each in findings) or not CASES[name][3]


@pytest.mark.oracle
@pytest.mark.parametrize("name", CASES)
def test_the_first_inference_decides(name: str, tmp_path: Path) -> None:
    ((stage, text, _),) = outcomes([written(name, tmp_path)], runs=True)
    assert (stage == "ok") is CASES[name][3], text


def test_several_states_without_size_are_one_note(tmp_path: Path) -> None:
    layers, edges = [parameter(0), result(9)], [(0, 9, 0)]
    for index in (1, 2, 3):
        layers += [read(index, f"v{index}", "?,3", 0), layer(10 + index, "Relu", 1), assign(20 + index, f"v{index}")]
        edges += [(index, 10 + index, 0), (10 + index, 20 + index, 0)]
    path = tmp_path / "model.xml"
    path.write_text(document(layers, edges))
    path.with_suffix(".bin").write_bytes(b"")
    (finding,) = irlint.check(path).findings
    assert finding.message.endswith("the batch, axis 0, starts with 0; 2 other variables start with a batch of 0, too")


@pytest.mark.parametrize(
    ("layers", "edges", "message", "help"),
    [
        (
            [parameter(0), read(1, "v"), assign(4, "v"), result(9)],
            [(0, 1, 0), (0, 4, 0), (0, 9, 0)],
            'no Result or Assign depends on the ReadValue of the variable "v"',
            "use the value of the ReadValue",
        ),
        (
            [parameter(0), read(1, "v"), assign(4, "w"), result(9)],
            [(0, 1, 0), (0, 4, 0), (1, 9, 0)],
            'the variable "w" has no ReadValue; the variables with a ReadValue are: "v"',
            'set variable_id="v", the only variable with a ReadValue and no Assign',
        ),
        (
            [parameter(0), old_read(1, "v"), assign(4, "v").replace("opset6", "opset3"), result(9)],
            [(0, 1, 0), (0, 4, 0), (1, 9, 0)],
            "an Assign before opset6 has to depend on a ReadValue before opset6",
            'write version="opset6" here',
        ),
    ],
)
def test_the_help_of_an_assign_names_what_its_variable_lacks(
    layers: list[str], edges: list[tuple[int, int, int]], message: str, help: str, tmp_path: Path
) -> None:
    path = tmp_path / "m.xml"
    path.write_text(document(layers, edges))
    path.with_suffix(".bin").write_bytes(b"")
    (found,) = irlint.check(path, select=["IRL123"]).findings
    assert found.message.startswith(message)
    assert found.help is not None and found.help.startswith(help)


@pytest.mark.oracle
def test_an_assign_of_opset6_need_not_depend_on_its_read_value(tmp_path: Path) -> None:
    layers = [parameter(0), old_read(1, "v"), assign(4, "v"), result(9)]
    path = tmp_path / "m.xml"
    path.write_text(document(layers, [(0, 1, 0), (0, 4, 0), (1, 9, 0)]))
    path.with_suffix(".bin").write_bytes(b"")
    ((stage, text, _),) = outcomes([path])
    assert stage == "ok", text


def test_the_element_type_of_a_variable_is_spelled_as_in_an_ir(tmp_path: Path) -> None:
    other = read(1, "v").replace('variable_type="f32"', 'variable_type="i64"')
    path = tmp_path / "m.xml"
    path.write_text(document([parameter(0), other, result(9), assign(4, "v")], [(0, 1, 0), (1, 9, 0), (1, 4, 0)]))
    (found,) = irlint.check(path, select=["IRL396"]).findings
    assert found.help == 'write variable_type="f32", or convert input 0'


def test_a_parameter_without_a_shape_is_a_scalar(tmp_path: Path) -> None:
    path = tmp_path / "m.xml"
    path.write_text(document([layer(0, "Parameter", data='element_type="f32"'), result(9)], [(0, 9, 0)]))
    (found,) = irlint.check(path, select=["IRL504"]).findings
    assert found.message.endswith('`shape` is missing; OpenVINO uses "", the shape of a scalar, for it')
