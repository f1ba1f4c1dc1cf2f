"""Finds the value that had an undefined name before all names of a graph were changed in the same way."""

from __future__ import annotations

import re

from irlint.checks.intended import (
    MARK,
    PREFIX_ENDS,
    TRIED,
    characters,
    definitions_of,
    graphs_around,
    is_accepted,
    is_marked,
    plain,
    unused_values,
)
from irlint.inference.known import Known
from irlint.model import Graph, Node, Value

#: If more names end in the last part of an undefined name, their scopes are not compared.
ENDING = 64

#: The separators of the scopes of a name without ``/``, such as ``model.conv.weight``.
SCOPES = re.compile(r"[.:]+")

#: The name of an output after its node, and the index of the output.
OUTPUT = re.compile(r"(?:_output_|:)([0-9]{1,9})$")


def renamed_value(value: Value, user: Node | None, graph: Graph, unused: list[Value], known: Known) -> Value | None:
    """The value that probably had the name of the undefined ``value`` before a rename of other names; None unless one
    value is accepted, or only one of those that nothing uses.

    The value is an output of the node after which the undefined name is called, or its name differs in the characters
    between letters and digits, in scopes, or at the end.
    """
    if known.format.ports_declare:
        return None
    around = graphs_around(graph, known)
    unused = [*dict.fromkeys((*unused, *(each for outer in around for each in unused_values(outer))))]
    for kind in (_after_nodes, _with_same_characters, _in_other_scopes, _with_other_ends):
        found = [each for outer in (graph, *around) for each in kind(value.name, outer, unused, outer is not graph)]
        accepted = [each for each in dict.fromkeys(found[:TRIED]) if is_accepted(each, value, user, graph, known)]
        chosen = accepted if len(accepted) == 1 else [each for each in accepted if each in unused]
        if accepted:
            return chosen[0] if len(chosen) == 1 else None
    return None


def _after_nodes(name: str, graph: Graph, unused: list[Value], is_outer: bool) -> list[Value]:
    """The outputs of nodes after which an exporter called ``name``, such as ``/fc/Gemm_output_0``. Their names contain
    the letters of its last part; another output belongs to a fused node."""
    end = OUTPUT.search(name)
    makers, port = ((name[: end.start()],), int(end[1])) if end is not None else ((name, f"node_{name}"), 0)
    nodes = [node for node in graph.nodes if node.name in makers and port < len(node.outputs)]
    letters = characters(plain(_parts(name)[-1]))
    outputs = [output for node in nodes if (output := node.outputs[port]) is not None]
    return [output for output in outputs if letters and letters in characters(plain(output.name))]


def _with_same_characters(name: str, graph: Graph, unused: list[Value], is_outer: bool) -> list[Value]:
    return [each for each in definitions_of(graph) if characters(each.name) == characters(name) != ""]


def _in_other_scopes(name: str, graph: Graph, unused: list[Value], is_outer: bool) -> list[Value]:
    """The values whose names differ from ``name`` in one run of scopes: ``/backbone/Conv_output_0`` for
    ``/stem/Conv_output_0`` or ``Conv_output_0``.

    No other value has the scope of ``name`` that was removed, or the value is the only unused one. A scope that was
    added is that of all values or of no other one, unless nothing uses the value. A used value of the same graph has
    another form of name.
    """
    values = {each: _parts(each.name) for each in definitions_of(graph)}
    stored = set(graph.constants).difference(graph.inputs)
    ours = _parts(name)
    ending = [each for each, parts in values.items() if parts[-1] == ours[-1] and plain(each.name) != plain(name)]
    found = []
    for each in ending if len(ending) <= ENDING and characters(plain(ours[-1])) else ():
        theirs = values[each]
        removed, added = _differing_scopes(ours, theirs), _differing_scopes(theirs, ours)
        others = [parts for other, parts in values.items() if other is not each]
        is_written = bool(removed) and any(parts[: len(removed)] == removed for parts in others)
        count = sum(parts[: len(added)] == added for parts in others)
        is_general = bool(removed) or count in (0, len(others))
        is_rewritten = is_outer or count == len(others) > 0 or each.name.startswith("/") != name.startswith("/")
        is_unused = each in unused and (unused == [each] or not is_written)
        if is_unused or (each not in stored and not is_written and is_general and is_rewritten):
            found.append(each)
    return found


def _differing_scopes(parts: list[str], others: list[str]) -> list[str]:
    """The scopes of a name up to the last one that another name lacks; [] if it lacks none."""
    start, end = _common(parts, others), _common(parts[::-1], others[::-1])
    head = parts[: max(len(parts) - end, start)]
    return head if len(head) > start else []


def _common(parts: list[str], others: list[str]) -> int:
    """The number of equal parts at the beginning."""
    return next(
        (at for at, (one, other) in enumerate(zip(parts, others)) if one != other), min(len(parts), len(others))
    )


def _with_other_ends(name: str, graph: Graph, unused: list[Value], is_outer: bool) -> list[Value]:
    """The values of an outer graph whose names differ from ``name`` by a mark. Without any, the only unused value,
    if its name or ``name`` is the beginning of the other one: ``x_renamed`` and ``x``."""
    found = [each for each in definitions_of(graph) if is_marked(each.name, name, graph)] if is_outer else []
    for each in unused if len(unused) == 1 and not found else ():
        short, long = sorted((each.name, name), key=len)
        end = long[len(short) :]
        if long.startswith(short) and end.startswith(PREFIX_ENDS) and not MARK.fullmatch(end) and not short.isdecimal():
            found.append(each)
    return found


def _parts(name: str) -> list[str]:
    """The scopes of a name and its last part."""
    stripped = name.strip("/.:")
    return stripped.split("/") if "/" in stripped else SCOPES.split(stripped)
