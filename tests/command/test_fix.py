"""``irlint fix``: files changed in place, beside, on standard output, or not at all."""

from __future__ import annotations

import json
import os
from pathlib import Path

import onnx.parser
import pytest
from cases.ir_documents import edge, layer, net, parameter, result
from command.process import BAD, WARNING, ran, run

SUMMARY = "No findings.\nChecked 1 ONNX model.\n"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A model whose nodes are not sorted."""
    path = tmp_path / "m.onnx"
    path.write_bytes(WARNING.read_bytes())
    return path


def test_a_model_is_fixed_in_place(model: Path) -> None:
    model.chmod(0o640)
    result = run("fix", model.name, cwd=model.parent)
    result_text = "m.onnx: sort the nodes (IRL104)\nfixed 1 finding in 1 file\n\n"
    assert (result.returncode, result.stdout, result.stderr) == (0, result_text + SUMMARY, "")
    assert (model.stat().st_mode & 0o777, list(model.parent.iterdir())) == (0o640, [model])
    fixed = model.read_bytes()
    assert fixed != WARNING.read_bytes()
    again = run("fix", model.name, cwd=model.parent)
    assert (again.returncode, again.stdout, model.read_bytes()) == (0, SUMMARY, fixed)


#: Stands for a folder that nobody may write into, for a user who may do everything.
REFUSED = """
import tempfile

def refused(*arguments, **named):
    raise PermissionError(13, "Permission denied")

tempfile.mkstemp = refused
"""


def test_a_model_in_a_folder_without_write_permission_stays_as_it_is(model: Path) -> None:
    result = ran("fix", model.name, cwd=model.parent, prelude=REFUSED)
    assert (result.returncode, result.stdout) == (2, b"")
    assert result.stderr.startswith(b"irlint: error: fix: cannot write m.onnx: Permission denied\n")
    assert (model.read_bytes(), list(model.parent.iterdir())) == (WARNING.read_bytes(), [model])


def test_a_link_stays_a_link(model: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.onnx"
    link.symlink_to(model.name)
    assert run("fix", link.name, cwd=tmp_path).returncode == 0
    assert link.is_symlink()
    assert model.read_bytes() != WARNING.read_bytes()


def test_a_model_that_needs_no_fix_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(BAD.read_bytes())
    os.utime(path, (1, 1))
    result = run("fix", "m.onnx", cwd=tmp_path)
    assert (result.returncode, path.stat().st_mtime) == (1, 1)
    assert "m.onnx: error[IRL201]" in result.stdout


def test_unsafe_fixes_are_made_on_request(tmp_path: Path) -> None:
    """Where one edit alone fixes an error; without the option the summary counts it."""
    text = (
        '<ir_version: 8, opset_import: ["" : 17]> g (float[1,64] x, float[10,64] w) => (float[1,10] y) { y = Gemm '
        "(x, w) }"
    )
    onnx.save(onnx.parser.parse_model(text), tmp_path / "m.onnx")
    result_text = run("fix", "m.onnx", cwd=tmp_path)
    assert (result_text.returncode, result_text.stdout.splitlines()[-2]) == (
        1,
        "1 fixable with `irlint fix --unsafe-fixes`.",
    )
    shown = run("fix", "m.onnx", "--unsafe-fixes", "--diff", cwd=tmp_path)
    assert (shown.returncode, shown.stdout.splitlines()[0]) == (1, "m.onnx: set `transB = 1` in Gemm[0] (IRL320)")
    fixed = run("fix", "m.onnx", "--unsafe-fixes", cwd=tmp_path)
    assert (fixed.returncode, fixed.stdout.splitlines()[1]) == (0, "fixed 1 finding in 1 file")
    (node,) = onnx.load(tmp_path / "m.onnx").graph.node
    assert onnx.helper.get_node_attr_value(node, "transB") == 1
    assert run("fix", "m.onnx", "--unsafe-fixes", cwd=tmp_path).stdout == SUMMARY


def test_a_difference_is_shown_and_nothing_is_written(model: Path) -> None:
    result = run("fix", "m.onnx", "--diff", cwd=model.parent)
    assert (result.returncode, model.read_bytes()) == (1, WARNING.read_bytes())
    assert result.stdout.startswith("m.onnx: sort the nodes (IRL104)\nwould fix 1 finding in 1 file\n")
    run("fix", "m.onnx", cwd=model.parent)
    assert run("fix", "m.onnx", "--diff", cwd=model.parent).returncode == 0


def test_a_difference_has_the_lines_that_change(tmp_path: Path) -> None:
    from onnx import parser

    text = '<ir_version: 8, opset_import: ["" : 17]> g (float[2] x) => (float[2] y) { y = Relu (x) z = Neg (x) }'
    (tmp_path / "m.onnx").write_bytes(parser.parse_model(text).SerializeToString())
    shown = run("fix", "m.onnx", "--diff", cwd=tmp_path).stdout
    assert "--- m.onnx (before)\n+++ m.onnx (after)\n" in shown
    assert "\n-Neg (`x`)\n" in shown


def test_the_result_is_written_beside(model: Path) -> None:
    result = run("fix", "m.onnx", "--output", "other.onnx", cwd=model.parent)
    assert (result.returncode, model.read_bytes()) == (0, WARNING.read_bytes())
    assert run("other.onnx", cwd=model.parent).stdout == SUMMARY


def test_from_standard_input_to_standard_output(model: Path) -> None:
    result = ran("fix", "-", "--stdin-filename", "m.onnx", cwd=model.parent, data=WARNING.read_bytes())
    assert (result.returncode, b"sort the nodes" in result.stderr) == (0, True)
    run("fix", "m.onnx", cwd=model.parent)
    assert result.stdout == model.read_bytes()


@pytest.mark.parametrize(
    "options", ["", "--unsafe-fixes --annotate", "--freeze --shape x=2", "--target onnxruntime@1.20"]
)
@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"junk", "error[IRL001] the file is not an ONNX model\n"),
        (b"", "error[IRL001] the file is empty\n"),
        (WARNING.read_bytes()[:60], "error[IRL003] the field graph runs 20 bytes past the end of the file, "),
        (b"version https://git-lfs.github.com/spec/v1\n", "error[IRL002] the file is a Git LFS pointer\n"),
        (b'<net name="x" version="11"><layers>', "error[IRL003] line 1, column 36: the file ends inside <layers>"),
    ],
)
def test_what_cannot_be_read_from_standard_input_is_written_as_it_is(data: bytes, message: str, options: str) -> None:
    result = ran("fix", "-", "--stdin-filename", "m.onnx", *options.split(), data=data)
    assert (result.returncode, result.stdout) == (1, data)
    assert message in result.stderr.decode()
    assert "1 model: 1 unreadable.\n" in result.stderr.decode()
    assert "Traceback" not in result.stderr.decode()


def test_a_folder_and_json(model: Path) -> None:
    (model.parent / "bad.onnx").write_bytes(BAD.read_bytes())
    result = run("fix", ".", "--format", "json", cwd=model.parent)
    found = json.loads(result.stdout)
    left = json.loads(run("bad.onnx", "--format", "json", cwd=model.parent).stdout)["findings"]
    assert (result.returncode, found["schema"]) == (1, "irlint-fix-1")
    bad, good = found["files"]
    assert bad == {"path": "bad.onnx", "written": False, "edits": [], "left": [left[0]["fingerprint"]]}
    order = {"kind": "order", "of": "node", "graph": "", "value": good["edits"][0]["value"]}
    assert good == {"path": "m.onnx", "written": True, "edits": [order], "left": []}


def test_only_what_is_selected_is_fixed(model: Path) -> None:
    assert run("fix", "m.onnx", "--ignore", "IRL104", cwd=model.parent).returncode == 0
    assert model.read_bytes() == WARNING.read_bytes()


def test_a_check_counts_what_can_be_fixed(model: Path) -> None:
    assert "Found 1 warning in 1 of 1 model. 1 fixable with `irlint fix`.\n" in run("m.onnx", cwd=model.parent).stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["https://example.org/m.onnx"], "https://example.org/m.onnx is not a file on this machine"),
        ([".", "--output", "x.onnx"], "--output is for one file"),
        (["m.onnx", "m.onnx", "--output", "x.onnx"], "--output is for one file"),
        (["m.onnx", "--output", "x.onnx", "--diff"], "--diff writes no file"),
        (["m.onnx", "--freeze"], "--freeze writes the shapes of --shape, which is not given"),
        (["missing.onnx"], "no such file or folder: missing.onnx"),
        ([], "no PATH was given"),
        (["-"], "the PATH - and --stdin-filename NAME need each other"),
    ],
)
def test_what_ends_a_run(arguments: list[str], message: str, model: Path) -> None:
    result = run("fix", *arguments, cwd=model.parent)
    assert (result.returncode, result.stdout) == (2, "")
    assert message in result.stderr
    assert model.read_bytes() == WARNING.read_bytes()


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no such permissions")
def test_a_file_that_cannot_be_written_stays_whole(model: Path) -> None:
    prelude = "import os\ndef replace(*_): raise OSError(28, 'No space left on device')\nos.replace = replace\n"
    result = ran("fix", "m.onnx", cwd=model.parent, prelude=prelude)
    assert (result.returncode, model.read_bytes()) == (2, WARNING.read_bytes())
    assert b"cannot write m.onnx: No space left on device" in result.stderr
    assert list(model.parent.iterdir()) == [model]


#: A value inside an IR whose dims are declared wrongly at its maker.
RELU, ABS = (layer(id, type, "0", "1", name=type) for id, type in ((1, "Relu"), (2, "Abs")))
STALE = RELU.replace('precision="FP32"><dim>2', 'precision="FP32">\n<dim>5')
EDGES = [edge(0, 0, 1, 0), edge(1, 1, 2, 0), edge(2, 1, 3, 0)]


def test_an_ir_and_its_difference(tmp_path: Path) -> None:
    """The lines of the document that change; nothing else does in the file."""
    path = tmp_path / "m.xml"
    stale, sound = (net([parameter(0), each, ABS, result(3)], EDGES) for each in (STALE, STALE.replace("5", "2")))
    path.write_bytes(stale.replace("\n", "\r\n").encode())
    shown = run("fix", "m.xml", "--diff", cwd=tmp_path)
    assert shown.returncode == 1
    assert "--- m.xml (before)\n+++ m.xml (after)\n@@ -3,7 +3,7 @@\n" in shown.stdout
    changed = [line for line in shown.stdout.splitlines() if line.startswith(("-<", "+<"))]
    assert [line[:12] for line in changed] == ["-<dim>5</dim", "+<dim>2</dim"]
    assert run("fix", "m.xml", cwd=tmp_path).stdout == (
        "m.xml: declare `1:1` as [2, 3] (IRL601)\nfixed 1 finding in 1 file\n\nNo findings.\nChecked 1 IR model.\n"
    )
    assert path.read_bytes() == sound.replace("\n", "\r\n").encode()


DYNAMIC = '<ir_version: 8, opset_import: ["" : 17]> g (float[N,3] x) => (float[N,3] y) { z = Relu (x) y = Neg (z) }'


@pytest.fixture
def dynamic(tmp_path: Path) -> Path:
    from onnx import parser

    path = tmp_path / "m.onnx"
    path.write_bytes(parser.parse_model(DYNAMIC).SerializeToString())
    return path


def test_sizes_and_annotations_are_written_where_they_are_asked_for(dynamic: Path) -> None:
    before = dynamic.read_bytes()
    assert run("fix", "m.onnx", cwd=dynamic.parent).stdout == SUMMARY
    shown = run("fix", "m.onnx", "--annotate", "--diff", cwd=dynamic.parent)
    assert (shown.returncode, dynamic.read_bytes()) == (1, before)
    assert "would make 1 edit in 1 file\n" in shown.stdout
    result = run("fix", "m.onnx", "--annotate", "--shape", "x=4,3", "--freeze", cwd=dynamic.parent)
    lines = [
        f"m.onnx: declare `{name}` as {type}\n"
        for name, type in (("x", "[4, 3]"), ("y", "[4, 3]"), ("z", "float32[4, 3]"))
    ]
    assert (result.returncode, result.stdout) == (0, "".join(lines) + "made 3 edits in 1 file\n\n" + SUMMARY)
    assert run("fix", "m.onnx", "--annotate", "--shape", "x=4,3", "--freeze", cwd=dynamic.parent).stdout == SUMMARY


def test_what_cannot_be_had_is_reported(dynamic: Path) -> None:
    before = dynamic.read_bytes()
    result = run("fix", "m.onnx", "--shape", "x=4,3,2", "--freeze", cwd=dynamic.parent)
    assert (result.returncode, dynamic.read_bytes()) == (1, before)
    assert result.stdout.startswith("m.onnx: --freeze was not applied: x has 2 axes, not 3\n")
    result = run("fix", "m.onnx", "--shape", "q=4,3", "--freeze", cwd=dynamic.parent)
    assert (result.returncode, result.stderr) == (
        2,
        "irlint: error: --shape q: no input named q; the inputs of m.onnx are x\n",
    )


def test_versions_of_a_target(dynamic: Path) -> None:
    """JSON has the edits."""
    import onnx

    model = onnx.load(dynamic)
    model.ir_version = 11
    dynamic.write_bytes(model.SerializeToString())
    result = run("fix", "m.onnx", "--target", "onnxruntime@1.16", "--format", "json", cwd=dynamic.parent)
    (entry,) = json.loads(result.stdout)["files"]
    edit = {"kind": "ir_version", "of": "graph", "graph": "", "value": 8}
    assert (result.returncode, entry) == (0, {"path": "m.onnx", "written": True, "edits": [edit], "left": []})
    assert onnx.load(dynamic).ir_version == 8


def test_external_data_that_is_missing_beside_the_output_is_named(tmp_path: Path) -> None:
    import numpy
    import onnx.numpy_helper

    weights = onnx.numpy_helper.from_array(numpy.zeros((2, 2000), "float32"), "w")
    nodes = [onnx.helper.make_node("MatMul", ["x", "w"], ["y"])]
    ends = [onnx.helper.make_tensor_value_info(name, 1, [3, size]) for name, size in (("x", 2), ("y", 2000))]
    graph = onnx.helper.make_graph(nodes, "g", ends[:1], ends[1:], [weights])
    model = onnx.helper.make_model(graph, ir_version=8, opset_imports=[onnx.helper.make_opsetid("", 17)])
    onnx.save(model, tmp_path / "m.onnx", save_as_external_data=True, location="m.data", size_threshold=0)
    (tmp_path / "sub").mkdir()
    shown = run("fix", "m.onnx", "--output", "sub/o.onnx", cwd=tmp_path).stdout
    missing = os.path.join("sub", "m.data")
    assert f"sub/o.onnx reads its weights from {missing}, which does not exist: copy m.data to it\n" in shown
    assert "weights" not in run("fix", "m.onnx", "--output", "o.onnx", cwd=tmp_path).stdout
    (tmp_path / "sub" / "m.data").write_bytes((tmp_path / "m.data").read_bytes())
    assert "weights" not in run("fix", "m.onnx", "--output", "sub/o.onnx", cwd=tmp_path).stdout


def test_the_weights_of_an_ir_that_is_written_beside_are_named(tmp_path: Path) -> None:
    source = WARNING.parents[2] / "openvino" / "good" / "IRL705-invalid-const.xml"
    (tmp_path / "m.xml").write_bytes(source.read_bytes())
    (tmp_path / "m.bin").write_bytes(source.with_suffix(".bin").read_bytes())
    shown = run("fix", "m.xml", "--output", "other.xml", cwd=tmp_path).stdout
    assert "other.xml reads its weights from other.bin, which does not exist: copy m.bin to it\n" in shown
    (tmp_path / "other.bin").write_bytes(b"")
    assert "weights" not in run("fix", "m.xml", "--output", "other.xml", cwd=tmp_path).stdout
