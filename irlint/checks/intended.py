"""What is meant by a name that nothing defines: a value that it is spelled like, or one that is missing."""

from __future__ import annotations

from collections.abc import Iterator

from irlint.findings import wording
from irlint.inference.known import Known
from irlint.inference.questions import asked_again
from irlint.model import Graph, Node, Value
from irlint.model.order import used_values
from irlint.model.tensor import Tensor, Type, type_text

#: At most this many values that nothing uses are named.
SHOWN = 3

#: Of so many it is tried which of them fit.
TRIED = 16

#: How alike names are of which one may stand for the other, and those of values of one kind.
ALIKE, AKIN = 0.8, 0.6

#: A name that is written wrong differs from the right one in at most this many letters.
SLIP = 2

#: Which nodes pass their input on, as an Identity does that renames a weight.
PROBE = Tensor("float32", (3, 5))


def spare_values(graph: Graph) -> list[Value]:
    """What the nodes of a graph make, and its inputs and initializers, that nothing uses."""
    needed = used_values(graph)
    return [value for value in dict.fromkeys(_definitions(graph)) if value.name and value not in needed]


def close_value(value: Value, user: Node | None, graph: Graph, spare: list[Value], known: Known) -> str:
    """Another name that may be intended, first that of the only input that nothing uses, then another one that nothing
    uses; "" where none is. One that differs in digits only
    is of another block, and one that others use is meant where it is written almost alike, or ends alike; an
    initializer never is, as what the others use is still there."""
    wanted = plain(value.name)
    stored = set(graph.constants).difference(graph.inputs)
    fed = [each for each in spare if each in graph.inputs and each not in graph.constants]
    if len(fed) == len(graph.undefined) == 1 and _holds(fed[0].name, value.name) and _fits(fed[0], value, user, known):
        return fed[0].name
    for values, others_use_it in ((spare, False), (_definitions(graph), True)):
        names = {
            each.name: each
            for each in values
            if plain(each.name) != wanted
            and not (others_use_it and (each in stored or not _slipped(value.name, each.name)))
        }
        close = wording.closest(value.name, names, ALIKE)
        if close is not None and _fits(names[close], value, user, known):
            return close
    return ""


def help_for(value: Value, user: Node | None, graph: Graph, spare: list[Value], known: Known, *, searched: bool) -> str:
    """The help for a name that stands for no other; whether it is one of an initializer is ``searched`` for."""
    name = value.name
    missing, otherwise = f"define {name!r}", ", or connect another value"
    if searched and _is_stored(name, graph):
        fitting = _type_of_missing(value, graph, known)
        missing, otherwise = f"the initializer {name!r} is missing: restore it{fitting}, or export the model again", ""
        slips = _letters_lost(value, user, graph, known)
        if slips:
            alike = wording.first_few([f"`{each}`" for each in slips], SHOWN)
            return f"restore the initializer {name!r}, or connect {alike}, which fits, if the name is misspelled"
    if len(spare) <= TRIED:
        spare = [each for each in spare if _fits(each, value, user, known)]
    if not spare:
        return missing + otherwise
    names = wording.first_few([repr(each.name) for each in spare], SHOWN)
    return f"{missing}, or connect an unused value: {names}"


def _letters_lost(value: Value, user: Node | None, graph: Graph, known: Known) -> list[str]:
    """The names that have a few letters more or fewer than one that nothing defines, of values that fit in its place;
    none where they are too many to name."""
    close = [each for each in _definitions(graph) if 0 < abs(len(each.name) - len(value.name)) <= SLIP]
    close = [each for each in close if _slipped(value.name, each.name)]
    fitting = [each.name for each in close if _fits(each, value, user, known)] if len(close) <= TRIED else []
    return fitting if len(fitting) <= SHOWN else []


def _is_stored(name: str, graph: Graph) -> bool:
    """Whether the name is most like that of an initializer, or begins like one (``layer.norm.weight`` beside
    ``layer.fc.bias``)."""
    module, dot, _ = name.partition(".")
    if dot and any(each.name.startswith(module + dot) for each in graph.constants if each not in graph.inputs):
        return True
    like = wording.closest(name, (each.name for each in _definitions(graph)), AKIN)
    return like is not None and any(each.name == like for each in graph.constants if each not in graph.inputs)


def _holds(one: str, other: str) -> bool:
    """Whether the letters and digits of one of two names are part of the other's."""
    short, long = sorted(("".join(filter(str.isalnum, each)).casefold() for each in (one, other)), key=len)
    return bool(short) and short in long


def _slipped(name: str, other: str) -> bool:
    """Whether a name is the other one with a few letters that are wrong, or one is the end of the other's path."""
    start = 0
    while start < min(len(name), len(other)) and name[start] == other[start]:
        start += 1
    end = 0
    while end < min(len(name), len(other)) - start and name[-1 - end] == other[-1 - end]:
        end += 1
    if max(len(name), len(other)) - start - end <= SLIP:
        return True
    return other.endswith(name.lstrip("/")) or name.endswith(other.lstrip("/"))


def _fits(candidate: Value, value: Value, user: Node | None, known: Known) -> bool:
    """Whether nothing speaks against the candidate in the place of the value at its user."""
    if user is None or value not in user.inputs:
        return True
    answer = asked_again(known, user, known.types_of(user.inputs, {value: known.types.get(candidate)}))
    return answer is None or answer.outputs is not None or not answer.faults


def _type_of_missing(value: Value, graph: Graph, known: Known) -> str:
    """The type of a missing initializer: that of similar ones in other blocks, else the type that all its users
    take."""
    users = _users(value, graph, known)
    similar = [each for each in graph.constants if plain(each.name) == plain(value.name)]
    types = {_without_contents(known.types.get(each)) for each in similar}
    for one in types if len(types) == 1 else ():
        if one is not None and _is_taken(one, users, known):
            return f" ({type_text(one)}, as {similar[0].name!r} is)"
    row = _row_of_users(users, known)
    return f" ({type_text(row)} fits where it is used)" if row is not None else ""


def _row_of_users(users: list[tuple[Node, Value]], known: Known) -> Tensor | None:
    """The only type of a last axis among the other inputs of the users of a value, where they take it, and a scalar of
    its element type, too."""
    others = (each for user, used in users for each in user.inputs if each is not None and each is not used)
    rows = {
        Tensor(each.dtype, each.shape[-1:])
        for other in others
        if isinstance(each := known.types.get(other), Tensor) and each.shape and isinstance(each.shape[-1], int)
    }
    for one in rows if len(rows) == 1 else ():
        if _is_taken(one, users, known) and _is_taken(Tensor(one.dtype, ()), users, known):
            return one
    return None


def _without_contents(known: Type | None) -> Tensor | None:
    return Tensor(known.dtype, known.shape) if isinstance(known, Tensor) else None


def _users(value: Value, graph: Graph, known: Known) -> list[tuple[Node, Value]]:
    """The nodes that use a value, each with what it uses: the value, or what a node hands on of it."""
    found: list[tuple[Node, Value]] = []
    same = {value}
    for node in graph.nodes:
        for each in dict.fromkeys(node.inputs):
            if each is None or each not in same:
                continue
            answer = asked_again(known, node, [PROBE]) if len(node.inputs) == 1 else None
            if answer is not None and answer.outputs == (PROBE,):
                same.update(given for given in node.outputs if given is not None)
            else:
                found.append((node, each))
    return found


def _is_taken(known_type: Tensor, users: list[tuple[Node, Value]], known: Known) -> bool:
    """Whether all nodes that use a value take a type for it."""
    for user, used in users:
        answer = asked_again(known, user, known.types_of(user.inputs, {used: known_type}))
        if answer is None or answer.outputs is None or answer.faults:
            return False
    return bool(users)


def plain(name: str) -> str:
    """A name without what counts repeated parts."""
    return name.translate(_DIGITS)


_DIGITS = dict.fromkeys(map(ord, "0123456789"))


def _definitions(graph: Graph) -> Iterator[Value]:
    yield from graph.inputs
    inputs = frozenset(graph.inputs)
    yield from (value for value in graph.constants if value not in inputs)
    for node in graph.nodes:
        yield from (value for value in node.outputs if value is not None)
