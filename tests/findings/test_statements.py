"""What a rule states besides its result."""

from __future__ import annotations

from irlint.dims import symbol
from irlint.findings.statements import agree, stated, warn
from irlint.model.tensor import Tensor
from irlint.ops.nn.convolution import conv
from irlint.ops.nn.pooling import max_pool
from irlint.ops.shared.operands import OPERAND_MISMATCH
from irlint.ops.shared.windows import OnnxWindow

FAULT = OPERAND_MISMATCH.fault("it does not fit", help="let it fit")


def test_a_block_collects_what_is_stated_inside() -> None:
    with stated() as outer:
        warn(FAULT)
        with stated() as inner:
            agree(symbol("H"), 3, "they are one size")
        warn(FAULT)
    assert outer.faults == [FAULT, FAULT] and not outer.requirements and not inner.faults
    assert [str(relation) for each in inner.requirements for relation in each.any_of] == ["H == 3"]


def test_what_is_stated_outside_of_a_block_is_dropped() -> None:
    warn(FAULT)
    assert agree(symbol("H"), 3, "they are one size")
    with stated() as block:
        pass
    assert not block.faults and not block.requirements


def test_a_rule_is_a_plain_function() -> None:
    x, w = Tensor("float32", (1, 3, symbol("H"), 32)), Tensor("float32", (8, 3, 3, 3))
    assert conv(x, w, window=OnnxWindow(strides=(1, 2))).shape == (1, 8, symbol("H") - 2, 15)
    wide = OnnxWindow(pads=(2, 2, 2, 2))
    assert max_pool(x, kernel_shape=(2, 2), window=wide)[0].shape == (1, 3, symbol("H") + 3, 35)
