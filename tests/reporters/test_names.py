"""The names in a finding: the scope that they share is stated once; long names are shortened, never ambiguously."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper

from irlint.findings.report import Report
from irlint.reporters import text
from irlint.reporters.canvas import display
from irlint.reporters.names import distinct_texts, scope_of, without_scope
from irlint.run.files import Settings
from irlint.run.one_file import inspected

PARTS = st.sampled_from(["attn", "layers.0", "layers.1", "MatMul_output_0", "q_proj", "a", "...", "#2", "卷积", ""])
NAMES = st.one_of(st.lists(PARTS, min_size=1, max_size=9).map("/".join), st.text(max_size=60))


@given(st.lists(NAMES, max_size=12, unique=True), st.integers(5, 60))
def test_no_two_names_have_one_text(names: list[str], limit: int) -> None:
    texts = distinct_texts(names, limit)
    assert list(texts) == names
    assert len(set(texts.values())) == len(names)
    assert all(display(text) <= limit + len(f"#{len(names)}") for text in texts.values())
    assert all(display(name) > limit or text == name or "#" in text for name, text in texts.items())


@given(st.lists(NAMES, max_size=12, unique=True))
def test_no_two_names_have_one_text_without_their_scope(names: list[str]) -> None:
    scope = scope_of(names)
    texts = [without_scope(name, scope) for name in names]
    assert len(set(texts)) == len(names)
    assert [text.replace("~" + scope[-1:], scope) if text[:1] == "~" else text for text in texts] == names


@pytest.mark.parametrize(
    ("names", "scope"),
    [
        (
            ["/attn_layers.0/attn/attn/q_proj/MatMul", "/attn_layers.0/attn/attn/k_proj/MatMul"],
            "/attn_layers.0/attn/attn/",
        ),
        (["/attn_layers.0/attn/a", "/attn_layers.0/attn/b", "weight"], "/attn_layers.0/attn/"),
        (["encoder.layers.0.attn.weight", "encoder.layers.0.attn.bias"], "encoder.layers.0.attn."),
        (["/a/b", "/a/c"], ""),
        (["/one_long_scope_of_a_single_name/x"], ""),
        (["/attn_layers.0/attn/a", "/attn_layers.0/attn/b", "~/a"], ""),
    ],
)
def test_scope(names: list[str], scope: str) -> None:
    assert scope_of(names) == scope


def test_the_scope_is_one_of_the_node_that_the_finding_is_about() -> None:
    names = ["/blocks/blocks.0/mlp/Add_output_0", "/blocks/blocks.0/mlp/Gelu_output_0", "/blocks/blocks.1/norm2/Mul"]
    assert scope_of(names) == "/blocks/blocks.0/mlp/"
    assert scope_of(names, own="/blocks/blocks.1/mlp/MatMul") == ""
    assert (
        scope_of([*names, "/blocks/blocks.1/norm2/Add_output_0"], own="/blocks/blocks.1/MatMul") == "/blocks/blocks.1/"
    )
    assert scope_of(names, own="MatMul_5") == "/blocks/blocks.0/mlp/"


def test_what_differs_is_not_cut_away() -> None:
    names = ["~/project/BatchNorm/FusedBatchNorm", "MobilenetV2/expanded_conv_13/project/BatchNorm/FusedBatchNorm"]
    shown = distinct_texts(names, 55)
    assert list(shown.values()) == [names[0], ".../expanded_conv_13/project/BatchNorm/FusedBatchNorm"]
    assert distinct_texts(names, 42)[names[1]] == ".../expanded_conv_13/.../FusedBatchNorm"


def test_scopes_in_sentences() -> None:
    text = 'initializer `/a/b/w`, then Conv[0] "/a/b/Conv" and x/a/b/c'
    assert without_scope(text, "/a/b/") == 'initializer `~/w`, then Conv[0] "~/Conv" and x/a/b/c'


def attention(folder: Path) -> Report:
    scope = "/attn_layers.0/attn/attn"
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, size]) for name, size in (("x", 3), ("b", 4))]
    nodes = [
        helper.make_node("Relu", ["x"], [f"{scope}/q_proj/MatMul_output_0"], name=f"{scope}/q_proj/MatMul"),
        helper.make_node("Relu", ["b"], [f"{scope}/k_proj/MatMul_output_0"], name=f"{scope}/k_proj/MatMul"),
    ]
    nodes.append(
        helper.make_node(
            "Add", [nodes[0].output[0], nodes[1].output[0]], [f"{scope}/Add_output_0"], name=f"{scope}/Add"
        )
    )
    outputs = [helper.make_tensor_value_info(f"{scope}/Add_output_0", TensorProto.FLOAT, [2, 3])]
    graph = helper.make_graph(nodes, "main_graph", inputs, outputs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    (folder / "m.onnx").write_bytes(model.SerializeToString())
    file, findings = inspected("m.onnx", settings=Settings(drawn=True))
    return Report((file,), findings, "0")


@pytest.mark.parametrize("columns", [None, 60, 80, 100])
def test_a_scope_is_reported_and_the_node_is_named_on_a_line_of_its_own(
    columns: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = text.rendered(attention(tmp_path), columns=columns).splitlines()
    assert "       /attn_layers.0/attn/attn/Add" in lines
    assert "       `~` stands for /attn_layers.0/attn/attn" in lines
    assert "".join(lines).count("/attn_layers.0") == 2
    assert (
        any(line.startswith("[2] | ~/Add_output_0 = Add (~/q_proj/MatMul_output_0") for line in lines) or columns == 60
    )


def test_where_nothing_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    report = attention(tmp_path)
    assert "..." in text.rendered(report, columns=60)
    assert "..." not in text.rendered(report)
    assert "..." not in text.rendered(report, columns=60, every=True)
