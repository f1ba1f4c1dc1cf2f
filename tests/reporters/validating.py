"""Whether JSON has the properties, types and texts that its readers need."""

from __future__ import annotations

import re
from typing import Any


def assert_shape(entry: Any, shape: Any, where: str = "") -> None:
    """Fails unless ``entry`` is of ``shape``: a type, a predicate, a list of one shape, a set of texts, or properties,
    those behind a ``?`` optional and no others allowed."""
    if isinstance(shape, list):
        assert isinstance(entry, list), where
        for index, each in enumerate(entry):
            assert_shape(each, shape[0], f"{where}[{index}]")
    elif isinstance(shape, dict):
        assert isinstance(entry, dict), where
        needed = {name for name in shape if not name.startswith("?")}
        assert needed <= set(entry) <= {name.removeprefix("?") for name in shape}, (where, set(entry))
        for name, each in entry.items():
            assert_shape(each, shape.get(name, shape.get(f"?{name}")), f"{where}.{name}")
    elif isinstance(shape, set):
        assert entry in shape, (where, entry)
    elif isinstance(shape, type):
        assert type(entry) is shape, (where, entry)
    else:
        assert shape(entry), (where, entry)


def filled(entry: Any) -> bool:
    return isinstance(entry, str) and bool(entry) and not re.search("[\ud800-\udfff]", entry)


def described(entry: Any) -> bool:
    return filled(entry) and len(entry) <= 1024


def counting(entry: Any) -> bool:
    return type(entry) is int and entry >= 1


def reference(entry: Any) -> bool:
    """A URI of what RFC 3986 allows; a relative one without ``..`` and without a scheme in its first part."""
    if not re.fullmatch(r"(?:[A-Za-z0-9._~:/-]|%[0-9A-F]{2})+", entry):
        return False
    return entry.startswith("file:///") or (
        ":" not in entry and not entry.startswith("/") and ".." not in entry.split("/")
    )


LEVEL = {"error", "warning", "note"}
TEXT = {"text": filled}
ARTIFACT = {"uri": reference, "?uriBaseId": {"%SRCROOT%"}}
REGION = {"startLine": counting, "?startColumn": counting, "?endLine": counting, "?endColumn": counting}
PLACE = {
    "physicalLocation": {"artifactLocation": ARTIFACT, "region": REGION},
    "?logicalLocations": [{"?name": str, "fullyQualifiedName": str, "kind": {"node", "value", "graph"}}],
}
PROPERTIES = {"graph": str, **dict.fromkeys(("?node", "?op", "?opVersion", "?value"), str), "?input": int}
REPLACEMENT = {
    "deletedRegion": dict.fromkeys(("startLine", "startColumn", "endLine", "endColumn"), counting),
    "?insertedContent": {"text": filled},
}
RESULT = {
    "ruleId": filled,
    "ruleIndex": int,
    "level": LEVEL,
    "message": TEXT,
    "locations": [PLACE],
    "?relatedLocations": [{**PLACE, "id": counting, "message": {"text": str}}],
    "?partialFingerprints": {"primaryLocationLineHash": filled},
    "?suppressions": [{"kind": {"inSource", "external"}, "status": {"accepted"}, "justification": filled}],
    "?fixes": [
        {"description": TEXT, "artifactChanges": [{"artifactLocation": ARTIFACT, "replacements": [REPLACEMENT]}]}
    ],
    "properties": PROPERTIES,
}
DESCRIPTOR = {
    "id": filled,
    "name": filled,
    "shortDescription": {"text": described},
    "fullDescription": {"text": described},
    "help": {"text": filled, "markdown": filled},
    "defaultConfiguration": {"level": LEVEL},
    "properties": {
        "tags": [filled],
        "precision": {"very-high", "high"},
        "problem.severity": {"error", "warning", "recommendation"},
    },
}
RUN = {
    "tool": {
        "driver": {
            "name": {"irlint"},
            "version": filled,
            "semanticVersion": filled,
            "informationUri": filled,
            "rules": [DESCRIPTOR],
        }
    },
    "automationDetails": {"id": {"irlint/"}},
    "columnKind": {"unicodeCodePoints"},
    "originalUriBaseIds": {"%SRCROOT%": {"description": TEXT}},
    "invocations": [
        {
            "executionSuccessful": bool,
            "toolExecutionNotifications": [{"level": LEVEL, "message": TEXT, "?locations": [PLACE]}],
        }
    ],
    "results": [RESULT],
}
LOG = {"$schema": filled, "version": {"2.1.0"}, "runs": [RUN]}
ISSUES = [
    {
        "description": str,
        "content": {"body": filled},
        "check_name": filled,
        "fingerprint": lambda entry: re.fullmatch("[0-9a-f]{32}", entry),
        "severity": {"info", "minor", "major", "critical", "blocker"},
        "location": {"path": filled, "lines": {"begin": counting}},
    }
]
