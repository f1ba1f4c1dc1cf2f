"""The rules about files that cannot be read, or only in part."""

from __future__ import annotations

from irlint.findings.faults import Rule, Severity, refused

_SOUND = """<net version="11">
  <layers>
    <layer id="0" name="x" type="Parameter" version="opset1">
      <data shape="1,3" element_type="f32"/>
      <output><port id="0" precision="FP32"><dim>1</dim><dim>3</dim></port></output>
    </layer>
    <layer id="1" name="r" type="Result" version="opset1">
      <input><port id="0"><dim>1</dim><dim>3</dim></port></input>
    </layer>
  </layers>
  <edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/></edges>
</net>
"""

NOT_A_MODEL = Rule(
    "IRL001",
    "not-a-model",
    Severity.ERROR,
    "The file holds something other than a model.",
    why="A download that failed leaves a web page, and an archive must be unpacked first.",
    fix="Fetch or export the model again, and check that the file is what its name says.",
    bad="<html><body>404: not found</body></html>\n",
    good=_SOUND,
)

LFS_POINTER = Rule(
    "IRL002",
    "lfs-pointer",
    Severity.ERROR,
    "The file is a Git LFS pointer: the model itself has not been fetched.",
    why="Git LFS keeps large files elsewhere. A clone without LFS has three lines of text instead.",
    fix='Run `git lfs pull --include "PATH"`, and let the CI job check out with LFS.',
    bad="version https://git-lfs.github.com/spec/v1\n"
    "oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\n"
    "size 102400123\n",
    good=_SOUND,
)

TRUNCATED_FILE = Rule(
    "IRL003",
    "truncated-file",
    Severity.ERROR,
    "The file ends before the model does.",
    why="A copy or a download that was cut short leaves the first part of a file. No runtime loads it.",
    fix="Copy, download or export the file again, and compare its size with the original's.",
    bad=_SOUND[: _SOUND.index("  </layers>")],
    good=_SOUND,
)

MALFORMED_ONNX = Rule(
    "IRL004",
    "malformed-onnx",
    Severity.ERROR,
    "The bytes of an ONNX file cannot be decoded.",
    why="An ONNX file is one protobuf message. Damaged bytes, or converted line ends, break it everywhere.",
    fix="Export or copy the file again; in Git, mark *.onnx as binary.",
)

DUPLICATE_ATTRIBUTE = Rule(
    "IRL519",
    "duplicate-attribute",
    Severity.ERROR,
    "A node has the same attribute more than once.",
    why='It is ambiguous which value applies. The ONNX checker and ONNX Runtime refuse the model with "attribute '
    'appeared multiple times". In a function, outside bodies, ONNX Runtime uses the last one, and irlint warns.',
    fix="Keep the intended one.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[4,3] y) { y = Concat <axis = 0, axis = 0> (x, x) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[4,3] y) { y = Concat <axis = 0> (x, x) }""",
)

TYPE_MISSING = Rule(
    "IRL403",
    "element-type-missing",
    Severity.ERROR,
    "A graph input, or a declaration, has no element type.",
    why="""A runtime cannot allocate an input of unknown element type; ONNX Runtime refuses the model, and also one
that declares a value with the element type "undefined".""",
    fix="Declare the element type.",
    refused=(refused("onnxruntime"),),
)

DOMAIN_SPELLED_OUT = Rule(
    "IRL804",
    "domain-spelled-out",
    Severity.ERROR,
    'A node gives the domain of ONNX\'s own operators as "ai.onnx".',
    why="Its name in a model is the empty text. The ONNX checker finds no import for the long name, or no operator; "
    "ONNX Runtime refuses such nodes in bodies and functions, where it asks the checker, and takes them in the "
    "main graph; irlint warns in that case.",
    fix="Leave the domain of the node empty.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) { y = ai.onnx.Relu (x) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) { y = Relu (x) }""",
    fixable=True,
)

DUPLICATE_FUNCTION = Rule(
    "IRL130",
    "duplicate-function",
    Severity.ERROR,
    "Two functions of the model, or two attributes of a function, have the same name.",
    why="A call identifies a function by domain, name and overload; two such functions make it ambiguous, and ONNX "
    "Runtime refuses the model. Only the ONNX checker refuses two attributes with the same name, so irlint "
    "warns.",
    fix="Remove one of them, or give it another name.",
    bad="""<ir_version: 10, opset_import: ["" : 21, "f" : 1]>
g (float[2] x) => (float[2] y) { y = f.Half (x) }
<domain: "f", opset_import: ["" : 21]>
Half (a) => (b) { b = Add (a, a) }
<domain: "f", opset_import: ["" : 21]>
Half (a) => (b) { b = Neg (a) }""",
    good="""<ir_version: 10, opset_import: ["" : 21, "f" : 1]>
g (float[2] x) => (float[2] y) { z = f.Half (x) y = f.Other (z) }
<domain: "f", opset_import: ["" : 21]>
Half (a) => (b) { b = Add (a, a) }
<domain: "f", opset_import: ["" : 21]>
Other (a) => (b) { b = Neg (a) }""",
)

MALFORMED_XML = Rule(
    "IRL005",
    "malformed-xml",
    Severity.ERROR,
    "The document is broken XML.",
    why="Tags that do not match leave open which layer an element belongs to. OpenVINO refuses the file.",
    fix="Correct the tags at the position given, or write the IR again with openvino.save_model.",
    bad=_SOUND.replace("</layers>", "</layer>"),
    good=_SOUND,
)

NOT_WELL_FORMED = Rule(
    "IRL006",
    "not-well-formed",
    Severity.WARNING,
    "The document is not well-formed XML, though OpenVINO reads it.",
    why="OpenVINO's parser forgives a bare `&`, an attribute given twice and text after the root. "
    "Other XML tools stop there.",
    fix="Write `&amp;` for `&`, give each attribute once, and end the file with `</net>`.",
    bad=_SOUND.replace('name="x"', 'name="x & y"'),
    good=_SOUND.replace('name="x"', 'name="x &amp; y"'),
)

CHECK_CRASHED = Rule(
    "IRL008",
    "check-crashed",
    Severity.ERROR,
    "The check of this file failed: a defect of irlint, or a lack of memory.",
    why="Nothing is known about the file, so it must not pass. The other files of the run are still checked.",
    fix="Report the defect with the message and, if possible, the model. Exclude the file until it is fixed.",
)

CHECK_TIMED_OUT = Rule(
    "IRL010",
    "check-timed-out",
    Severity.ERROR,
    "The check of this file exceeded its time limit.",
    why="Nothing is known about the file, so it must not pass. The other files of the run are still checked. If the "
    "model does not have many millions of nodes, the file may have been made to block its readers.",
    fix="Raise the limit with --timeout, or exclude the file. Please report a sound model that takes long.",
)

UNREADABLE_FILE = Rule(
    "IRL009",
    "unreadable-file",
    Severity.ERROR,
    "The path names a model that cannot be opened.",
    why="A broken or circular link, missing permission, a pipe, or a server that denies the file: nothing is known "
    "about the model, so it must not pass.",
    fix="Restore the target of the link, allow reading the file, or exclude it. For a URL, check that the server has "
    "the file and lets you read it.",
)

LONG_NAME = Rule(
    "IRL011",
    "name-too-long",
    Severity.WARNING,
    "A name in the model has more than 65,536 bytes.",
    why="No exporter writes such names. Every tool that copies, logs or compares them needs a multiple of their size "
    "in memory; the file may have been made for that.",
    fix="Export the model again with shorter names.",
)

EQUAL_ENTRIES = Rule(
    "IRL012",
    "too-many-equal-entries",
    Severity.WARNING,
    "A list in the file has more than 1,000 equal entries of at most 16 bytes.",
    why="No exporter writes lists of thousands of empty nodes or initializers; the file may have been made to keep "
    "its readers busy. The first 1,000 equal entries are checked and reported. The others have the same faults.",
    fix="Remove the equal entries, and check where the file is from.",
)

UNSUPPORTED_IR_VERSION = Rule(
    "IRL007",
    "unsupported-ir-version",
    Severity.ERROR,
    "The IR is of a version that OpenVINO no longer reads, or does not read yet.",
    why="OpenVINO reads IR 10 and 11. Versions up to 7 have other layers and attributes; they went in 2022.",
    fix="Convert the original model again with openvino.convert_model.",
    bad=_SOUND.replace('version="11"', 'version="7"'),
    good=_SOUND,
)
