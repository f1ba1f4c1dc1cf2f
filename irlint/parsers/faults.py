"""The rules about files that cannot be read, and the other rules that parsers check."""

from __future__ import annotations

from irlint.findings.faults import Refusal, Rule, Severity

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
    "The file contains something other than a model.",
    why="A failed download often leaves a web page, and an archive must be unpacked first.",
    fix="Download or export the model again, and check that the content of the file matches its name.",
    bad="<html><body>404: not found</body></html>\n",
    good=_SOUND,
)

LFS_POINTER = Rule(
    "IRL002",
    "lfs-pointer",
    Severity.ERROR,
    "The file is a Git LFS pointer; the model itself has not been downloaded.",
    why="Git LFS stores large files elsewhere. A clone without LFS contains three lines of text instead of the model.",
    fix='Run `git lfs pull --include "PATH"`, and enable LFS in the checkout of the CI job.',
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
    why="An interrupted copy or download leaves only the first part of a file. No runtime loads it.",
    fix="Copy, download or export the file again, and compare its size with the original's.",
    bad=_SOUND[: _SOUND.index("  </layers>")],
    good=_SOUND,
)

MALFORMED_ONNX = Rule(
    "IRL004",
    "malformed-onnx",
    Severity.ERROR,
    "The bytes of an ONNX file cannot be decoded.",
    why="An ONNX file is one protobuf message. Damaged bytes or converted line endings make it unreadable.",
    fix="Export or copy the file again. In Git, mark *.onnx as binary.",
)

DUPLICATE_ATTRIBUTE = Rule(
    "IRL519",
    "duplicate-attribute",
    Severity.ERROR,
    "A node has the same attribute more than once.",
    why=(
        'It is ambiguous which value counts. The ONNX checker and ONNX Runtime refuse the model with "attribute '
        'appeared multiple times". In a function, but not in a body of its nodes, ONNX Runtime uses the last value, '
        "and irlint only warns."
    ),
    fix="Keep only the intended attribute.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[4,3] y) { y = Concat <axis = 0, axis = 0> (x, x) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[4,3] y) { y = Concat <axis = 0> (x, x) }""",
)

TYPE_MISSING = Rule(
    "IRL403",
    "element-type-missing",
    Severity.ERROR,
    "A graph input or a declared value has no element type.",
    why=(
        "A runtime cannot allocate a value of unknown element type. ONNX Runtime refuses the model if any input, "
        'output or entry of `value_info` has the element type 0 (undefined): "Invalid tensor data type 0".'
    ),
    fix="Declare the element type.",
    refused=(Refusal("onnxruntime"),),
)

DOMAIN_SPELLED_OUT = Rule(
    "IRL804",
    "domain-spelled-out",
    Severity.ERROR,
    'A node writes the domain of ONNX\'s own operators as "ai.onnx".',
    why=(
        'In a model, this domain is the empty string. The ONNX checker finds no import for "ai.onnx", or no operator '
        "in it. ONNX Runtime uses the checker for bodies and functions and refuses such nodes there. In the main "
        "graph, ONNX Runtime accepts them, and irlint warns."
    ),
    fix="Set the domain of the node to the empty string.",
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
    why=(
        "A call identifies a function by its domain, name and overload. If two functions share these, the call is "
        "ambiguous, and ONNX Runtime refuses the model. If two attributes share a name, only the ONNX checker "
        "refuses the model, and irlint warns."
    ),
    fix="Remove or rename one of the two.",
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
    "The document is not well-formed XML, and OpenVINO cannot read it.",
    why="If tags do not match, it is unclear to which layer an element belongs. OpenVINO refuses the file.",
    fix="Correct the tags at the reported position, or write the IR again with openvino.save_model.",
    bad=_SOUND.replace("</layers>", "</layer>"),
    good=_SOUND,
)

NOT_WELL_FORMED = Rule(
    "IRL006",
    "not-well-formed",
    Severity.WARNING,
    "The document is not well-formed XML, though OpenVINO reads it.",
    why=(
        "OpenVINO's parser accepts a bare `&`, a repeated attribute and text after the root element. Other XML tools "
        "refuse the file."
    ),
    fix="Write `&amp;` for `&`, write each attribute once, and end the file with `</net>`.",
    bad=_SOUND.replace('name="x"', 'name="x & y"'),
    good=_SOUND.replace('name="x"', 'name="x &amp; y"'),
)

CHECK_CRASHED = Rule(
    "IRL008",
    "check-crashed",
    Severity.ERROR,
    "The check of this file failed because of a defect of irlint or a lack of memory.",
    why=(
        "The file was not checked completely, so it must not pass. irlint still checks the other files of the run. If "
        "only the search for causes and fixes failed, the message says so, and the other findings of the file are "
        "complete."
    ),
    fix="Report the defect with the message and, if possible, the model. Exclude the file until the defect is fixed.",
)

CHECK_TIMED_OUT = Rule(
    "IRL010",
    "check-timed-out",
    Severity.ERROR,
    "The check of this file exceeded its time limit.",
    why=(
        "The file was not checked completely, so it must not pass. irlint still checks the other files of the run. "
        "If the model does not have many millions of nodes, someone may have made the file to block its readers."
    ),
    fix="Raise the limit with --timeout, or exclude the file. If a valid model takes this long, please report it.",
)

UNREADABLE_FILE = Rule(
    "IRL009",
    "unreadable-file",
    Severity.ERROR,
    "irlint cannot open the file.",
    why=(
        "The path is a broken or circular link or a pipe, a permission is missing, or a server refuses the file. The "
        "model was not checked, so it must not pass."
    ),
    fix=(
        "Correct the link, make the file readable, or exclude it. For a URL, check that the server has the file and "
        "that you may read it."
    ),
)

LONG_NAME = Rule(
    "IRL011",
    "name-too-long",
    Severity.WARNING,
    "A name in the model has more than 65,536 bytes.",
    why=(
        "No exporter writes such names. Every tool that copies, logs or compares the name needs a multiple of its "
        "size in memory, and someone may have made the file for this purpose."
    ),
    fix="Export the model again with shorter names.",
)

EQUAL_ENTRIES = Rule(
    "IRL012",
    "too-many-equal-entries",
    Severity.WARNING,
    "A list in the file has more than 1,000 equal entries of at most 16 bytes.",
    why=(
        "No exporter writes thousands of empty nodes or initializers, so someone may have made the file to keep its "
        "readers busy. irlint checks and reports the first 1,000 equal entries; the others have the same faults."
    ),
    fix="Remove the equal entries, and find out where the file comes from.",
)

UNSUPPORTED_IR_VERSION = Rule(
    "IRL007",
    "unsupported-ir-version",
    Severity.ERROR,
    "OpenVINO does not read this version of the IR, because it is too old or too new.",
    why="OpenVINO reads IR 10 and 11. It dropped versions up to 7, which have other layers and attributes, in 2022.",
    fix="Convert the original model again with openvino.convert_model.",
    bad=_SOUND.replace('version="11"', 'version="7"'),
    good=_SOUND,
)
