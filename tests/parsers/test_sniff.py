"""What kind of file it is, and the finding of a file that is no model."""

from __future__ import annotations

import gzip
import io
import pickle
import zipfile

import pytest

from irlint import parsers
from irlint.findings.faults import Severity
from irlint.model.formats import ONNX, OPENVINO

IR = '<?xml version="1.0"?>\n<net name="n" version="11"><layers/></net>'
POINTER = (
    b"version https://git-lfs.github.com/spec/v1\n"
    b"oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 102400123\n"
)


def zipped():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("data.pkl", b"x")
    return buffer.getvalue()


def onnx_model(**fields):
    import onnx

    graph = onnx.parser.parse_graph("g (float[2] x) => (float[2] y) { y = Relu(x) }")
    return onnx.helper.make_model(graph, **fields).SerializeToString()


@pytest.mark.parametrize(
    ("name", "head", "kind"),
    [
        ("m.xml", IR.encode(), "openvino"),
        ("m", IR.encode(), "openvino"),
        ("m.onnx", IR.encode(), "openvino"),
        ("m.xml", IR.encode("utf-16"), "openvino"),
        ("m.xml", IR.encode("utf-16-le"), "openvino"),
        ("m.xml", IR.encode("utf-16-be"), "openvino"),
        ("m.xml", b"\xef\xbb\xbf" + IR.encode(), "openvino"),
        ("m.xml", b" \n" + IR.replace("<net", "<!-- <html> -->\n<NET").encode(), "openvino"),
        ("m.xml", b"<!DOCTYPE net [<!ENTITY a '>'>]><net version='11'>", "openvino"),
        ("m.xml", b"<net>", "openvino"),
        ("m.xml", b"<net", "openvino"),
        ("m.xml", b"<!-- " + b"a" * 5000, "openvino"),
        ("m.xml", b"rubbish", "unknown"),
        ("m.xml", onnx_model()[: parsers.HEAD], "onnx"),
        ("m.onnx", b"<ir_version: 8>\ng (float[2] x) => (float[2] y) { y = Relu (x) }", "onnx-text"),
        ("m.txt", b"<\n  ir_version: 8,\n", "onnx-text"),
        ("pom.xml", b"<?xml version='1.0'?><project xmlns='u'>", "other-xml"),
        ("n.xml", b"<network><layers/></network>", "other-xml"),
        ("n.svg", b"<?xml version='1.0'?><svg:svg>", "other-xml"),
        ("m.onnx", b"<!DOCTYPE html><html>", "html"),
        ("m.xml", b"\n<!doctype HTML>", "html"),
        ("m.onnx", b"<html lang='en'>", "html"),
        ("m.xml", b"<HTML>", "html"),
        ("m.onnx", POINTER, "lfs-pointer"),
        ("m.xml", POINTER, "lfs-pointer"),
        ("m.onnx", gzip.compress(b"x", mtime=0), "gzip"),
        ("m.onnx", zipped(), "zip"),
        ("m.pt", pickle.dumps({}, protocol=2), "pickle"),
        ("m.pkl", pickle.dumps({}, protocol=4), "pickle"),
        ("m.safetensors", (64).to_bytes(8, "little") + b'{"a":{}}', "safetensors"),
        ("m.gguf", b"GGUF\3\0\0\0", "gguf"),
        ("m.onnx", b"\x93NUMPY\1\0v\0", "numpy"),
        ("m.onnx", b"PK\3\4" + bytes(26) + b"arr_0.npy", "numpy"),
        ("m.onnx", b"PK\3\4" + bytes(26) + b"archive/data.pkl", "torchscript"),
        ("m.onnx", b"PK\3\4" + bytes(26) + b"model.xml", "zip"),
        ("m.onnx", b"ftrt" + bytes(20), "tensorrt"),
        ("m.onnx", (64).to_bytes(8, "little") + b'{"a":{}}', "safetensors"),
        ("m.onnx", b'{"error": "not found"}', "json"),
        ("m.onnx", b'\n[{"message": 1}]', "json"),
        ("saved_model.pb", b"\x08\x01\x12\x94\x03\x0a\x40" + bytes(60), "savedmodel"),
        ("m.onnx", b"\x08\x01\x12\x07backend", "onnx"),
        ("m.tflite", b"\x1c\0\0\0TFL3", "tflite"),
        ("m.h5", b"\x89HDF\r\n\x1a\n", "hdf5"),
        ("m.onnx", b"", "empty"),
        ("m.xml", b"", "empty"),
        ("m.onnx", b"rubbish", "onnx"),
        ("m.bin", b"rubbish", "unknown"),
        ("m.bin", b"\0" * 64, "unknown"),
        ("m.bin", b"\x08", "unknown"),
    ],
)
def test_kind(name, head, kind):
    assert parsers.kind(name, head) == kind


@pytest.mark.parametrize("name", ["m.onnx", "m", "m.pb", "m.ONNX"])
@pytest.mark.parametrize("fields", [{}, {"producer_name": "p"}, {"ir_version": 3}])
def test_an_onnx_model_is_known_by_its_bytes(name, fields):
    assert parsers.kind(name, onnx_model(**fields)[: parsers.HEAD]) == "onnx"


@pytest.mark.parametrize(
    ("name", "data", "code", "words"),
    [
        ("m.onnx", POINTER, "IRL002", ("Git LFS pointer", "102 MB", "102,400,123 bytes")),
        ("m.xml", POINTER.replace(b"102400123", b"999"), "IRL002", ("999 bytes",)),
        ("m.xml", POINTER.replace(b"102400123", b"1500"), "IRL002", ("1.5 kB (1,500 bytes)",)),
        ("m.xml", POINTER.replace(b"102400123", b"999499"), "IRL002", ("999 kB (999,499 bytes)",)),
        ("m.xml", POINTER.replace(b"102400123", b"999999"), "IRL002", ("1 MB (999,999 bytes)",)),
        ("m.xml", POINTER.replace(b"102400123", b"many"), "IRL002", ("Git LFS pointer",)),
        ("m.onnx", b"<html>", "IRL001", ("web page",)),
        ("m.onnx", b"", "IRL001", ("empty",)),
        ("m.onnx", b"<ir_version: 8>", "IRL001", ("ONNX model in text syntax",)),
        ("m.onnx", zipped(), "IRL001", ("zip", "PyTorch")),
        ("m.onnx", gzip.compress(b"x", mtime=0), "IRL001", ("gzip",)),
        ("m.xml", b"<project/>", "IRL001", ("<net>",)),
        ("m.txt", b"hello", "IRL001", ("neither",)),
    ],
)
def test_a_file_that_is_no_model(name, data, code, words, tmp_path):
    path = tmp_path / name
    path.write_bytes(data)
    for model in (parsers.read(path), parsers.read(str(path), data)):
        (problem,) = model.problems
        assert model.graph is None and model.path == str(path)
        assert problem.fault.rule.code == code
        assert problem.fault.severity is Severity.ERROR
        assert all(word in problem.fault.message for word in words)
        assert problem.fault.help


def test_the_pointer_s_help_gives_the_command():
    (problem,) = parsers.read("models/m.onnx", POINTER).problems
    assert problem.fault.help == 'fetch it: git lfs pull --include "models/m.onnx"'


def test_read_takes_the_parser_of_the_contents(tmp_path):
    path = tmp_path / "m.onnx"
    path.write_text(IR)
    assert parsers.read(path).format is OPENVINO
    path.write_bytes(onnx_model())
    assert parsers.read(path).format is ONNX
    assert parsers.read(tmp_path / "m", onnx_model()).format is ONNX


def test_a_document_of_another_root_behind_the_first_bytes(tmp_path):
    path = tmp_path / "m.xml"
    path.write_bytes(b"<!-- " + b"a" * 5000 + b" --><project/>")
    (problem,) = parsers.read(path).problems
    assert problem.fault.rule.code == "IRL001"
    assert problem.fault.message == "the root element is <project>; that of an IR is <net>"


def test_a_missing_file_raises(tmp_path):
    with pytest.raises(FileNotFoundError):
        parsers.read(tmp_path / "m.xml")
