"""Compares names of values and of operators: may one be the other under another name, by the habits of exporters?"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from irlint.binding.calls import UNKNOWN_OPERATOR
from irlint.checks.intended import ALIKE, MARK, characters, plain, without_numbers
from irlint.dims import Expr
from irlint.findings.edits import Edit
from irlint.findings.wording import closest
from irlint.fixes.interfaces import SCAN_AXES, Edits
from irlint.inference.known import Known
from irlint.model import Graph, Node, Problem, Value
from irlint.model.order import uses
from irlint.model.tensor import Tensor
from irlint.records import replaced
from irlint.schemas import official, official_names

#: At least this many outputs of a graph form a series.
SERIES = 3

#: Exporters end the name of an output's size with this and the axis, if they do not know the size.
GENERATED = "_dim_"

#: The least similarity (``difflib`` ratio) of similar names of operators.
SIMILAR = 0.6

#: At most this many similar names are tried.
NAMES = 4

#: Longer texts are no names of operators.
LONGEST_NAME = 60

#: Numbers of more digits are read as texts.
NUMBER = re.compile("[0-9]{1,18}")


def may_be_renamed(value: Value, node: Node | None, before: Value | None, graph: Graph) -> bool:
    """Whether a value may have had the name of ``before``, by the habits of exporters."""
    if before is None or have_same_letters(value.name, before.name):
        return True
    if _are_numbered_apart(value.name, before.name):
        return False
    if _number(before.name) and before.name not in value.name and (node is None or _number(value.name)):
        return False
    if names_another_operator(value.name, before.name, graph) or not _are_similar(value.name, before.name):
        return False
    return node is None or not node.name or node.name not in value.name or node.name in before.name


def names_another_operator(one: str, other: str, graph: Graph) -> bool:
    """Whether an exporter named two values after different operators, or added a number to one name: ``x``, ``x.1``."""
    for short, long in ((one, other), (other, one)):
        if long.rpartition(".")[0] == short and not short.isdecimal():
            return any(_ends_with_number(name) for name in _names(graph) if name not in (one, other))
    ops = [name.rpartition("/")[2].partition("_output_") for name in (one, other)]
    return all(mark for _, mark, _ in ops) and closest(ops[0][0], [ops[1][0]], ALIKE) is None


def of_misspelled_number(name: str, graph: Graph, unused: Sequence[Value]) -> list[Value]:
    """The values whose names differ from an undefined one by a slip in a number: ``val_97`` for ``val_977``.

    A digit was doubled, omitted or added, or two digits were exchanged. Either the value is unused and no result of a
    node, which another node may have used, or the undefined number is by a quarter greater than all numbers of this
    name, so that no value with this number can be missing.
    """
    parts, found = _parts(name), list[Value]()
    computed = [each for node in graph.nodes for each in node.outputs]
    alone = set(unused).difference(computed)
    values = (each for each in (*graph.inputs, *graph.constants, *computed) if each is not None)
    similar = {each: _parts(each.name) for each in values if plain(each.name) == plain(name)}
    for at, number in enumerate(parts):
        known = [each[at] for each in similar.values() if len(each) == len(parts) and NUMBER.fullmatch(each[at])]
        most = max(map(int, known), default=0)
        is_number = NUMBER.fullmatch(number) is not None
        is_new = is_number and most > 0 and 4 * int(number) > 5 * most
        for value, others in similar.items() if is_number else ():
            is_alone = len(others) == len(parts) and parts[:at] == others[:at] and parts[at + 1 :] == others[at + 1 :]
            if is_alone and (is_new or value in alone) and _is_slip(number, others[at]):
                found.append(value)
    return found


def of_siblings(value: Value, graph: Graph, known: Known) -> list[Value]:
    """The constant whose name differs from that of an undefined value by a mark, such as ``bias`` from ``bias_1``, if
    ``MANY`` siblings of its users have this constant as the same input; or [].

    No sibling has another constant of its type there. Exporters store equal weights of several layers once.
    """
    from irlint.fixes.candidate import MANY

    mark = MARK.search(value.name)
    found = [each for each in graph.constants if mark is not None and each.name == value.name[: mark.start()]]
    for node, port in uses(value, graph.nodes) if found else ():
        siblings = [each for each in graph.nodes if each.op == node.op and each is not node]
        values = [each.inputs[port] for each in siblings if port < len(each.inputs)]
        stored = [each for each in values if each is not None and each in graph.constants]
        fitting = [each for each in stored if _kind(each, known) == _kind(found[0], known)]
        if len(fitting) < MANY or set(fitting) != {found[0]}:
            return []
    return found


def _kind(value: Value, known: Known) -> tuple[object, ...]:
    given = known.types.get(value)
    return (given.dtype, given.shape) if isinstance(given, Tensor) else ()


def _parts(name: str) -> list[str]:
    """The numbers of a name and the texts between them."""
    return [each for each in re.split(r"(\d+)", name) if each]


def _is_slip(one: str, other: str) -> bool:
    """Whether two numbers differ in one digit that only one of them has, or in the order of two digits."""
    short, long = sorted((one, other), key=len)
    if len(short) + 1 == len(long):
        return any(long[:at] + long[at + 1 :] == short for at in range(len(long)))
    exchanged = (one[:at] + one[at + 1] + one[at] + one[at + 2 :] for at in range(len(one) - 1))
    return one != other and other in exchanged


def _are_numbered_apart(one: str, other: str) -> bool:
    """Whether two names of one length differ only in digits, and not only in their order: ``val_256``, ``val_257``."""
    letters = [[each for each in name if not each.isdecimal()] for name in (one, other)]
    return letters[0] == letters[1] and len(one) == len(other) and sorted(one) != sorted(other)


def _are_similar(one: str, other: str) -> bool:
    """Whether one of two names contains the other, or they are almost the same."""
    short, long = sorted((characters(one), characters(other)), key=len)
    return short in long or closest(one, [other], ALIKE) is not None


def have_same_letters(one: str, other: str) -> bool:
    """Whether two names have the same letters and digits: ``/block/Relu_output_0`` and ``_block_Relu_output_0``."""
    return characters(one) == characters(other) != ""


def missing_in_series(output: Value, graph: Graph) -> list[Value]:
    """The one value that has no place among the outputs of a graph, although it belongs to a series of outputs; or [].

    The names of a series differ only in numbers: ``cat``, ``cat_1``, ``cat_2``. One operator computes its values, and
    all but one are outputs. The undefined ``output`` has another name, and is declared like an output in the series.
    """
    series: dict[tuple[str, str], list[Value]] = {}
    for node in graph.nodes:
        for each in node.outputs:
            if each is not None and (name := without_numbers(each.name)) != without_numbers(output.name):
                series.setdefault((node.op, name), []).append(each)
    found = []
    for (_, name), values in series.items():
        others = [each for each in values if each not in graph.outputs]
        types = [each.type for each in values if each in graph.outputs]
        if name and len(types) >= SERIES and len(others) == 1 and output.type in types:
            found += others
    return found if len(found) == 1 and isinstance(output.type, Tensor) and output.type.shape else []


def named_in_sizes(output: Value, graph: Graph) -> list[Value]:
    """The value after which the dynamic sizes of an undefined output are named, such as ``Relux_dim_0`` after the value
    ``x`` of a Relu; or []. Exporters name sizes so if they do not know them."""
    shape = output.type.shape if isinstance(output.type, Tensor) else None
    dims = [str(dim).rpartition(GENERATED)[0] for dim in shape or () if isinstance(dim, Expr)]
    heads = {characters(each) for each in dims if each}
    made = [(node, value) for node in graph.nodes if heads for value in node.outputs if value is not None]
    found = [value for node, value in made if characters(node.op + value.name) in heads]
    return [each for each in found if each not in graph.outputs] if len(found) == 1 else []


def _names(graph: Graph) -> set[str]:
    found = {value.name for node in graph.nodes for value in node.outputs if value is not None}
    return found | {value.name for value in (*graph.constants, *graph.inputs)}


def _ends_with_number(name: str) -> bool:
    return name.rpartition(".")[2].isdecimal() and "." in name


def _number(name: str) -> str:
    """The number that an exporter gave to a value, such as 12 of ``onnx::Conv_12``; "" of other names."""
    number = name.rpartition("_")[2] if "::" in name else name
    return number if number.isdecimal() else ""


def similar_operators(problem: Problem, known: Known) -> Iterator[Edits]:
    """Renames an unknown operator to those with similar names, the most similar first."""
    node = problem.node
    if node is None or known.format.ports_declare or len(node.op) > LONGEST_NAME:
        return
    from difflib import get_close_matches

    for name in get_close_matches(node.op, sorted(official_names(node.domain)), NAMES, SIMILAR):
        yield (Edit("rename", "operator", problem.graph, node.label, node.index, node.op, name, op=node.op),)


def as_operator_with_attributes(problem: Problem, known: Known) -> Iterator[Edits]:
    """Renames an operator to the only one that has all attributes of the node and whose name ends with the old name."""
    node = problem.node
    version = node.version if node is not None and isinstance(node.version, int) else None
    if node is None or version is None or known.format.ports_declare or len(node.op) > LONGEST_NAME:
        return
    found = []
    for name in official_names(node.domain):
        schema = official(name, version, node.domain) if name.endswith(node.op) and node.op != name else None
        if schema is not None and set(node.attributes) <= set(schema.attributes):
            found.append(name)
    for name in found if len(found) == 1 else ():
        yield (Edit("rename", "operator", problem.graph, node.label, node.index, node.op, name, op=node.op),)


def is_ambiguous(problem: Problem, edits: Edits, may_be: Callable[[Edits], bool]) -> bool:
    """Whether another operator has a name as similar to the name of the node's operator, and ``may_be`` accepts it as
    well. Or whether edits set other axes of a Scan: perhaps a Transpose is missing."""
    node, edit = problem.node, edits[0]
    if edit.name == SCAN_AXES:
        return True
    is_renamed = edit.of == "operator" and problem.fault.rule is UNKNOWN_OPERATOR
    if not is_renamed or node is None or len(node.op) > LONGEST_NAME:
        return False
    from difflib import SequenceMatcher, get_close_matches

    names = sorted(official_names(node.domain))
    if any(name.casefold() == node.op.casefold() for name in names):
        return False
    ratios = {
        name: SequenceMatcher(None, name, node.op).ratio() for name in get_close_matches(node.op, names, NAMES, SIMILAR)
    }
    equal = [name for name, ratio in ratios.items() if ratio == ratios.get(str(edit.value)) and name != edit.value]
    return any(may_be((replaced(edit, value=name),)) for name in equal)
