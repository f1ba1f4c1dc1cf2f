"""Which values ``irlint shapes`` lists."""

from __future__ import annotations

import json
from pathlib import Path

import onnx
import pytest
from command.process import FIXTURES, run
from run.test_names import IR, ONNX

import irlint

DETECTOR = FIXTURES / "onnx" / "good" / "small-detector.onnx"


def listed(model: Path, *options: str) -> list[str]:
    text = json.loads(run("shapes", model, "--format", "json", *options).stdout)
    return [f"{each['graph']}/{each['name']}".removeprefix("/") for each in text["values"]]


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ("--inputs-outputs", "images heads"),
        ("--node c?", "c1 c2"),
        ("--node c? --node r1", "c1 r1 c2"),
        ("--around up", "scales r2 up joined"),
        ("--around Resize --depth 1", "scales r2 up joined"),
        ("--around up --depth 2", "scales r1 c2 r2 up joined heads"),
        ("--around images", "images c1"),
        ("--around w1 --depth 2", "images w1 b1 c1 r1"),
        ("--around up --depth 2 --node r*", "r1 r2"),
    ],
)
def test_values_of_a_model(options: str, names: str) -> None:
    assert sorted(listed(DETECTOR, *options.split())) == sorted(names.split())


@pytest.mark.parametrize(
    ("text", "options", "names"),
    [
        (ONNX, "--node */then_branch/*", ["pick/then_branch/v"]),
        (ONNX, "--node *Join", ["a", "z", "pick/else_branch/w"]),
        (ONNX, "--around pick/else_branch/w", ["x", "pick/else_branch/w", "pick/else_branch/v"]),
        (IR, "--inputs-outputs", ["0:0", "7:1"]),
        (IR, "--around result", ["7:1"]),
        (IR, "--around images", ["0:0", "7:1"]),
        (IR, "--node block/*", ["7:1"]),
    ],
)
def test_values_of_bodies_and_layers(text: str, options: str, names: list[str], tmp_path: Path) -> None:
    path = tmp_path / ("m.xml" if text is IR else "m.onnx")
    path.write_bytes(text.encode() if text is IR else onnx.parser.parse_model(text).SerializeToString())
    assert listed(path, *options.split()) == names


def test_what_is_demanded_of_other_nodes_is_left_out() -> None:
    text = json.loads(run("shapes", DETECTOR, "--format", "json", "--node", "c1").stdout)
    assert [each["condition"] for each in text["requires"]] == ["H >= 1", "W >= 1"]
    assert text["inputs"] == ["images"]
    assert json.loads(run("shapes", DETECTOR, "--format", "json", "--inputs-outputs").stdout)["requires"] == []


def test_without_filters_the_data_is_all_there_is() -> None:
    text = json.loads(run("shapes", DETECTOR, "--format", "json").stdout)
    assert text == irlint.shapes(DETECTOR.as_posix())
    assert len(text["values"]) == 15
    assert set(text["values"][0]) == {"graph", "name", "node", "op", "port", "dtype", "shape", "value"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--node nosuch*", "no value or node matches 'nosuch*'"),
        ("--node HEAD*", "did you mean `heads`?"),
        ("--around Conv", "'Conv' matches 3 values"),
        ("--depth 2", "--depth needs --around"),
    ],
)
def test_refused(options: str, message: str) -> None:
    refused = run("shapes", DETECTOR, *options.split())
    assert (refused.returncode, refused.stdout) == (2, "")
    assert message in refused.stderr
