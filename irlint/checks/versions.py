"""The versions that an ONNX model states."""

from __future__ import annotations

from collections.abc import Iterator

from irlint.findings.faults import Rule, Severity
from irlint.inference.known import Known
from irlint.model import Model, Problem
from irlint.schemas import OFFICIAL_DOMAINS, latest_opset

MISSING_IR_VERSION = Rule(
    "IRL802",
    "missing-ir-version",
    Severity.ERROR,
    "The ONNX model does not say which version of the format it has.",
    why="The IR version fixes how the file is read; the ONNX checker and ONNX Runtime refuse a model without it.",
    mend="Set `ir_version`, 8 or later for a current model.",
)


OPSET_TOO_NEW = Rule(
    "IRL803",
    "opset-too-new",
    Severity.WARNING,
    "The model imports an opset that is newer than any that irlint knows.",
    why="Operators may mean something else there; they are judged by the newest opset that is known, and only some runtimes load it.",
    mend="Update irlint and the onnx package, or export the model for an older opset.",
    bad="""<ir_version: 8, opset_import: ["" : 999]>
g (float[2,3] x) => (float[2,3] y) { y = Relu (x) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) { y = Relu (x) }""",
)


def problems(known: Known) -> list[Problem]:
    """A missing version of the format, and opsets that are newer than those that are known."""
    return list(_versions(known.model))


def _versions(model: Model) -> Iterator[Problem]:
    if model.format_version is None:
        yield Problem(MISSING_IR_VERSION.fault("the model has no ir_version", help="set ir_version, for example to 8"))
    for domain, version in model.opsets.items():
        newest = latest_opset(domain) if domain in OFFICIAL_DOMAINS else 0
        if 0 < newest < version:
            name = domain or "ai.onnx"
            fault = OPSET_TOO_NEW.fault(
                f"the model imports opset {version} of {name}; the newest one known is {newest}",
                help=f"import opset {newest} of {name} or older, or update irlint and onnx",
            )
            yield Problem(fault)
