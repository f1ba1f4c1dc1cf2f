"""Every line of the cases: the engines say of its model what irlint answers, or what the line says of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib.metadata import version

import pytest
from cases.models import document
from cases.notation import FOLDER, Case, cases, files, groups
from oracles.agreement import ENGINES, PACKAGES, differing, noted
from oracles.worker import answers

#: OpenVINO takes ten times as long as the others.
PARTS = [("inference", 0, 1), ("onnxruntime", 0, 1), *(("openvino", part, 3) for part in range(3))]


@pytest.mark.oracle
@pytest.mark.parametrize(("engine", "part", "parts"), PARTS, ids=[f"{name}-{part}" for name, part, _ in PARTS])
def test_engine(engine: str, part: int, parts: int, request: pytest.FixtureRequest) -> None:
    chosen = _chosen(request.config.option.keyword, request.node.name)
    asked = {place: case for place, case in _every(chosen) if engine in ENGINES[case.model.format]}
    mine = dict(list(asked.items())[part::parts])
    wrong = [
        text for place, outcome in _outcomes(engine, mine) if (text := _difference(engine, place, mine[place], outcome))
    ]
    assert not wrong, "\n" + "\n".join(wrong)


def _named(group: str) -> str:
    """What a group of cases is called, without engines: their names in ``-k`` are those of the tests."""
    return re.sub("|".join((*(each for names in ENGINES.values() for each in names), *ENGINES)), "", group.lower())


#: ``-k`` takes a test by its cases too, by their operators, the words of the comment above them, or the document that
#: is changed: an engine is asked about those that fit there, about every case if none is named.
GROUPS = {group: _named(group) for path in files() for group, _ in groups(path)}
test_engine.__dict__.update(dict.fromkeys(GROUPS.values()))


def _chosen(keyword: str, test: str) -> set[str]:
    """The groups of cases that ``-k`` takes for a test, every one where it takes none."""
    taken = {group for group, name in GROUPS.items() if keyword and _fits(keyword.lower(), f"{test} {name}")}
    return taken or set(GROUPS)


def _fits(keyword: str, text: str) -> bool:
    """Whether words that are in the text or not make ``-k`` true."""
    evaluated = re.sub(r"[^\s()]+", lambda w: w[0] if w[0] in ("and", "or", "not") else str(w[0] in text), keyword)
    return bool(eval(evaluated))


@pytest.mark.oracle
def test_what_is_noted_of_earlier_releases() -> None:
    for outcome, release, expected in [
        ({"onnxruntime<1.32": "fails"}, "1.31.1", "fails"),
        ({"onnxruntime<1.32": "fails"}, "1.32.0", ""),
        ({"onnxruntime": "refuses", "onnxruntime<1.32": "agrees"}, "1.31.1", ""),
        ({"onnxruntime": "refuses", "onnxruntime<1.32": "agrees"}, "1.100", "refuses"),
        ({"openvino<2027.0": "refuses"}, "1.31.1", ""),
    ]:
        assert noted("onnxruntime", release, outcome) == expected


@pytest.mark.oracle
def test_k_names_operators() -> None:
    chosen = _chosen("openvino and (concat or Split)", "test_engine[openvino-0]")
    assert {"onnx Concat", "openvino Split"} <= chosen < set(GROUPS)
    assert _chosen("openvino", "test_engine[openvino-0]") == _chosen("", "test_engine[openvino-0]") == set(GROUPS)


@pytest.mark.oracle
def test_k_takes_words_of_comments_and_documents() -> None:
    assert _chosen("vocabulary and DictVectorizer", "test_engine[onnxruntime-0]") == {
        "The vocabulary that DictVectorizer reads is that of the type of the keys."
    }
    assert not any("openvino" in name or "onnx" in name for name in GROUPS.values())
    assert _chosen("sound", "test_engine[openvino-0]") >= {"openvino sound"}


def _every(chosen: set[str]) -> Iterator[tuple[str, Case]]:
    for path in files():
        for group, numbered in groups(path):
            for number, line in numbered if group in chosen else ():
                for place, case in enumerate(cases(line)):
                    yield f"{path.relative_to(FOLDER).as_posix()}:{number}.{place}", case


def _outcomes(engine: str, asked: dict[str, Case]) -> list[tuple[str, str]]:
    """What an engine says of each; OpenVINO compiles what it reads although irlint finds an error in it."""
    outcome = dict(zip(asked, answers(engine, [document(case.model) for case in asked.values()]), strict=True))
    if engine == "openvino":
        read = [place for place, text in outcome.items() if differing(engine, asked[place].expected, text) == "takes"]
        outcome |= zip(read, answers("compiled", [document(asked[place].model) for place in read]), strict=True)
    return list(outcome.items())


@cache
def _release(engine: str) -> str:
    return version(PACKAGES.get(engine, engine))


def _difference(engine: str, place: str, case: Case, outcome: str) -> str:
    found, expected = differing(engine, case.expected, outcome), noted(engine, _release(engine), case.engines)
    if found == expected or expected == "varies":
        return ""
    return (
        f"{place}: {case.model} -> {case.expected}\n    expected of {engine}: {expected or 'the same'}\n    it says: "
        f"{outcome}"
    )
