"""Candidates that insert a lost node whose result the file still declares: ``value_info`` has a name that nothing
computes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations

from irlint.checks.intended import plain
from irlint.dims import Shape
from irlint.findings.edits import Edit
from irlint.fixes.candidate import Candidate
from irlint.fixes.inputs import Inputs, dtype_of
from irlint.fixes.inserted import CAST, FLATTEN, NAMES, RESULTS, SQUEEZE, TRANSPOSE, UNSQUEEZE
from irlint.fixes.other_values import EVIDENT
from irlint.fixes.sizes import nodes_before
from irlint.inference.contradictions import differ
from irlint.inference.origins import shape_of
from irlint.lazy_typing import Any
from irlint.model import Node, Value
from irlint.model.order import uses
from irlint.model.tensor import Tensor

Attributes = tuple[tuple[str, Any], ...]
Uses = list[tuple[Node, int]]

#: If the file declares more values that nothing computes, none of them restores a node by its type.
FEW = 4

#: A Flatten gives a matrix.
MATRIX = 2


def inserted_as_declared(nodes: Sequence[Node], inputs: Inputs) -> Iterator[Candidate]:
    """Inserts the node that computed a value which the file declares and nothing computes: as similar names show, or as
    the declared type shows.

    It is inserted before uses of a value that has its own declared type. The results of these uses do not have theirs.
    """
    if not inputs.graph.undefined_value_info or inputs.known.format.writer != "onnx":
        return
    templates = list(_nodes_of_similar_results(inputs))
    near = dict.fromkeys(value for node in nodes for value in node.inputs)
    before = nodes_before(nodes[0], inputs.makers) if len(inputs.graph.undefined_types) <= FEW else ()
    every = dict.fromkeys(value for node in before for value in node.inputs)
    for value in dict.fromkeys((*near, *every)):
        if value is None or not inputs.is_dynamic(value):
            continue
        places = uses(value, inputs.users.get(value, ()))
        copies = _copied(templates, value, places, inputs) if value in near else ()
        for edits, count in Counter((*copies, *_inserted_by_type(value, places, inputs))).items():
            yield Candidate(edits, EVIDENT, nodes[0], evidence=count)


def _nodes_of_similar_results(inputs: Inputs) -> Iterator[Node]:
    """The nodes whose results are named like the lost values, apart from numbers."""
    names = {plain(name) for name in inputs.graph.undefined_value_info}
    for node in inputs.graph.nodes:
        yield from (node for value in node.outputs if value is not None and plain(value.name) in names)


def _copied(templates: Sequence[Node], value: Value, places: Uses, inputs: Inputs) -> Iterator[tuple[Edit, ...]]:
    """Inserts copies of nodes before all uses of a value, if no result of these uses has its declared shape."""
    results = [each for user, _ in places for each in user.outputs]
    if not inputs.is_made(value) or not _has_declared_shape(value, inputs):
        return
    for each in templates if not any(_has_declared_shape(result, inputs) for result in results) else ():
        edits = tuple(inputs.editor.copied(each, *use) for use in places)
        if edits and None not in edits:
            yield tuple(filter(None, edits))


def _inserted_by_type(value: Value, places: Uses, inputs: Inputs) -> Iterator[tuple[Edit, ...]]:
    """Inserts the nodes that give the type of a lost value: before the uses whose results lack their declared types,
    and before all uses. A Cast changes no sizes, which other uses may read."""
    wrong = [use for use in places if _lacks_declared_result(use[0], inputs)]
    if not wrong or not (value.type is None or _has_declared_type(value, inputs)):
        return
    for op, attributes in _nodes_that_give_lost(value, inputs):
        for several in (wrong, places) if op != CAST and len(wrong) < len(places) else (wrong,):
            edits = (inputs.editor.inserted(op, *use, attributes) for use in several)
            yield tuple(sorted(edits, key=lambda edit: (edit.index or 0, edit.input or 0)))


def _has_declared_shape(value: Value | None, inputs: Inputs) -> bool:
    shape = value.type.shape if value is not None and isinstance(value.type, Tensor) else None
    return shape is not None and shape == shape_of(value, inputs.known)


def _has_declared_type(value: Value, inputs: Inputs) -> bool:
    return _has_declared_shape(value, inputs) and dtype_of(value.type) == dtype_of(inputs.known.types.get(value))


def _lacks_declared_result(node: Node, inputs: Inputs) -> bool:
    """Whether a node is faulty, or no result of it has its declared type."""
    results = [value for value in node.outputs if value is not None]
    return node in inputs.known.faulted or not any(_has_declared_type(each, inputs) for each in results)


def _nodes_that_give_lost(value: Value, inputs: Inputs) -> Iterator[tuple[str, Attributes]]:
    """The operators, with attributes, that give a value the type of a lost one, which the file declares.

    If several attributes do so, those come first that give most of the declared sizes. Of these, one is returned if all
    give the same shape.
    """
    given, graph = inputs.known.types.get(value), inputs.graph
    lost = list(zip(graph.undefined_value_info, graph.undefined_types)) if len(graph.undefined_types) <= FEW else []
    for name, wanted in lost:
        if not isinstance(given, Tensor) or not isinstance(wanted, Tensor) or wanted.shape is None:
            continue
        for op in _operators_of(name, inputs):
            results = [(RESULTS[op](given, each), each) for each in _attributes(op, given, wanted)]
            found = [(each.shape, attribute) for each, attribute in results if each and _gives(given, each, wanted)]
            most = max((_equal_sizes(shape, wanted) for shape, _ in found), default=0)
            best = [each for each in found if _equal_sizes(each[0], wanted) == most]
            if len({shape for shape, _ in best}) == 1:
                yield op, ((NAMES[op], best[0][1]),)


def _operators_of(name: str, inputs: Inputs) -> list[str]:
    """The operators that may have computed a lost value: the one that its name contains, or all if it is named after no
    operator of the graph."""
    named = [op for op in RESULTS if op.casefold() in name.casefold()]
    last = name.rpartition("/")[2].partition("_output_")[0].rstrip("0123456789_").casefold()
    others = {node.op.casefold() for node in inputs.graph.nodes}
    return [max(named, key=len)] if named else [] if last in others else list(RESULTS)


def _gives(given: Tensor, result: Tensor, wanted: Tensor) -> bool:
    """Whether the type of a result is not that of the input, and may be the wanted one."""
    return (result.dtype, result.shape) != (given.dtype, given.shape) and not differ(result, wanted)


def _attributes(op: str, given: Tensor, wanted: Tensor) -> Iterator[Any]:
    """The values of the attribute of an operator that may turn a type into another one."""
    rank, wanted_rank = given.rank, wanted.rank
    if rank is None or wanted_rank is None:
        return
    if op == CAST:
        yield from (wanted.dtype,) if given.dtype != wanted.dtype and given.shape == wanted.shape else ()
    elif given.dtype != wanted.dtype:
        return
    elif op == TRANSPOSE and _is_order(given, wanted):
        yield tuple((given.shape or ()).index(dim) for dim in wanted.shape or ())
    elif op == UNSQUEEZE and rank < wanted_rank:
        ones = [axis for axis, dim in enumerate(wanted.shape or ()) if dim == 1]
        yield from combinations(ones, wanted_rank - rank)
    elif op == SQUEEZE and wanted_rank < rank:
        yield from combinations(range(rank), rank - wanted_rank)
    elif op == FLATTEN and wanted_rank == MATRIX:
        yield from range(rank + 1)


def _is_order(given: Tensor, wanted: Tensor) -> bool:
    """Whether both shapes have the same different sizes, in another order."""
    own, other = given.shape or (), wanted.shape or ()
    return own != other and len(own) == len(other) == len(set(other)) and set(own) == set(other)


def _equal_sizes(shape: Shape | None, other: Tensor) -> int:
    return sum(first == second for first, second in zip(shape or (), other.shape or ()))
