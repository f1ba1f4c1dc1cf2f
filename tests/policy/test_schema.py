"""The template of a configuration, its schema and its parser: all three have the same keys."""

from __future__ import annotations

import copy
import datetime
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from irlint.policy import configuration as config
from irlint.policy import template
from irlint.policy.keys import KEYS
from irlint.policy.rulebook import every_rule

SCHEMA: dict[str, Any] = json.loads((Path(config.__file__).parents[1] / "irlint.schema.json").read_text("utf-8"))


def accepted(text: str) -> bool:
    try:
        config.values(config.parsed(text, "irlint.toml"), text, "irlint.toml")
    except config.ConfigError:
        return False
    return True


def test_template_without_its_comment_marks_has_every_key() -> None:
    setting = re.compile(r'# (\[+[a-z-]+\]+|"?[\w./*-]+"? = .*)')
    lines = [found[1] for line in template.text().splitlines() if (found := setting.fullmatch(line))]
    document = config.parsed("\n".join(lines), "irlint.toml")
    assert set(document) == {key.name for key in KEYS}
    for key in KEYS:
        for entry in document[key.name] if key.parts else ():
            assert set(entry) == {part.name for part in key.parts}
    assert accepted(template.text())
    assert accepted("\n".join(lines))


def fits(value: Any, schema: dict[str, Any]) -> bool:
    """Whether a value is valid, by those words of JSON Schema that the schema uses."""
    schema = SCHEMA["definitions"][schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    kinds = {"object": dict, "array": list, "string": (str, datetime.date), "boolean": bool, "integer": int}
    if "type" in schema and not isinstance(value, kinds[schema["type"]]):
        return False
    if "minimum" in schema and (isinstance(value, bool) or value < schema["minimum"]):
        return False
    if "anyOf" in schema and not any(fits(value, each) for each in schema["anyOf"]):
        return False
    if "enum" in schema and value not in schema["enum"]:
        return False
    if "pattern" in schema and not re.search(schema["pattern"], str(value)):
        return False
    if isinstance(value, list):
        return len(value) >= schema.get("minItems", 0) and all(fits(each, schema.get("items", {})) for each in value)
    if not isinstance(value, dict):
        return True
    if any(key not in value for key in schema.get("required", ())):
        return False
    known, others = schema.get("properties", {}), schema.get("additionalProperties", True)
    if others is False and not value.keys() <= known.keys():
        return False
    return all(fits(each, known.get(key, others if isinstance(others, dict) else {})) for key, each in value.items())


#: A sound value of every key, and values that no key of its kind may have.
SOUND: dict[str, Any] = {
    "select": ["IRL2", "IRL104", "broadcast-mismatch"],
    "ignore": ["IRL201"],
    "extend-select": [],
    "severity": {"IRL201": "note", "nodes-not-sorted": "error"},
    "per-file-ignores": {"models/*": ["IRL1"], "*.xml": []},
    "exclude": ["a/**", "b"],
    "fail-on": "warning",
    "output-format": "junit",
    "lfs-pointers": "skip",
    "baseline": "a.json",
    "respect-gitignore": False,
    "models": [
        {"file": "a*", "shapes": {"x": "N, 3, ?", "y": "", "z": "1"}},
        {"file": "b", "max-bytes": 3, "max-macs": "1.5G"},
    ],
    "suppress": [
        {"file": "a.onnx", "rule": "IRL2*", "node": "n*", "reason": "known", "expires": datetime.date(2030, 1, 31)},
        {"node": "n", "reason": "known", "expires": "2030-01-31"},
    ],
}
WRONG = (
    3,
    True,
    1.5,
    "",
    " ",
    "no value",
    [3],
    [""],
    {"no-key": 1},
    {"IRL201": 3},
    [[]],
    {"x": []},
    [{}],
    [{"file": "a"}],
)


def variants(value: Any) -> Iterator[Any]:
    """A document with one part of it changed: an entry taken away, one too many, or another value."""
    if isinstance(value, dict):
        for key in value:
            yield {other: each for other, each in value.items() if other != key}
            yield from ({**value, key: each} for each in variants(value[key]))
        yield {**value, "no-key": "x"}
    if isinstance(value, list):
        for at in range(len(value)):
            yield value[:at] + value[at + 1 :]
            yield from (value[:at] + [each] + value[at + 1 :] for each in variants(value[at]))
    yield from copy.deepcopy(WRONG)


def toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {toml(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list):
        return f"[{', '.join(map(toml, value))}]"
    return json.dumps(value) if isinstance(value, (str, bool)) else str(value)


def document(value: dict[str, Any]) -> str:
    return "\n".join(f"{key} = {toml(each)}" for key, each in value.items())


#: Names that stand for a rule: the schema leaves these to the parser.
NO_RULE = re.compile(r'"(no value|no-key)"')


def test_schema_and_parser_agree() -> None:
    names = {text for rule in every_rule() for text in (rule.code, rule.name)}
    assert {"IRL201", "nodes-not-sorted"} <= names
    assert fits(SOUND, SCHEMA)
    assert accepted(document(SOUND))
    decided = {True: 0, False: 0}
    for each in (each for each in variants(SOUND) if isinstance(each, dict)):
        valid = fits(each, SCHEMA)
        if valid and NO_RULE.search(document(each)):
            continue
        assert accepted(document(each)) == valid, document(each)
        decided[valid] += 1
    assert decided[True] > 20
    assert decided[False] > 200
