"""Very long lists of trees: what NumPy says of them is what reading them one by one says."""

from __future__ import annotations

import random
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

import irlint
from irlint.parsers.onnx import messages

#: Five nodes of each of three trees: two branches, three leaves.
SOUND: dict[str, list[int] | list[str] | list[float]] = {
    "nodes_treeids": [tree for tree in range(3) for _ in range(5)],
    "nodes_nodeids": [0, 1, 2, 3, 4] * 3,
    "nodes_featureids": [0, 1, 0, 0, 0] * 3,
    "nodes_truenodeids": [1, 2, 0, 0, 0] * 3,
    "nodes_falsenodeids": [4, 3, 0, 0, 0] * 3,
    "nodes_values": [0.5] * 15,
    "nodes_modes": ["BRANCH_LEQ", "BRANCH_LEQ", "LEAF", "LEAF", "LEAF"] * 3,
    "target_treeids": [tree for tree in range(3) for _ in range(3)],
    "target_nodeids": [2, 3, 4] * 3,
    "target_ids": [0] * 9,
    "target_weights": [1.0] * 9,
}
NUMBERS = [name for name, entries in SOUND.items() if isinstance(entries[0], int)]


def _says(path: Path, lists: dict[str, list[int] | list[str] | list[float]]) -> list[tuple[str, str]]:
    node = helper.make_node("TreeEnsembleRegressor", ["x"], ["y"], domain="ai.onnx.ml", n_targets=1, **lists)
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 2])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 1])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    graph = helper.make_graph([node], "trees", [x], [y])
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
    return [(each.rule.code, each.message) for each in irlint.check(path).findings]


@pytest.mark.parametrize("seed", range(4))
def test_broken_trees_are_reported_alike(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = random.Random(seed)
    text = 0
    for _ in range(6):
        lists = {name: list(entries) for name, entries in SOUND.items()}
        for name in drawn.sample(NUMBERS, 1 + drawn.randrange(2)):
            lists[name][drawn.randrange(len(lists[name]))] = drawn.choice([-1, 0, 1, 2, 3, 4, 7, 1 << 40, -(1 << 62)])
        if drawn.random() < 0.3:
            order = drawn.sample(range(15), 15)
            lists |= {name: [lists[name][at] for at in order] for name in lists if name.startswith("nodes")}
        plain = _says(tmp_path / "trees.onnx", lists)
        with monkeypatch.context() as changed:
            changed.setattr(messages, "_LONG_BYTES", 24)
            assert _says(tmp_path / "trees.onnx", lists) == plain
        text += bool(plain)
    assert text


def test_sound_trees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages, "_LONG_BYTES", 24)
    monkeypatch.setattr("irlint.parsers.onnx.SMALL", 0)
    assert _says(tmp_path / "trees.onnx", SOUND) == []
