"""Traits of nodes as the conditions that tables state."""

from __future__ import annotations

from irlint.targets.conditions import CONDITIONS

#: The element types of a kind.
KINDS = {
    "int": [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)],
    "float": ["float16", "float32", "float64", "bfloat16"],
}

#: The conditions of the traits of an input, by their first letter.
_OF_INPUTS = {
    "t": "type",
    "k": "type",
    "r": "rank",
    "n": "no-input",
    "o": "not-constant",
    "c": "constant",
    "u": "unranked",
    "m": "computed",
    "z": "zero-size",
    "y": "output",
}


def condition(trait: str) -> str | None:
    """A trait as a condition; None where there is none for it."""
    head, _, value = trait.partition("=")
    if trait[0] in "<>":
        return f"opset-below {trait[1:]}" if trait[0] == "<" else f"opset-from {int(trait[1:]) + 1}"
    if trait[0] == "!" and trait[1] in "zmu" and trait[2:].isdigit():
        return f"!{condition(trait[1:])}"
    if trait[0] == "!":
        return f"input {trait[2:]}" if trait[1] == "n" and trait[2:].isdigit() else f"no-attribute {trait[1:]}"
    if trait[0] == "d" and trait[1:2].isdigit():
        return f"types-differ {' '.join(trait[1:].split(','))}"
    if trait[0] in _OF_INPUTS and head[1:].isdigit():
        values = ",".join(KINDS[value]) if trait[0] == "k" else value
        stated = f"{_OF_INPUTS[trait[0]]} {head[1:]} {values}".rstrip()
        return stated if stated.split()[0] in CONDITIONS else None
    if trait.startswith("e:"):
        return f"fault {trait[2:]}"
    if trait == "any":
        return trait
    if not head.isidentifier():
        return None
    return f"attribute-is {head} {value}" if value else f"attribute {head}"
