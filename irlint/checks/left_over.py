"""Finds layers of an IR on which no Result depends, and bytes after the last constant in its weights file."""

from __future__ import annotations

from irlint.findings.faults import Rule, Severity
from irlint.findings.wording import counted, listed
from irlint.inference.known import Known
from irlint.model import Constant, Graph, Node, Problem
from irlint.model.order import graphs, live, used_values

#: The maximum number of unused layers in a message.
SHOWN = 3

#: The maximum number of missing ids in a help. Ids of more digits are ignored.
MOST_MISSING, DIGITS = 2, 9

WEIGHTS_LEFT_OVER = Rule(
    "IRL720",
    "weights-left-over",
    Severity.WARNING,
    "The .bin file of an IR is longer than its constants need.",
    why=(
        "A converter writes the two files of an IR together, but neither file identifies the other. A .bin file with "
        "bytes after the last constant of the .xml probably belongs to another model or version. OpenVINO loads it "
        "and uses wrong weights."
    ),
    fix="Copy the .xml and the .bin again, both from the same conversion.",
)


def problems(known: Known) -> list[Problem]:
    """The note about layers on which no Result depends, and the warning about bytes after the last constant."""
    return [*_unused_layers(known), *_bytes_after_constants(known)]


def _bytes_after_constants(known: Known) -> list[Problem]:
    """The warning about bytes after the last constant; [] if the end of a constant is unknown."""
    constants = [each for graph in graphs(known.model) for each in graph.constants.values()]
    ends = [_end(each) for each in constants]
    last = max((end for end in ends if end is not None), default=0)
    if None in ends or not last:
        return []
    constant = constants[ends.index(last)]
    stored = constant.stored
    assert stored is not None
    size = stored.offset + (stored.available or 0)
    if size <= last:
        return []
    fault = WEIGHTS_LEFT_OVER.fault(
        f"{stored.file} has {counted(size, 'byte')}, and the constants of the model end at byte {last}",
        help=f"copy {stored.file} again together with the model",
    )
    return [Problem(fault, place=constant.place)]


def _end(constant: Constant) -> int | None:
    """The end of a constant's bytes in its file; None if it is unknown."""
    stored = constant.stored
    if stored is None or stored.size is None or stored.available is None or stored.reason:
        return None
    return stored.offset + stored.size


def _unused_layers(known: Known) -> list[Problem]:
    """One problem for all layers on which no Result depends; [] if one of these layers has no outputs."""
    graph = known.model.graph
    if graph is None:
        return []
    alive, needed = live(graph, known.format.keeps_alive), used_values(graph)
    dead = [node for node in graph.nodes if node not in alive]
    ends = [node for node in dead if needed.isdisjoint(node.outputs)]
    if not ends or not all(node.outputs for node in dead):
        return []
    from irlint.checks.hygiene import UNUSED_NODE

    more = [counted(len(ends) - SHOWN, "more layer")] if len(ends) > SHOWN else []
    named = listed([*map(_layer_text, ends[:SHOWN]), *more])
    subject = counted(len(dead), "layer")
    text = f"{subject} {'leads' if len(dead) == 1 else 'lead'} to no result; nothing uses {named}"
    return [Problem(UNUSED_NODE.fault(text, help=_help_for_unused(ends, graph)), node=ends[0], place=ends[0].place)]


def _help_for_unused(ends: list[Node], graph: Graph) -> str:
    """The help: restore layers whose ids are missing, or connect or remove the unused layers."""
    ids = {int(node.id) for node in graph.nodes if node.id and node.id.isdecimal() and len(node.id) <= DIGITS}
    most = max(ids, default=0)
    missing = [each for each in range(most) if each not in ids] if most < len(ids) + MOST_MISSING else []
    these = listed([f"layer {node.id}" for node in ends[:SHOWN]])
    if 0 < len(missing) <= MOST_MISSING:
        lost = listed(list(map(str, missing)))
        return f"restore layer {lost}, which is missing and probably used {these}; or remove these layers"
    return f"connect {these} to the layer that is to use {'it' if len(ends) == 1 else 'them'}, or remove these layers"


def _layer_text(node: Node) -> str:
    return f'{node.op} layer {node.id} "{node.name}"'
