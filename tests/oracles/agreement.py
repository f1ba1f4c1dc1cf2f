"""Whether an engine says what irlint answers to a case, and what a line has to say of it where it does not."""

from __future__ import annotations

import re

#: The engines that are asked about the models of a format.
ENGINES = {"openvino": ("openvino",), "onnx": ("inference", "onnxruntime")}


def differing(answer: str, said: str) -> str:
    """What the engine says in short where that is not irlint's answer: ``takes``, ``refuses``, ``fails``, ``crashes`` or types."""
    verdict = said.split(" ", 1)[0]
    if verdict == "lacks":
        return ""
    refused = verdict in ("refuses", "fails", "crashes")
    if any(word.startswith("IRL") for word in answer.split()):
        return "" if refused else "takes"
    if refused:
        return verdict
    ours, theirs = _types(answer), said.split()
    if answer == "sound" or (len(ours) == len(theirs) and all(map(_agree, ours, theirs))):
        return ""
    return " ".join(theirs)


def _types(answer: str) -> list[str]:
    """The types of an answer without contents and codes of warnings."""
    without = re.sub(r'\{(?:"(?:\\.|[^"\\])*"|[^}])*\}', "", answer)
    return [word for word in without.split() if not word.startswith("(")]


def _agree(our: str, their: str) -> bool:
    """Whether one type is the other, but for symbols: of these an engine knows a number or nothing."""
    left, right = (re.fullmatch(r"([^\[]*)\[(.*)\]", text) for text in (our, their))
    if left is None or right is None:
        return their == "?" or our == their
    if left[1] != right[1] and right[1] != "?":
        return False
    if right[2] == "..." or left[2] == right[2]:
        return right[2] != "..." or left[2] == "..."
    ours, theirs = left[2].split(","), right[2].split(",")
    return len(ours) == len(theirs) and all(a == b or re.search("[A-Za-z]", a) for a, b in zip(ours, theirs))
