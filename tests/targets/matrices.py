"""What the releases of a runtime do with a model that is written as text."""

from __future__ import annotations

from collections.abc import Mapping

import onnx.parser

from irlint.inference.known import Known
from irlint.inference.walk import inferred
from irlint.parsers import onnx as onnx_parser
from irlint.parsers import openvino as ir_parser
from irlint.targets import tables
from irlint.targets.tables import short
from irlint.targets.verdicts import message, reasons, verdict

FLOATS = "(float[2,3] x) => (float[2,3] y)"


def known(text: str) -> Known:
    """What is known of an ONNX model in ONNX's text syntax, or of an IR."""
    if text.startswith("<net"):
        return inferred(ir_parser.read("m.xml", text.encode()))
    return inferred(onnx_parser.read("m.onnx", onnx.parser.parse_model(text).SerializeToString()))


def matrix(text: str, runtime: str) -> Mapping[str, tuple[str, list[str]]]:
    """By release what it does with a model, and why."""
    found = reasons(known(text), runtime)
    rows = {}
    for column, release in enumerate(tables.releases(runtime)):
        mine = [each for each in found if each.releases >> column & 1]
        rows[short(release)] = verdict(mine), [message(each) for each in mine]
    return rows


def of(opset: int, graph: str, ir_version: int = 8, more: str = "") -> str:
    """A model of an opset, with a graph in ONNX's text syntax."""
    return f'<ir_version: {ir_version}, opset_import: ["" : {opset}{more}]> g {graph}'
