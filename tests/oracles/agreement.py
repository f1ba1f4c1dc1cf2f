"""Whether an engine says what irlint answers to a case, and what a line has to say of it where it does not."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

#: The engines that are asked about the models of a format.
ENGINES = {"openvino": ("openvino",), "onnx": ("inference", "onnxruntime")}

#: The package that an engine of another name is in.
PACKAGES = {"inference": "onnx"}


def differing(engine: str, answer: str, engine_answer: str) -> str:
    """What an engine says in short where that is not irlint's answer: ``takes``, ``refuses``, ``fails``, ``crashes`` or
    types.

    ``inference`` knows less: that it refuses nothing, or leaves sizes open, is no other answer. What it is to run a
    model on zeros is all that ``onnxruntime`` knows: it may have a size that irlint leaves open, and no kernel.
    """
    verdict = engine_answer.split(" ", 1)[0]
    if verdict == "lacks":
        return ""
    refused = verdict in ("refuses", "fails", "crashes")
    if any(word.startswith("IRL") for word in answer.split()):
        return "" if refused or engine == "inference" else "takes"
    if refused:
        return verdict
    ours, theirs = _types(answer), engine_answer.split()
    agree = {"openvino": _equal, "inference": _as_far_as_known, "onnxruntime": _possible}[engine]
    if (
        not ours
        or answer == "sound"
        or (len(ours) == len(theirs) and all(_agree(*pair, agree) for pair in zip(ours, theirs)))
    ):
        return ""
    return " ".join(theirs)


def noted(engine: str, release: str, engines: Mapping[str, str]) -> str:
    """What a case says of an engine of this release that does not agree; "" where it does."""
    for name, text in engines.items():
        limited, _, limit = name.partition("<")
        if limited == engine and limit and _numbers(release) < _numbers(limit):
            return text.removeprefix("agrees")
    return engines.get(engine, "").removeprefix("agrees")


def _numbers(release: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", release.split("-")[0])]


def _types(answer: str) -> list[str]:
    """The types of an answer without contents and codes of warnings."""
    without = re.sub(r'\{(?:"(?:\\.|[^"\\])*"|[^}])*\}', "", answer)
    return [word for word in without.split() if not word.startswith("(")]


def _agree(our: str, their: str, agree: Callable[[str, str], bool]) -> bool:
    """Whether two types are one, each size by ``agree``."""
    left, right = (re.fullmatch(r"([^\[(]*)\[(.*)\]", text) for text in (our, their))
    if left is None or right is None:
        return their == "?" or our == their
    if left[1] != right[1] and right[1] != "?":
        return False
    if "..." in (left[2], right[2]):
        return left[2] == right[2] or agree(*("?" if text == "..." else "1" for text in (left[2], right[2])))
    ours, theirs = left[2].split(","), right[2].split(",")
    return len(ours) == len(theirs) and all(map(agree, ours, theirs))


def _equal(our: str, their: str) -> bool:
    """A formula of symbols apart, of which OpenVINO has none."""
    return our == their or bool(re.search("[A-Za-z]", our))


def _as_far_as_known(our: str, their: str) -> bool:
    return their == "?" or _equal(our, their)


def _possible(our: str, their: str) -> bool:
    low, dots, high = our.partition("..")
    if dots:
        return int(low) <= int(their) and (not high or int(their) <= int(high))
    return our == "?" or _equal(our, their)
