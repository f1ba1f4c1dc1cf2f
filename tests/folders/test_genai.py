"""What irlint finds in folders of ONNX Runtime GenAI, case by case."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from folders.genai_cases import CASES, EXPORTED, Case, decoder, exported, written

import irlint
from irlint.folders.json_text import Document, parsed


@pytest.mark.parametrize("name", CASES)
def test_case(name: str, tmp_path: Path) -> None:
    found = irlint.check(written(tmp_path, CASES[name])).findings
    assert [each.rule.code for each in found] == CASES[name].codes.split(), [each.message for each in found]
    assert all(each.line for each in found)


@pytest.mark.parametrize("name", EXPORTED)
def test_exported(name: str, tmp_path: Path) -> None:
    found = irlint.check(exported(tmp_path, name)).findings
    assert [each.rule.code for each in found] == EXPORTED[name][0].split(), [each.message for each in found]


def test_a_finding_shows_both_places(tmp_path: Path) -> None:
    (found,) = irlint.check(exported(tmp_path, "vocabulary")).findings
    assert (found.line, found.value) == (31, "logits")
    assert [(each.node, each.message) for each in found.related] == [("logits", "float32[?, ?, 288] in model.onnx")]


def test_caches_of_several_sizes_are_listed(tmp_path: Path) -> None:
    def model() -> onnx.ModelProto:
        made = decoder()
        for cache in made.graph.input[4:6]:
            cache.type.tensor_type.shape.dim[3].dim_value = 8
        return made

    case = Case(change=lambda config: config["model"]["decoder"].update(head_size=16), model=model)
    (found,) = irlint.check(written(tmp_path, case)).findings
    assert found.message == "head_size is 16, and the caches of the model have 4 and 8"
    assert found.help == "write one of these sizes"


def test_the_limit_of_digits_is_stated(tmp_path: Path) -> None:
    path = tmp_path / "genai_config.json"
    path.write_text('{"model": {"type": "llama", "vocab_size": ' + "9" * 4301 + "}}")
    (found,) = irlint.check(path).findings
    assert found.message == "it has an integer of more than 4300 digits"


@pytest.mark.parametrize("text", ['{"model": {"type": "llama",}}', "[]", "[" * 100_000, "", '{"a": '])
def test_a_text_that_is_no_json_object(text: str, tmp_path: Path) -> None:
    path = tmp_path / "genai_config.json"
    path.write_text(text)
    assert [each.rule.code for each in irlint.check(path).findings] == ["IRL620"]


def test_another_configuration_is_skipped(tmp_path: Path) -> None:
    path = tmp_path / "genai_config.json"
    path.write_text("{}")
    assert irlint.check(path).files[0].status == "skipped"


def test_places_of_values() -> None:
    document = parsed('{"a": [1,\n {"b:": "x]"}], "c": {}, "d": null}')
    assert isinstance(document, Document)
    places = {path: (span.line, span.column) for path, span in document.spans.items()}
    assert places == {
        (): (1, 1),
        ("a",): (1, 7),
        ("a", 0): (1, 8),
        ("a", 1): (2, 2),
        ("a", 1, "b:"): (2, 9),
        ("c",): (2, 22),
        ("d",): (2, 31),
    }
