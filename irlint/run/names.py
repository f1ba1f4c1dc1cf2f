"""Resolves a name that a user gives to a value of a model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from irlint.model import Graph, Model, Node, Value
from irlint.model.order import graphs, producers
from irlint.records import record

#: At most this many names are proposed.
PROPOSED = 5

#: The characters that a shell interprets.
SHELL_CHARACTERS = frozenset(" \t\n\"'`$\\;&|<>()*?[]{}!#~^,")

#: The separators between the parts of a name.
SEPARATORS = "/.:"


class NotOneValue(ValueError):
    """A name matches no value, or several values."""

    def __init__(self, message: str, helps: Sequence[str]) -> None:
        super().__init__(message)
        #: Lines with the names that may have been intended.
        self.helps = tuple(helps)


@record
class Resolved:
    """A value and its graph."""

    graph: Graph
    value: Value
    #: The node that computes the value, or None. If the name denotes a node without outputs, this node.
    node: Node | None = None

    @property
    def name(self) -> str:
        """The name of the value, such as ``If_0/then_branch/y``, with the path of its graph."""
        return _qualified(self.value.name, self)


def resolved(name: str, model: Model) -> Resolved:
    """The value that a name denotes. The name of a node denotes its first output.

    The name is compared with these, and the first kind with a match counts:

    * the name of a value in the main graph,
    * the name or id of a node, or the name of a port, in the main graph,
    * one of these names with the path of its graph before it,
    * the name of a value, then of a node or port, in any graph,
    * the end of one of these names after ``/``, ``.`` or ``:``, then any end of one,
    * the operator of a node.

    Raises NotOneValue if nothing matches, or if several values match.
    """
    values, nodes, qualified = _values_by_name(model), _values_by_node(model), names_of(model)

    def is_name(text: str, each: Resolved) -> bool:
        return text == name

    def is_name_in_main_graph(text: str, each: Resolved) -> bool:
        return text == name and not each.graph.path

    def ends_in_part(text: str, each: Resolved) -> bool:
        return text.endswith(name) and text[-len(name) - 1] in SEPARATORS

    def ends(text: str, each: Resolved) -> bool:
        return text.endswith(name)

    def is_operator(text: str, each: Resolved) -> bool:
        return each.node is not None and each.node.op.lower() == name.lower()

    tiers = (
        (values, is_name_in_main_graph),
        (nodes, is_name_in_main_graph),
        (qualified, is_name),
        (values, is_name),
        (nodes, is_name),
        (qualified, ends_in_part),
        (qualified, ends),
        (nodes, is_operator),
    )
    for named, fits in tiers if name else ():
        found = list({each.value: each for text, each in named if fits(text, each)}.values())
        if len(found) == 1:
            return found[0]
        if found:
            raise NotOneValue(f"{name!r} matches {len(found)} values", _listed(found))
    raise NotOneValue(f"no value or node has the name {name!r}", proposals(name, [text for text, _ in qualified]))


def names_of(model: Model) -> list[tuple[str, Resolved]]:
    """(name, what it denotes) for each value, node and port. A name includes the path of its graph."""
    return [(_qualified(text, each), each) for text, each in (*_values_by_name(model), *_values_by_node(model))]


def completions(start: str, model: Model) -> list[str]:
    """The names in the main graph that begin with ``start`` and need no quotes in a shell, sorted."""
    found = {text for text, each in names_of(model) if not each.graph.path and text.startswith(start)}
    return sorted(text for text in found if text.isprintable() and SHELL_CHARACTERS.isdisjoint(text))


def _values_by_name(model: Model) -> list[tuple[str, Resolved]]:
    found: list[tuple[str, Resolved]] = []
    for graph in graphs(model):
        makers = producers(graph)
        for value in dict.fromkeys((*graph.inputs, *graph.constants, *makers)):
            found.append((value.name, Resolved(graph, value, makers.get(value))))
    return found


def _values_by_node(model: Model) -> list[tuple[str, Resolved]]:
    """(name, what it denotes) for each name and id of a node, and each name of an output port.

    A node denotes its first output or, without outputs, its first input.
    """
    found: list[tuple[str, Resolved]] = []
    for graph in graphs(model):
        for node in graph.nodes:
            first = next((value for value in (*node.outputs, *node.inputs) if value is not None), None)
            if first is not None:
                found += [(text, Resolved(graph, first, node)) for text in (node.label, node.id) if text]
            for value, port in zip(node.outputs, node.output_ports):
                if value is not None:
                    found += [(text, Resolved(graph, value, node)) for text in port.names]
    return found


def _listed(found: Sequence[Resolved]) -> list[str]:
    """The lines of a help: the first PROPOSED values, and the number of further ones."""
    shown = [_described(each) for each in found[:PROPOSED]]
    return [*shown, f"and {len(found) - PROPOSED} more"] if len(found) > PROPOSED else shown


def _described(each: Resolved) -> str:
    """A text such as ```If_0/then_branch/y`, of Add "name"``."""
    if each.node is None:
        return f"`{each.name}`"
    label = f' "{each.node.name}"' if each.node.name and each.node.name != each.value.name else ""
    return f"`{each.name}`, of {each.node.op}{label}"


def _qualified(text: str, each: Resolved) -> str:
    return f"{each.graph.path}/{text}" if each.graph.path else text


def proposals(name: str, named: Iterable[str]) -> list[str]:
    """A help with the names that contain ``name`` or resemble it or, without any, with the command that lists names."""
    names = list(dict.fromkeys(named))
    close = list(dict.fromkeys((*_containing(name, names), *_similar(name, names))))[:PROPOSED]
    return (
        [f"help: did you mean {', '.join(f'`{each}`' for each in close)}?"]
        if close
        else ["help: `irlint shapes` lists all values"]
    )


def _containing(name: str, names: Iterable[str]) -> list[str]:
    lowered = name.lower()
    return [each for each in names if lowered and lowered in each.lower()][:PROPOSED]


def _similar(name: str, names: Sequence[str]) -> Iterator[str]:
    from difflib import get_close_matches

    yield from get_close_matches(name, names, n=PROPOSED)
