"""Names of models in what users paste: none ends a comment, a text or a word, and none steers a terminal."""

from __future__ import annotations

import ast
import io
import shutil
import subprocess
import tokenize
from pathlib import Path

import onnx.helper
import pytest

from irlint.reporters.pasted import literal, word
from irlint.reporters.profiles import FORMS, rendered
from irlint.run.contract import profile_for

#: What ends lines, comments, texts and words, or is obeyed by terminals and logs.
HOSTILE = [
    "a\nimport os; os.abort()",
    "a\r\nprint(1)",
    "a'; rm -rf x #",
    'a"; rm -rf x #',
    "a\\",
    "a\\n",
    "$(touch x)`touch x`",
    "\x1b[31mred\x1b[0m",
    "a\x0cb\x0bc\x1cd\x85e\u2028f\u2029g",
    "\u202egpj.elif",
    "\x00\x07\x7f",
    "##[command]x",
    "::error::x",
    '"""',
    "'''",
    "{}",
    "%s",
    "!history",
    "a\u00a0b\u3000c",
    "\U000e0041",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_literal_is_that_text(text: str) -> None:
    assert ast.literal_eval(literal(text)) == text
    assert literal(text).isprintable()


@pytest.mark.parametrize("text", [*HOSTILE, "a b", "plain", ""])
def test_a_word_is_one_word(text: str) -> None:
    written = word(text)
    assert written.isprintable()
    shell = shutil.which("bash")
    if shell is None or "\x00" in text:
        return
    message = subprocess.run([shell, "-c", f"printf %s {written}"], capture_output=True, check=True).stdout
    assert message.decode() == text


def model(text: str, folder: Path) -> str:
    """A model with the text as the name of an input and of three sizes: one open, one with a step, one fixed."""
    sizes = [f"{text}{end}" for end in "xyz"]
    fed = onnx.helper.make_tensor_value_info(text, 1, [*sizes, 3])
    unused = onnx.helper.make_tensor_value_info(f"{text}2", 1, None)
    values = [onnx.helper.make_node("Constant", [], ["s"], value_ints=[0, 5, -1, 4])]
    nodes = [*values, onnx.helper.make_node("Reshape", [text, "s"], ["y"])]
    returned = onnx.helper.make_tensor_value_info("y", 1, None)
    path = folder / "m.onnx"
    made = onnx.helper.make_model(onnx.helper.make_graph(nodes, "g", [fed, unused], [returned]))
    path.write_bytes(made.SerializeToString())
    return str(path)


@pytest.mark.parametrize("tool", FORMS)
@pytest.mark.parametrize("text", HOSTILE)
def test_no_name_leaves_its_place(text: str, tool: str, tmp_path: Path) -> None:
    plain = rendered(profile_for(model("a", tmp_path), tool), tool).splitlines()
    found = rendered(profile_for(model(text, tmp_path), tool), tool)
    assert all(line.isprintable() for line in found.split("\n"))
    refused = tool == "trtexec" and "'" in text
    assert len(found.split("\n")) == len(plain) + 1 + refused
    if tool == "trtexec":
        shell = shutil.which("bash")
        if shell is not None and "\x00" not in text:
            script = f"trtexec() {{ printf '%s\\0' \"$@\"; }}\n{found}"
            words = subprocess.run([shell, "-c", script], capture_output=True, check=True).stdout.decode().split("\0")
            assert [each.partition("=")[0] for each in words] == [
                "--onnx",
                "--minShapes",
                "--optShapes",
                "--maxShapes",
                "",
            ]
            assert text in words[1]
        return
    tree, other = ast.parse(found), ast.parse("\n".join(plain))
    assert [type(each) for each in ast.walk(tree)] == [type(each) for each in ast.walk(other)]
    comments = [
        each.string for each in tokenize.generate_tokens(io.StringIO(found).readline) if each.type == tokenize.COMMENT
    ]
    assert len(comments) == sum("#" in line for line in plain)


def test_a_path_and_a_note_are_one_line(tmp_path: Path) -> None:
    from irlint.records import replaced

    profile = replaced(profile_for(model("a", tmp_path), "onnxruntime"), path="m\nimport os\x1b", notes=("one\ntwo",))
    for tool in FORMS:
        found = rendered(profile, tool)
        assert all(line.isprintable() for line in found.split("\n"))
        assert "\nimport os" not in found and "\ntwo" not in found
