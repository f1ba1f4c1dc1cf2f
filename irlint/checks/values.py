"""Finds constants and attributes whose values give results that are not finite, or make a node fail when it runs.

Every finding follows from constants, attributes and the ranges of results, never from input data. The module ``ranges``
checks results that are never finite, and ``quantized`` checks quantizations that map all numbers to one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from functools import cached_property
from math import isfinite
from types import ModuleType

from irlint.checks.examined import (
    COMPUTED,
    EXAMINED,
    FACTOR_LISTS,
    FOLLOWED,
    LARGE,
    LARGE_IN,
    LARGEST_EPSILON,
    LEAST_EPSILON,
    LIMITED,
    LIMITING,
    LOSSES,
    MASKED,
    NARROW,
    NORMALIZATIONS,
    PADDING,
    PASSING,
    PRODUCTS,
    RANGED,
    REPEATING,
    SCALED,
    SINGLE,
    SPREADING,
    STEPS,
    TAKING,
    UNUSUAL,
    WEIGHTS,
    WIDE,
)
from irlint.findings.faults import Fault
from irlint.inference.known import Known
from irlint.lazy_typing import TYPE_CHECKING
from irlint.model import Attribute, Graph, Node, Problem, Value
from irlint.model.order import graphs, users
from irlint.model.tensor import BITS, FLOATS, INTEGERS, Extent, Tensor, Type
from irlint.ops.shared.contents import are_finite
from irlint.parsers.weights import Weights

if TYPE_CHECKING:
    from irlint.checks.intervals import Intervals


def problems(known: Known) -> list[Problem]:
    """The problems of values at the nodes of every graph."""
    kinds = {id(each) for each in known.kinds() if _may_be_infinite_or_nan(each)}
    doubtful = {value for value, each in known.types.items() if id(each) in kinds} if kinds else set[Value]()
    found: list[Problem] = []
    first: Values | None = None
    has_iterations = False
    for graph in graphs(known.model):
        values = Values(known, graph, doubtful, first)
        first = first or values
        found += values.problems()
        has_iterations = has_iterations or (bool(graph.bodies) and any(node.op in REPEATING for node in graph.nodes))
    if first is not None and has_iterations:
        from irlint.checks import first_iterations

        reported = {problem.node for problem in found}
        found += [each for each in first_iterations.problems(first) if each.node not in reported]
    return found


class Values:
    """The checks of the nodes of one graph. Intervals of values are computed when a check needs them.

    ``doubtful`` are the constants of the model that may contain NaN, infinity or numbers that soon overflow. ``first``
    is the object for the main graph; None if this is it.
    """

    def __init__(self, known: Known, graph: Graph, doubtful: Set[Value], first: Values | None = None) -> None:
        self.known = known
        self.first = first
        self.graph = graph
        self.doubtful = doubtful
        self.dequantizes = False
        self._limited: dict[Value, bool] = {}

    @cached_property
    def intervals(self) -> Intervals:
        """The intervals of the model. All graphs share them, because a body uses values of its enclosing graphs."""
        from irlint.checks.intervals import Intervals

        return Intervals(self.known) if self.first is None else self.first.intervals

    @cached_property
    def makers(self) -> Mapping[Value, Node]:
        """The node that computes each value of the model."""
        is_only = self.first is None and not self.graph.bodies
        return self.known.makers(self.graph) if is_only else self.intervals.makers

    @cached_property
    def users(self) -> Mapping[Value, list[Node]]:
        """The nodes that use each value of the graph."""
        return users(self.graph)

    @cached_property
    def touched(self) -> Set[Value | None]:
        """The ``doubtful`` values, and the values that operators of SPREADING and PASSING compute from them."""
        found: set[Value | None] = {*self.doubtful}
        for node in self.known.order(self.graph).nodes:
            if (node.op in SPREADING or node.op in PASSING) and not found.isdisjoint(node.inputs):
                found.update(node.outputs)
        return found

    def is_limited(self, value: Value | None, steps: int = FOLLOWED) -> bool:
        """Whether a value has a lower or an upper limit. At most ``steps`` operators before the value are examined."""
        node = self.makers.get(value) if value is not None and steps else None
        if value is None or node is None:
            return False
        if value not in self._limited:
            self._limited[value] = self._has_limits(node, steps)
        return self._limited[value]

    def _has_limits(self, node: Node, steps: int) -> bool:
        if node.op in LIMITED:
            return True
        if node.op in TAKING:
            return bool(node.inputs) and self.is_limited(node.inputs[0], steps - 1)
        if node.op not in COMPUTED:
            return False
        varying = [each for each in node.inputs if not self._is_constant(each)]
        return bool(varying) and all(self.is_limited(each, steps - 1) for each in varying)

    def _is_constant(self, value: Value | None) -> bool:
        tensor = self.known.types.get(value) if value is not None else None
        return type(tensor) is Weights or (isinstance(tensor, Tensor) and tensor.value is not None)

    @cached_property
    def quantized(self) -> ModuleType:
        """The module with the checks of quantized values."""
        from irlint.checks import quantized

        return quantized

    @cached_property
    def ranges(self) -> ModuleType:
        """The module with the checks of ranges."""
        from irlint.checks import ranges

        return ranges

    def problems(self) -> Iterator[Problem]:
        """The problems of attributes that are NaN or infinite, and the problems that the checks of each operator find.
        Nodes with faults of inference and nodes without outputs are omitted. Problems of dequantized values come
        last."""
        faulted, checks = self.known.faulted, CHECKS
        if self.doubtful:
            checks = {op: OF_DOUBTFUL.get(op, ()) + CHECKS.get(op, ()) for op in (*OF_DOUBTFUL, *CHECKS)}
        for node in self.graph.nodes:
            of_node = checks.get(node.op, ())
            has_factors = bool(node.attributes) and not EXAMINED.isdisjoint(node.attributes)
            if not (of_node or has_factors) or node in faulted or not node.outputs:
                continue
            if has_factors:
                from irlint.checks.factors import not_finite

                yield from self._problems(node, not_finite(node))
            for check in of_node:
                faults = check(self, node)
                if faults:
                    yield from self._problems(node, faults)
        if self.dequantizes:
            from irlint.checks import dequantized

            for node, fault in dequantized.of_graph(self):
                yield from self._problems(node, (fault,))

    def _problems(self, node: Node, faults: Iterable[Fault]) -> Iterator[Problem]:
        for fault in faults:
            yield Problem(fault, self.graph.path, node, place=node.place)

    def tensor(self, node: Node, index: int) -> Tensor | None:
        """The type of an input; None if it is unknown or no tensor."""
        value = node.inputs[index] if index < len(node.inputs) else None
        found = self.known.types.get(value) if value is not None else None
        return found if isinstance(found, Tensor) else None

    def number(self, node: Node, index: int) -> float | None:
        """The only element of an input; None if the input has several elements, or the element is unknown or not a
        number."""
        tensor = self.tensor(node, index)
        if tensor is None or tensor.shape not in SINGLE:
            return None
        found = tensor.scalar
        if found is None and (maker := self.maker(node, index)) is not None and maker.inputs:
            span = self.intervals.whole(node.inputs[index])
            return span.low if span.low == span.high else None
        return found if isinstance(found, (int, float)) else None

    def maker(self, node: Node, index: int) -> Node | None:
        """The node that computes an input; None if no node does."""
        value = node.inputs[index] if index < len(node.inputs) else None
        return self.makers.get(value) if value is not None else None

    def name(self, value: Value) -> str:
        """The name of a value in messages: its own name in an ONNX model, the name of its layer in an IR."""
        maker = self.makers.get(value)
        return maker.label if maker is not None and maker.id is not None else value.name

    # --- constants ----------------------------------------------------------------------------------------------------

    def _spread(self, node: Node) -> Iterable[Fault]:
        if self.touched.isdisjoint(node.inputs):
            largest = self.maker(node, 1) if node.op in ("Sub", "Subtract") else None
            if largest is None or largest.op != "ReduceMax":
                return ()
        from irlint.checks import infinite

        return [*self._ranged(node), *infinite.added(self, node)]

    def _narrow(self, node: Node) -> Iterable[Fault]:
        made = self.known.types.get(node.outputs[0]) if node.outputs[0] is not None else None
        return self._ranged(node) if isinstance(made, Tensor) and made.dtype in NARROW else ()

    def _padding(self, node: Node) -> Iterable[Fault]:
        for index in PADDING:
            number = self.number(node, index)
            if number is not None and not isfinite(number):
                from irlint.checks import infinite

                return infinite.padded(self, node, index, number)
        return ()

    def _filling(self, node: Node) -> Iterable[Fault]:
        attribute = node.attributes.get("value")
        stored = attribute.value if attribute is not None and attribute.kind == "TENSOR" else None
        if stored is None or stored.tensor.scalar == stored.tensor.scalar:
            return ()
        from irlint.checks import infinite

        return infinite.filled(self, node)

    def _infinite(self, node: Node) -> Iterable[Fault]:
        inputs = [
            index for index in WEIGHTS[node.op] if index < len(node.inputs) and self._is_doubtful(node.inputs[index])
        ]
        if not inputs:
            return ()
        from irlint.checks import infinite

        found = [infinite.of_input(self, node, index) for index in inputs]
        return [fault for fault in found if fault is not None]

    def _is_doubtful(self, value: Value | None, steps: int = STEPS) -> bool:
        """Whether a value is ``doubtful``, or at most ``steps`` operators of PASSING compute it from a ``doubtful``
        value."""
        if value is None or value in self.doubtful:
            return value is not None
        maker = self.makers.get(value) if steps else None
        if maker is None or maker.op not in PASSING or not maker.inputs:
            return False
        return self._is_doubtful(maker.inputs[0], steps - 1)

    def _divisor(self, node: Node) -> Iterable[Fault]:
        if self.doubtful.isdisjoint(node.inputs):
            return ()
        from irlint.checks import infinite

        return infinite.divisor(self, node)

    def _epsilon(self, node: Node) -> Iterable[Fault]:
        epsilon, tensor = number_in(node.attributes.get(NORMALIZATIONS[node.op])), self.tensor(node, 0)
        is_sound = epsilon is None or LEAST_EPSILON <= epsilon < LARGEST_EPSILON
        if is_sound and (tensor is None or not tensor.shape or tensor.shape[-1] != 1):
            return ()
        from irlint.checks import normalizations

        return normalizations.faults(self, node, NORMALIZATIONS[node.op], epsilon)

    def _listed(self, node: Node) -> Iterable[Fault]:
        from irlint.checks.factors import listed

        return listed(node)

    def _failing(self, node: Node) -> Iterable[Fault]:
        from irlint.checks.failing import faults

        return faults(self, node)

    def _ranged(self, node: Node) -> Iterable[Fault]:
        return self.ranges.faults(self, node)  # type: ignore[no-any-return]

    def _softmax(self, node: Node) -> Iterable[Fault]:
        maker = self.maker(node, 0)
        is_product = maker is not None and maker.op in PRODUCTS
        # No range makes a row of sums of products infinite.
        return () if is_product and node.outputs[0] not in self.graph.outputs else self._ranged(node)

    def _of_nothing(self, node: Node) -> Iterable[Fault]:
        tensor = self.tensor(node, 0)
        if tensor is None or tensor.shape is None or 0 not in tensor.shape or self.maker(node, 0) is None:
            return ()
        from irlint.checks.failing import reduced_nothing

        return reduced_nothing(self, node)

    def _collapsed(self, node: Node) -> Iterable[Fault]:
        if not any(map(self.is_limited, node.inputs)):
            return ()
        from irlint.checks.collapsed import faults

        return faults(self, node)

    def _selected(self, node: Node) -> Iterable[Fault]:
        from irlint.checks.collapsed import selected

        return selected(self, node)

    def _attention(self, node: Node) -> Iterable[Fault]:
        from irlint.checks.attentions import faults

        return faults(self, node)

    def _dequantizer(self, node: Node) -> Iterable[Fault]:
        """Returns no faults. ``problems`` examines all DequantizeLinear nodes of the graph after the other checks."""
        self.dequantizes = True
        return ()

    def _converted(self, node: Node) -> Iterable[Fault]:
        given, made = self.tensor(node, 0), self.known.types.get(node.outputs[0]) if node.outputs[0] else None
        if given is None or not isinstance(made, Tensor) or given.dtype == "bool" or made.dtype in WIDE:
            return ()
        return () if made.dtype == "int64" and given.dtype in INTEGERS else self._ranged(node)

    def _scaled(self, node: Node) -> Iterable[Fault]:
        maker = self.maker(node, 0)
        if maker is None or maker.op not in SCALED or not _may_erase(self.tensor(node, 1)):
            return ()
        return self.quantized.decompressed(self, node, maker)  # type: ignore[no-any-return]

    def _channels(self, node: Node) -> Iterable[Fault]:
        maker = self.maker(node, 1)
        if maker is None or maker.op not in ("DequantizeLinear", "FakeQuantize", "Multiply"):
            return ()
        from irlint.checks import dequantized

        return dequantized.misplaced(self, node)

    def _integers(self, node: Node) -> Iterable[Fault]:
        from irlint.checks import dequantized

        return dequantized.unshifted(self, node)

    def _quantizer(self, node: Node) -> Iterable[Fault]:
        return self.quantized.faults(self, node)  # type: ignore[no-any-return]


def _may_be_infinite_or_nan(tensor: Type | None) -> bool:
    """Whether the values in a type may contain NaN, infinity or numbers that soon overflow."""
    if type(tensor) is Weights:
        return not tensor.is_moderate
    if not isinstance(tensor, Tensor) or tensor.dtype not in FLOATS:
        return False
    if tensor.value is None:
        return isinstance(tensor.extent, Extent) and bool(tensor.extent.nans or tensor.extent.infinities)
    if not are_finite(tensor.value):
        return True
    return max(map(abs, tensor.value), default=0) >= LARGE_IN.get(tensor.dtype, LARGE)  # type: ignore[arg-type]


def _may_erase(scale: Tensor | None) -> bool:
    """Whether a constant scale may contain 0, a number that soon overflows, or only numbers above 1."""
    if type(scale) is not Weights:
        return scale is not None and (scale.value is not None or scale.extent is not None)
    width = BITS[scale.dtype or ""] // 8
    highest = scale.raw[width - 1 :: width]
    return len(highest.translate(None, UNUSUAL)) < len(highest)


def number_in(attribute: Attribute | None) -> float | None:
    """The number in an attribute of either format. None if the attribute is omitted, refers to an attribute of the
    enclosing function, or is no number."""
    if attribute is None or attribute.reference is not None:
        return None
    try:
        return float(attribute.value)
    except (TypeError, ValueError):
        return None


def integer_in(attribute: Attribute | None) -> int | None:
    """The integer in an attribute of either format; None if ``number_in`` returns None or a fraction."""
    number = number_in(attribute)
    return int(number) if number is not None and number.is_integer() else None


Check = Callable[[Values, Node], Iterable[Fault]]

#: The checks of each operator for constants that may be NaN, infinite or large.
OF_DOUBTFUL: Mapping[str, tuple[Check, ...]] = {
    **dict.fromkeys(SPREADING, (Values._spread,)),
    **dict.fromkeys(WEIGHTS, (Values._infinite,)),
    **dict.fromkeys(("Div", "Divide"), (Values._divisor,)),
    "Pad": (Values._padding,),
}

#: The other checks of each operator.
CHECKS: Mapping[str, tuple[Check, ...]] = {
    **dict.fromkeys((*RANGED, *LOSSES), (Values._ranged,)),
    **dict.fromkeys(MASKED, (Values._softmax,)),
    **dict.fromkeys(("Cast", "CastLike", "Convert", "ConvertLike"), (Values._converted,)),
    **dict.fromkeys(NORMALIZATIONS, (Values._epsilon,)),
    **dict.fromkeys(FACTOR_LISTS, (Values._listed,)),
    **dict.fromkeys(LIMITING, (Values._collapsed,)),
    **dict.fromkeys(("Dropout", "OneHot"), (Values._failing,)),
    **dict.fromkeys(("Clip", "Clamp"), (Values._failing, Values._collapsed)),
    **dict.fromkeys(("QuantizeLinear", "FakeQuantize"), (Values._quantizer,)),
    "DequantizeLinear": (Values._dequantizer,),
    "ConstantOfShape": (Values._filling,),
    "NonMaxSuppression": (Values._selected,),
    **dict.fromkeys(("Conv", "Convolution", "ConvTranspose", "ConvolutionBackpropData"), (Values._channels,)),
    **dict.fromkeys(("MatMulInteger", "ConvInteger"), (Values._integers,)),
    "ScaledDotProductAttention": (Values._attention,),
    **dict.fromkeys(("Mul", "Multiply"), (Values._scaled,)),
    **dict.fromkeys(("ReduceSum", "ReduceSumSquare", "ReduceL1"), (Values._narrow,)),
    **dict.fromkeys(("ReduceMean", "ReduceMax", "ReduceMin", "ReduceLogSumExp"), (Values._of_nothing,)),
}
