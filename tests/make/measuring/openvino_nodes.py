"""Models of one node that the front end of OpenVINO for ONNX is asked about: node tests and cases, and what comes of
them."""

from __future__ import annotations

import hashlib
import sys
import warnings
from collections.abc import Iterator, Set
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from irlint.fixes.explaining import every_problem
from irlint.inference.walk import inferred
from irlint.parsers.onnx import read
from irlint.schemas import official_versions
from irlint.targets.uses import uses

from .openvino_variants import copied, variants
from .traits import traits

TESTS = Path(__file__).resolve().parents[2]

#: Domains of operators of which the front end has converters.
DOMAINS = ("", "ai.onnx.ml", "com.microsoft", "org.openvinotoolkit")


@cache
def nodes() -> list[tuple[str, bytes, bytes]]:
    """The models of one node, each with the name of its operator and the model that it was made from, b"" for none; one
    that is asked already is not asked again."""
    found: dict[bytes, tuple[str, bytes]] = {}
    bases = [each for each in _bases() if each[0].graph.node[0].domain in DOMAINS]
    for model, base in variants(bases, _is_sound):
        node = model.graph.node[-1]
        found.setdefault(_bare(model), (f"{node.domain}:{node.op_type}", b"" if base is None else _bare(base)))
    return [(name, data, base) for data, (name, base) in found.items()]


def digest(data: bytes) -> str:
    """A short name of a model."""
    return hashlib.sha256(data).hexdigest()[:16]


def _is_sound(model: onnx.ModelProto) -> bool:
    """Whether the check finds no error in a model."""
    known = inferred(read("m.onnx", model.SerializeToString()))
    return not any(each.is_error for each in (*known.model.problems, *known.problems))


def _bare(model: onnx.ModelProto) -> bytes:
    """A model without the types that it states for what its nodes give."""
    made = copied(model)
    for value in made.graph.output:
        value.ClearField("type")
    del made.graph.value_info[:]
    made.ir_version = 8
    return bytes(made.SerializeToString(deterministic=True))


@cache
def traits_of_nodes() -> list[tuple[str, Set[str]]]:
    """The operators of these models, and the traits of their nodes."""
    return [(name, traits_of(data)) for name, data, _ in nodes()]


def traits_of(data: bytes) -> Set[str]:
    """The traits of the last node of a model."""
    known = inferred(read("m.onnx", data))
    assert known.model.graph is not None
    node = known.model.graph.nodes[-1]
    use = next(each for each in uses(known) if each.node is node)
    codes = {each.fault.rule.code for each in known.problems if each.node is node and each.is_error}
    versions = official_versions(node.op, "")[1:] if not node.domain else ()
    return traits(use, versions, codes)


@cache
def graphs() -> list[bytes]:
    """Models of several nodes: the examples of rules that break them, and cases."""
    found = [path.read_bytes() for path in sorted((TESTS.parent / "fixtures" / "onnx" / "bad").glob("*.onnx"))]
    operator = _notation().Operator
    return found + [_document(each.model) for each in _cases() if not isinstance(each.model, operator)]


@cache
def errors_of_graphs() -> list[list[str]]:
    """The codes of the errors of these models that follow from no other."""
    found = []
    for data in graphs():
        model = read("m.onnx", data)
        known = inferred(model) if model.graph is not None else None
        problems = every_problem(known) if known is not None else model.problems
        found.append(sorted({each.fault.rule.code for each in problems if each.is_error and each.because is None}))
    return found


def _bases() -> Iterator[tuple[onnx.ModelProto, list[Any]]]:
    """Models of one node, with what is fed to them where there is something."""
    from onnx.backend.test.case.node import collect_testcases

    np.random.seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = list(collect_testcases(None))
    for case in cases:
        if len(case.model.graph.node) == 1 and not case.model.functions and "_expanded" not in case.name:
            yield copied(case.model), list(case.data_sets[0][0]) if case.data_sets else []
    for each in _cases():
        if isinstance(each.model, _notation().Operator):
            model = onnx.ModelProto()
            model.ParseFromString(_document(each.model))
            yield model, []


def _notation() -> Any:
    if str(TESTS) not in sys.path:
        sys.path.insert(0, str(TESTS))
    from cases import notation

    return notation


def _document(model: Any) -> bytes:
    from cases.models import document

    return bytes(document(model)[1])


def _cases() -> Iterator[Any]:
    """The cases of ONNX."""
    notation = _notation()
    for path in notation.files():
        for _, line in notation.lines(path):
            yield from (each for each in notation.cases(line) if each.model.format == "onnx")
