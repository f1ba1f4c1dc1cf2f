"""Guesses that make a node like the same node in the other blocks of a model (blocks are repeated parts such as
``layer.0`` and ``layer.1``), or like the other users of its constants."""

from __future__ import annotations

import re
from collections.abc import Iterator

from irlint.fixes.guess import Guess
from irlint.fixes.guesses import Guesses
from irlint.fixes.other_values import USUAL
from irlint.lazy_typing import Any
from irlint.model import Node
from irlint.records import replaced

#: The numbers in a name, and a number at its end, which counts the nodes of one block.
NUMBER = re.compile(r"\d+")
LAST = re.compile(r"\d+$")


def twins(node: Node, guesses: Guesses) -> list[Node]:
    """The nodes in the place of ``node`` in other blocks: their names differ from its name in one number, which is not
    the last part of the name."""
    place = _place(node.name)
    others = (each for each in guesses.of(node) if each is not node) if place[1] else ()
    return [each for each in others if _differ_once(place, _place(each.name))]


def as_in_other_blocks(node: Node, guesses: Guesses) -> Iterator[Guess]:
    """Gives a constant or an attribute the numbers that all nodes in the same place of other blocks have."""
    others = twins(node, guesses)
    call = guesses.known.calls.get(node)
    names = (call.attributes or {}) if call is not None else {}
    for what in (*range(len(node.inputs)), *names) if others else ():
        found = {guesses.had(each, what) for each in others}
        before, after = guesses.had(node, what), found.pop()
        if found or None in (before, after) or before == after:
            continue
        for guess in _changed(node, what, before, after, guesses):
            yield replaced(guess, count=len(others))


def as_other_users(node: Node, guesses: Guesses) -> Iterator[Guess]:
    """Connects the constants that another user of one of the node's constants has beside it, or the result of that
    user: QuantizeLinear and DequantizeLinear have the same scale and zero point."""
    is_constant = guesses.makers.is_constant
    constants = [value for value in node.inputs if value is not None and is_constant(value)]
    for user in dict.fromkeys(user for value in constants for user in guesses.users.get(value, ()) if user is not node):
        others = [(port, value) for port, value in enumerate(user.inputs) if value is not None and is_constant(value)]
        missing = [
            (port, value)
            for port, value in others
            if port > len(node.inputs) or value not in node.inputs[port : port + 1]
        ]
        if missing and len(user.inputs) >= len(node.inputs):
            yield Guess(tuple(guesses.connected(value, node, port) for port, value in missing), USUAL, count=1)
        if others and not missing and user.outputs[0] is not None and user.outputs[0] not in node.inputs:
            ports = [port for port, value in enumerate(node.inputs) if value is not None and not is_constant(value)]
            yield from (Guess((guesses.connected(user.outputs[0], node, port),), USUAL, count=1) for port in ports)


def _changed(node: Node, what: int | str, before: Any, after: Any, guesses: Guesses) -> Iterator[Guess]:
    """The guess that changes an attribute, or the constant that an input is."""
    if isinstance(what, str):
        yield Guess((guesses.attribute(node, what, after, before),), USUAL, about=what)
        return
    value = node.inputs[what]
    if value is not None and guesses.makers.is_constant(value):
        yield from guesses.contents.held_otherwise(node, what, value, after, USUAL)


def _place(name: str) -> tuple[str, list[str], str]:
    """A name without its numbers, the numbers, and the number at its end."""
    last = LAST.search(name)
    begin = name[: last.start()] if last is not None else name
    return NUMBER.sub("#", begin), NUMBER.findall(begin), last.group() if last is not None else ""


def _differ_once(one: tuple[str, list[str], str], other: tuple[str, list[str], str]) -> bool:
    """Whether two names differ in one number, which is not at their end."""
    return one[0] == other[0] and one[2] == other[2] and sum(a != b for a, b in zip(one[1], other[1])) == 1
