"""The operations that a layer may have instead: other versions, and other types."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import get_close_matches

from irlint.binding.calls import (
    CUSTOM_OPERATOR,
    INPUT_COUNT,
    MISSING_ATTRIBUTE,
    OPSET_LACKS_OPERATOR,
    OUTPUT_COUNT,
    UNKNOWN_ATTRIBUTE,
    UNKNOWN_OPERATOR,
)
from irlint.findings.edits import Edit
from irlint.findings.faults import ELEMENT_TYPES
from irlint.fixes.changes import bound
from irlint.fixes.document import Stages
from irlint.inference.known import Known
from irlint.model import Node, Problem
from irlint.ops import index, openvino_versions
from irlint.ops.signatures import REQUIRED, signature
from irlint.records import replaced

#: The least similarity (``difflib`` ratio) of two type names, and how many similar names are tried.
SIMILAR, TYPES = 0.6, 8

#: The rules that report a layer if its ``version`` is the opset of another version of the operation.
MISVERSIONED = (INPUT_COUNT, OUTPUT_COUNT, UNKNOWN_ATTRIBUTE, MISSING_ATTRIBUTE)


class Operations:
    """Proposes other operations for the layers of one model. ``nodes`` are the layers of all its graphs."""

    def __init__(self, known: Known, nodes: Sequence[Node]) -> None:
        self.known = known
        self.nodes = nodes

    def stages(self, problem: Problem, node: Node) -> Stages:
        """Groups of edits of the operation that may fix a problem of a layer."""
        rule = problem.fault.rule
        if rule in MISVERSIONED:
            yield from ([(of_layer(node, "version", each),)] for each in self._fitting_versions(node))
        if rule.family == ELEMENT_TYPES and problem.fault.input is not None:
            yield from ([each] for each in self._with_other_inputs(node, problem.fault.input))
        if node.version is None or rule in (UNKNOWN_OPERATOR, CUSTOM_OPERATOR, OPSET_LACKS_OPERATOR):
            yield from ([(of_layer(node, "version", each),)] for each in self._versions(node))
            yield from ([(renamed(node, each),)] for each in self._operation_in_name(node))
            if problem.fault.intended:
                yield [(renamed(node, problem.fault.intended),)]
            yield ((renamed(node, each),) for each in self._types(node))
            yield [(renamed(node, each),) for each in self._fitting_types(node)]

    def _versions(self, node: Node) -> Iterator[str]:
        """The versions of other layers of the type, then the versions that fit the attributes, the latest first."""
        versions = Counter(
            str(each.version) for each in self.nodes if each.op == node.op and each.version and each is not node
        )
        yield from (each for each, _ in versions.most_common() if each != node.version)
        for operator in sorted(openvino_versions(node.op), key=lambda each: -each.since):
            known = signature(operator.function).attributes
            written = {operator.spelled.get(name, name): default for name, (_, default) in known.items()}
            required = {name for name, default in written.items() if default is REQUIRED}
            if node.attributes.keys() <= written.keys() and required <= node.attributes.keys():
                yield f"opset{operator.since}"

    def _types(self, node: Node) -> Iterator[str]:
        """The operations with names similar to the layer's type. Those that the type abbreviates come first."""
        names = list(index.OPENVINO)
        lowered = {name.lower(): name for name in names}
        close = get_close_matches(node.op.lower(), list(lowered), TYPES, SIMILAR)
        abbreviated = [name for name in names if name.startswith(node.op[:1]) and _abbreviates(node.op, name)]
        ends = [self.known.format.output_node, self.known.format.input_node, self.known.format.constant_node]
        found = dict.fromkeys((*abbreviated, *(lowered[each] for each in close), *filter(None, ends)))
        yield from (each for each in found if each != node.op)

    def _fitting_versions(self, node: Node) -> Iterator[str]:
        """The other versions of the operation that fit the inputs and attributes, the latest first."""
        if {fault.rule for fault in bound(self.known, node)[1]} == {MISSING_ATTRIBUTE}:
            return
        for operator in sorted(openvino_versions(node.op), key=lambda each: -each.since):
            version = f"opset{operator.since}"
            if version != node.version and self._fits(node, version=version):
                yield version

    def _with_other_inputs(self, node: Node, index: int) -> Iterator[tuple[Edit, ...]]:
        """Other versions for all layers of the operation that have the node's version.

        In such a version, the input has another name, such as ``axes`` for ``scales``.
        """
        call = self.known.calls.get(node)
        own = call.signature.inputs if call is not None and call.signature is not None else ()
        layers = [each for each in self.nodes if (each.op, each.version) == (node.op, node.version)]
        for operator in sorted(openvino_versions(node.op), key=lambda each: -each.since):
            version, names = f"opset{operator.since}", signature(operator.function).inputs
            if own[index : index + 1] != names[index : index + 1] and all(
                self._fits(each, version=version) for each in layers
            ):
                yield tuple(of_layer(each, "version", version) for each in layers)

    def _fits(self, node: Node, **changes: str) -> bool:
        """Whether a layer has the inputs and attributes of its operation after changes of its version or type."""
        call, faults = bound(self.known, replaced(node, **changes))
        return call.operator is not None and not faults

    def _operation_in_name(self, node: Node) -> Iterator[str]:
        """The operation that ends the layer's name (``block/aten::layer_norm/MVN``), if inputs and attributes fit."""
        last = node.name.rpartition("/")[2].rstrip("0123456789").rstrip("_").lower()
        names = (each for each in index.OPENVINO if each.lower() == last)
        yield from (each for each in names if each != node.op and self._fits(node, op=each))

    def _fitting_types(self, node: Node) -> list[str]:
        """The operations that fit the inputs and attributes of a layer; none for a layer without attributes."""
        names = (each for each in index.OPENVINO if node.attributes and each != node.op)
        return [each for each in names if self._fits(node, op=each)]


def of_layer(node: Node, name: str, value: str) -> Edit:
    """An edit that sets an XML attribute of a layer."""
    return Edit("attribute", "layer", "", node.label, node.index, name, value, op=node.op, layer=node.id or "")


def renamed(node: Node, name: str) -> Edit:
    """An edit that changes the type of a layer."""
    return Edit("rename", "operator", "", node.label, node.index, node.op, name, op=node.op, layer=node.id or "")


def _abbreviates(short: str, name: str) -> bool:
    """Whether a name begins with the first two letters of ``short``, and has all its letters in this order."""
    rest = iter(name.lower())
    return (
        len(short) > 1
        and name.lower().startswith(short[:2].lower())
        and all(letter in rest for letter in short.lower())
    )
