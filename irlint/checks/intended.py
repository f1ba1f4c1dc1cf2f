"""Suggests the value to which an undefined name was probably intended to refer."""

from __future__ import annotations

import re
from collections.abc import Iterator

from irlint.findings import wording
from irlint.inference.contradictions import differ
from irlint.inference.known import Known
from irlint.inference.questions import asked_again
from irlint.model import Graph, Node, Value
from irlint.model.order import graphs, used_values
from irlint.model.tensor import Tensor, Type, disagree, type_text

#: The maximum number of values in a help.
SHOWN = 3

#: At most this many values are tested as an input of the node that uses an undefined name.
TRIED = 16

#: At most this many nodes that depend on an undefined name are asked whether they accept another value. They are among
#: the next NEAR nodes.
ASKED, NEAR = 16, 256

#: The minimum similarity (0 to 1) of a misspelled name to the right one.
ALIKE = 0.8

#: The minimum similarity (0 to 1) of two names of the same kind of value, such as two initializers.
OF_ONE_KIND = 0.6

#: The maximum number of letters of a slip. A slip is a small misspelling (see ``_is_slip``).
SLIP = 2

#: A mark, which is a suffix that programs append to a name: ``_1``, ``.1``, ``:0`` or ``_``.
MARK = re.compile(r"[._:]\d*$")

NUMBERS = re.compile(r"\d+")

#: The separators of the words of a name, and the characters at which a prefix may end.
WORDS, PREFIX_ENDS = re.compile(r"[^0-9A-Za-z]+"), (".", "/", ":", "_")

#: The input type with which a node is tested. A node that returns it unchanged copies its input, as Identity does.
PROBE = Tensor("float32", (3, 5))


def unused_values(graph: Graph) -> list[Value]:
    """The named inputs, initializers and outputs of nodes of a graph that nothing uses."""
    needed = used_values(graph)
    return [value for value in dict.fromkeys(definitions_of(graph)) if value.name and value not in needed]


def unused_outside(graph: Graph, known: Known) -> list[Value]:
    """The unused inputs and initializers of the model, to which a body may refer; [] if ``graph`` is not a body."""
    around = graphs_around(graph, known)
    visible = {*around[-1].inputs, *around[-1].constants} if around else ()
    return [each for each in unused_values(around[-1]) if each in visible] if around else []


def graphs_around(graph: Graph, known: Known) -> list[Graph]:
    """The graphs whose values a body sees, the nearest first; [] for another graph."""
    if known.format.ports_declare or not graph.path or graph.path.startswith("function:"):
        return []
    parents = {body: each for each in graphs(known.model) for body in each.bodies}
    found = []
    outer = parents.get(graph)
    while outer is not None:
        found.append(outer)
        outer = parents.get(outer)
    return found


def close_value(value: Value, user: Node | None, graph: Graph, unused: list[Value], known: Known) -> str:
    """The name of the value to which the undefined ``value`` was probably intended to refer; "" if there is none.

    Returns the first of these candidates that the node ``user`` accepts (None: see ``_may_be_output``):

    - the only unused input, if no other name is undefined and one of the two names contains or abbreviates the other
    - a value whose name differs by a mark (see ``is_marked``), or only in the characters between letters and digits
    - the only value of the graph or of a graph around it that was probably renamed (see ``renamed_value``)
    - the only unused input or initializer whose name differs by a prefix: ``router.weight`` and ``weight``
    - the ``unused`` value with the most similar name, if the names differ in more than digits
    - the most similar of all values, if the names also differ by a slip (see ``_is_slip``), the value is not an
      initializer, and no other unused value has its type
    """
    base_name = without_numbers(value.name)
    stored = set(graph.constants).difference(graph.inputs)
    definitions = list(definitions_of(graph))
    if user is None:
        unused, definitions = (_may_be_output(value, each, graph, known) for each in (unused, definitions))
    inputs = [each for each in unused if each in graph.inputs and each not in graph.constants]
    if len(inputs) == len(graph.undefined) == 1 and _may_be_one(inputs[0].name, value.name):
        if is_accepted(inputs[0], value, user, graph, known):
            return inputs[0].name
    for each in definitions:
        is_same = is_marked(each.name, value.name, graph) or characters(each.name) == characters(value.name) != ""
        if is_same and is_accepted(each, value, user, graph, known):
            return each.name
    from irlint.checks.renamed import renamed_value

    renamed = renamed_value(value, user, graph, unused, known)
    if renamed is not None and (user is not None or renamed in definitions):
        return renamed.name
    computed = {each for node in graph.nodes for each in node.outputs}
    ending = [each for each in unused if _ends_in(each.name, value.name) and each not in computed]
    if len(ending) == 1 and is_accepted(ending[0], value, user, graph, known):
        return ending[0].name
    for values, others_use_it in ((unused, False), (definitions, True)):
        names = {
            each.name: each
            for each in values
            if without_numbers(each.name) != base_name
            and not (others_use_it and (each in stored or not _is_slip(value.name, each.name)))
        }
        close = wording.closest(value.name, names, ALIKE)
        if close is not None and is_accepted(names[close], value, user, graph, known):
            fitting = [
                each for each in unused[:TRIED] if others_use_it and is_accepted(each, value, user, graph, known)
            ]
            return "" if _is_type_of_another(names[close], fitting, known) else close
    return ""


def _may_be_output(output: Value, values: list[Value], graph: Graph, known: Known) -> list[Value]:
    """The values that an undefined output of a graph may refer to: values of its type that are no output already. For
    the main graph, nodes compute them."""
    given = () if graph.path else {*graph.inputs, *graph.constants}
    others = (each for each in values if each not in graph.outputs and each not in given)
    return [each for each in others if not differ(known.types.get(each), output.type)]


def help_for_output(output: Value, graph: Graph, unused: list[Value], known: Known) -> str:
    """The help for an undefined output of the main graph without a close value: define it, or remove it."""
    missing, lost = f"define {output.name!r}", _lost_inputs(output, graph, unused)
    if lost:
        names = wording.first_few([f"`{each.name}`" for each in lost], SHOWN)
        inputs = f"unused input{'s' * (len(lost) > 1)} {names}"
        return f"if its layer was removed, remove this output and the {inputs}; otherwise {missing}"
    values = _may_be_output(output, unused, graph, known)
    names = wording.first_few([repr(each.name) for each in values], SHOWN)
    renamed = f", give its name to an unused value ({names})" if names else ""
    return f"{missing}{renamed}, or remove this output"


def _lost_inputs(output: Value, graph: Graph, unused: list[Value]) -> list[Value]:
    """The unused inputs of a graph that a removed layer needed, if an undefined output was a result of that layer.

    The names of the output and of these inputs differ only in numbers from those of other outputs and of used inputs.
    Inputs with the numbers of the output are preferred.
    """
    if all(without_numbers(each.name) != without_numbers(output.name) for each in graph.outputs if each is not output):
        return []
    used = {without_numbers(each.name) for each in graph.inputs if each not in unused}
    lost = [each for each in unused if each in graph.inputs and without_numbers(each.name) in used]
    numbers = NUMBERS.findall(output.name)
    return [each for each in lost if NUMBERS.findall(each.name) == numbers] or lost


def help_for(
    value: Value, user: Node | None, graph: Graph, unused: list[Value], known: Known, *, searched: bool
) -> str:
    """The help for an undefined name without a close value: define it, restore an initializer, or connect a value."""
    name = value.name
    missing, otherwise = f"define {name!r}", ", or connect another value"
    if searched and _is_like_initializer(name, graph):
        fitting = _type_of_missing(value, graph, known)
        missing, otherwise = f"the initializer {name!r} is missing: restore it{fitting}, or export the model again", ""
        slips = _slips_of_length(value, user, graph, known)
        if slips:
            listed_slips = wording.first_few([f"`{each}`" for each in slips], SHOWN)
            return f"restore the initializer {name!r}, or connect {listed_slips}, which fits, if the name is misspelled"
    if len(unused) <= TRIED:
        unused = [each for each in unused if is_accepted(each, value, user, graph, known)]
    if not unused:
        outer = _only_input(value, user, graph, known) if otherwise else None
        return f"{missing}, or connect `{outer.name}`, the only input of the model" if outer else missing + otherwise
    names = wording.first_few([repr(each.name) for each in unused], SHOWN)
    return f"{missing}, or connect an unused value: {names}"


def _only_input(value: Value, user: Node | None, graph: Graph, known: Known) -> Value | None:
    """The only input of the model, if a body uses an undefined name and the user accepts this input; else None."""
    main = known.model.graph
    inputs = [each for each in main.inputs if each not in main.constants] if main is not None and graph.path else []
    fits = (
        len(inputs) == 1
        and not graph.path.startswith("function:")
        and is_accepted(inputs[0], value, user, graph, known)
    )
    return inputs[0] if fits else None


def _slips_of_length(value: Value, user: Node | None, graph: Graph, known: Known) -> list[str]:
    """The names of accepted values that differ from the undefined name by a slip and in length; [] if there are too
    many."""
    close = [each for each in definitions_of(graph) if 0 < abs(len(each.name) - len(value.name)) <= SLIP]
    close = [each for each in close if _is_slip(value.name, each.name)]
    fitting = (
        [each.name for each in close if is_accepted(each, value, user, graph, known)] if len(close) <= TRIED else []
    )
    return fitting if len(fitting) <= SHOWN else []


def _is_like_initializer(name: str, graph: Graph) -> bool:
    """Whether a name resembles an initializer: both have the same first part, or no other name is more similar."""
    module, dot, _ = name.partition(".")
    if dot and any(each.name.startswith(module + dot) for each in graph.constants if each not in graph.inputs):
        return True
    like = wording.closest(name, (each.name for each in definitions_of(graph)), OF_ONE_KIND)
    return like is not None and any(each.name == like for each in graph.constants if each not in graph.inputs)


def _may_be_one(one: str, other: str) -> bool:
    """Whether one of two names contains or abbreviates the other. Only letters and digits are compared."""
    short, long = sorted((one, other), key=lambda name: len(characters(name)))
    return _abbreviates(short, long) or (characters(short) != "" and characters(short) in characters(long))


def _abbreviates(short: str, long: str) -> bool:
    """Whether ``short`` abbreviates ``long``, as ``past.1.k`` abbreviates ``past_kv.1.key``.

    Each word of ``short`` is the beginning of a word of ``long``, in order; the last words match, and the numbers are
    equal.
    """
    words, others = _words(short), _words(long)
    rest = iter(others)
    found = all(any(_begins(word, other) for other in rest) for word in words)
    return found and len(words) > 1 and _begins(words[-1], others[-1]) and _numbers(words) == _numbers(others)


def _begins(word: str, other: str) -> bool:
    return word == other if other.isdecimal() else other.startswith(word)


def _words(name: str) -> list[str]:
    return [each for each in WORDS.split(name.casefold()) if each]


def _numbers(words: list[str]) -> list[str]:
    return [each for each in words if each.isdecimal()]


def _ends_in(one: str, other: str) -> bool:
    """Whether one of two names is the other one after a prefix: ``router.weight`` and ``weight``."""
    short, long = sorted((one, other), key=len)
    return not short.isdecimal() and long.endswith(short) and long[: -len(short)].endswith(PREFIX_ENDS)


def _is_type_of_another(value: Value, values: list[Value], known: Known) -> bool:
    """Whether one of the other ``values`` has the element type and the rank of ``value``."""
    given, others = known.types.get(value), [known.types.get(each) for each in values if each is not value]
    kinds = [(each.dtype, each.rank) for each in others if isinstance(each, Tensor)]
    return isinstance(given, Tensor) and (given.dtype, given.rank) in kinds


def characters(name: str) -> str:
    """The letters and digits of a name, in lower case."""
    return "".join(filter(str.isalnum, name)).casefold()


def _is_slip(name: str, other: str) -> bool:
    """Whether two names differ by a slip: in one run of at most SLIP letters, or because one is the end of the
    other."""
    start = 0
    while start < min(len(name), len(other)) and name[start] == other[start]:
        start += 1
    end = 0
    while end < min(len(name), len(other)) - start and name[-1 - end] == other[-1 - end]:
        end += 1
    if max(len(name), len(other)) - start - end <= SLIP:
        return True
    return other.endswith(name.lstrip("/")) or name.endswith(other.lstrip("/"))


def is_marked(one: str, other: str, graph: Graph) -> bool:
    """Whether two names differ by a mark, such as ``_1`` or ``:0``, and no other two names of the graph differ by
    it."""
    short, long = sorted((one, other), key=len)
    mark = MARK.search(long)
    if mark is None or long[: mark.start()] != short:
        return False
    names = {each.name for each in definitions_of(graph)} | {short}
    others = ((name, MARK.search(name)) for name in names if name not in (one, other))
    return not any(found and found[0][0] == mark[0][0] and name[: found.start()] in names for name, found in others)


def is_accepted(candidate: Value, value: Value, user: Node | None, graph: Graph, known: Known) -> bool:
    """Whether ``user`` and the nodes that depend on ``value`` accept the candidate in its place. Also true if irlint
    cannot test this."""
    given = known.types.get(candidate)
    if _is_of_another_kind(given, value):
        return False
    if user is None or value not in user.inputs:
        return True
    changed: dict[Value, Type | None] = {value: given}
    asked = 0
    nodes = known.order(graph).nodes
    start = nodes.index(user) if user in nodes else len(nodes)
    for node in nodes[start : start + NEAR] or (user,):
        if asked == ASKED:
            break
        if changed.keys().isdisjoint(filter(None, node.inputs)):
            continue
        asked += 1
        if not _accepts(node, changed, known):
            return False
    return candidate not in changed


def _accepts(node: Node, changed: dict[Value, Type | None], known: Known) -> bool:
    """Whether a node accepts the ``changed`` types of its inputs, or refuses the known ones as well. Adds the types of
    its outputs, which have the declared element types and ranks."""
    answer = asked_again(known, node, known.types_of(node.inputs, changed))
    outputs: tuple[Type | None, ...] = ()
    if answer is not None and answer.outputs is None and answer.faults:
        before = asked_again(known, node, known.types_of(node.inputs))
        if before is None or not before.faults:
            return False
    elif answer is not None:
        outputs = answer.outputs or ()
    for index, output in enumerate(node.outputs):
        if output is not None:
            changed[output] = outputs[index] if index < len(outputs) else known.types.get(output)
    return not any(_is_of_another_kind(changed[output], output) for output in node.outputs if output is not None)


def _is_of_another_kind(given: Type | None, value: Value) -> bool:
    """Whether a type has another element type or rank than the file declares for a value."""
    ranks = [each.rank for each in (given, value.type) if isinstance(each, Tensor) and each.rank is not None]
    return disagree(given, value.type) or len({*ranks}) > 1


def _type_of_missing(value: Value, graph: Graph, known: Known) -> str:
    """The type of a missing initializer, in parentheses; "" if unknown. The same parameter of other blocks shows it, or
    the nodes that use the initializer."""
    users = _users(value, graph, known)
    similar = [each for each in graph.constants if plain(each.name) == plain(value.name)]
    types = {_without_values(known.types.get(each)) for each in similar}
    for one in types if len(types) == 1 else ():
        if one is not None and _all_accept(one, users, known):
            return f" ({type_text(one)}, as {similar[0].name!r} is)"
    row = _row_of_users(users, known)
    return f" ({type_text(row)} fits where it is used)" if row is not None else ""


def _row_of_users(users: list[tuple[Node, Value]], known: Known) -> Tensor | None:
    """The type of one row (last axis) of the other inputs of ``users``; None unless it is the same for all, and
    accepted."""
    others = (each for user, used in users for each in user.inputs if each is not None and each is not used)
    rows = {
        Tensor(each.dtype, each.shape[-1:])
        for other in others
        if isinstance(each := known.types.get(other), Tensor) and each.shape and isinstance(each.shape[-1], int)
    }
    for one in rows if len(rows) == 1 else ():
        if _all_accept(one, users, known) and _all_accept(Tensor(one.dtype, ()), users, known):
            return one
    return None


def _without_values(known: Type | None) -> Tensor | None:
    """A tensor type without values; None for other types."""
    return Tensor(known.dtype, known.shape) if isinstance(known, Tensor) else None


def _users(value: Value, graph: Graph, known: Known) -> list[tuple[Node, Value]]:
    """(node, input) of each use of a value or of its copies. Nodes that only copy the value are omitted."""
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


def _all_accept(type: Tensor, users: list[tuple[Node, Value]], known: Known) -> bool:
    """Whether all ``users`` accept ``type`` for their input. False without users."""
    for user, used in users:
        answer = asked_again(known, user, known.types_of(user.inputs, {used: type}))
        if answer is None or answer.outputs is None or answer.faults:
            return False
    return bool(users)


def without_numbers(name: str) -> str:
    """A name without its numbers and the separators before them: ``/Shape_output`` of ``/Shape_3_output_0``."""
    return re.sub(r"[_.]?\d+", "", name)


def plain(name: str) -> str:
    """A name without its digits. Repeated blocks use the same name without digits for the same parameter."""
    return name.translate(_DIGITS)


_DIGITS = dict.fromkeys(map(ord, "0123456789"))


def definitions_of(graph: Graph) -> Iterator[Value]:
    yield from graph.inputs
    inputs = frozenset(graph.inputs)
    yield from (value for value in graph.constants if value not in inputs)
    for node in graph.nodes:
        yield from (value for value in node.outputs if value is not None)
