"""What holds of the differences of all models."""

from __future__ import annotations

from typing import Any

import onnx
import onnx.parser
from contracts.models import HEAD
from contracts.test_difference import kinds
from hypothesis import given
from hypothesis import strategies as st
from onnx import helper

from irlint.parsers import read

BINARY = ("Add", "Sub", "Mul", "Max")
UNARY = ("Relu", "Neg", "Exp", "Tanh")


@st.composite
def graphs(draw: st.DrawFn) -> list[tuple[str, tuple[int, ...]]]:
    """Nodes by operator and inputs: 0 and 1 are inputs of the graph, from 2 on the nodes."""
    nodes: list[tuple[str, tuple[int, ...]]] = []
    for at in range(draw(st.integers(1, 12))):
        earlier = st.integers(0, at + 1)
        op = draw(st.sampled_from(UNARY + BINARY))
        nodes.append((op, (draw(earlier),) if op in UNARY else (draw(earlier), draw(earlier))))
    return nodes


def model(nodes: list[tuple[str, tuple[int, ...]]], order: list[int], prefix: str, names: int) -> bytes:
    value = ["x", "z", *(f"{prefix}{(at * 7 + names) % 101}" for at in range(len(nodes)))]
    made = [
        helper.make_node(op, [value[each] for each in inputs], [value[at + 2]]) for at, (op, inputs) in enumerate(nodes)
    ]
    last = helper.make_node("Identity", [value[len(nodes) + 1]], ["y"])
    infos = [helper.make_tensor_value_info(name, 1, ["N"]) for name in ("x", "z", "y")]
    graph = helper.make_graph([*(made[at] for at in order), last], "g", infos[:2], infos[2:])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


@given(graphs(), st.randoms(use_true_random=False))
def test_names_and_order_are_no_change(nodes: list[tuple[str, tuple[int, ...]]], draw: Any) -> None:
    order: list[int] = []
    left = list(range(len(nodes)))
    while left:
        ready = [at for at in left if all(each < 2 or each - 2 in order for each in nodes[at][1])]
        order.append(draw.choice(ready))
        left.remove(order[-1])
    assert differ(model(nodes, list(range(len(nodes))), "a", 0), model(nodes, order, "b", 3)) == ""


def differ(old: bytes, new: bytes) -> str:
    from irlint.contracts.difference import differences
    from irlint.inference.walk import inferred

    sides = [inferred(read(f"{at}.onnx", data)) for at, data in enumerate((old, new))]
    return kinds([{"kind": each.kind, "breaking": each.breaking} for each in differences(*sides, (repr, repr))])


#: Shapes of one input that is reshaped to rows of a number, so that each takes another set of sizes.
shapes = st.tuples(st.sampled_from(["N", "M", "3", "4", "6", "12"]), st.sampled_from([1, 2, 3, 4, 6]))


def taker(size: str, row: int) -> bytes:
    text = f"g (float[{size}] x) => (y) <int64[2] s = {{-1, {row}}}> {{ y = Reshape (x, s) }}"
    return onnx.parser.parse_model(HEAD + text).SerializeToString()


def taken(size: str, row: int) -> set[int]:
    return {each for each in range(1, 49) if each % row == 0 and (not size.isdigit() or each == int(size))}


@given(shapes, shapes)
def test_narrowing_is_what_widening_is_the_other_way(one: tuple[str, int], other: tuple[str, int]) -> None:
    there, back = differ(taker(*one), taker(*other)), differ(taker(*other), taker(*one))
    before, after = taken(*one), taken(*other)
    if not before or not after:
        return
    assert ("input-narrowed!" in there) is not (before <= after)
    assert ("input-narrowed!" in back) is not (after <= before)
    assert ("input-widened" in there) is (before < after)
    assert ("input-widened" in back) is (after < before)


#: Models of two inputs, whose sizes have to agree in one way or another.
TOGETHER = (
    "{ y = Add (x, z) }",
    "{ y = Concat <axis = 1> (x, z) }",
    "<int64[2] s = {-1, 6}> { y = Reshape (x, s) w = Relu (z) }",
    "{ d = Concat <axis = 0> (x, x) y = Concat <axis = 1> (d, z) }",
)
pairs = st.tuples(
    st.sampled_from(["N", "M", "1", "2", "3"]), st.sampled_from(["N", "M", "1", "3", "6"]), st.sampled_from(TOGETHER)
)


def takes(first: str, second: str, body: str) -> Any:
    """Whether the model takes sizes of its two inputs, by the conditions of its contract."""
    from irlint.contracts.contract import contract_of
    from irlint.inference.walk import inferred

    known = inferred(read("m.onnx", two_inputs(first, second, body)))
    if any(each.is_error for each in known.problems):
        return None
    contract = contract_of(known)

    def asked(*sizes: int) -> bool:
        env: dict[str, int] = {}
        for name, size in zip((first, second), sizes):
            if env.setdefault(name, size) != size or (name.isdigit() and int(name) != size):
                return False
        return contract.satisfiable and all(eval(each.text, {}, env) for each in contract.conditions)

    return asked


def two_inputs(first: str, second: str, body: str) -> bytes:
    return onnx.parser.parse_model(
        f"{HEAD}g (float[{first},3] x, float[{second},3] z) => (y) {body}"
    ).SerializeToString()


@given(pairs, pairs)
def test_narrowed_is_what_takes_less(one: tuple[str, str, str], other: tuple[str, str, str]) -> None:
    before, after = takes(*one), takes(*other)
    if before is None or after is None:
        return
    found = differ(two_inputs(*one), two_inputs(*other))
    text = any(f"{kind}!" in found for kind in ("input-narrowed", "contract-narrowed", "contract-unsatisfiable"))
    sizes = [(x, z) for x in range(1, 13) for z in range(1, 13)]
    assert text is any(before(*each) and not after(*each) for each in sizes)
