"""What an IR declares where its constants cannot be read."""

from __future__ import annotations

from pathlib import Path

from cases.ir_documents import NO_DIMS, const, edge, layer, net, parameter, result, written

import irlint

SLICED = layer(
    3,
    "StridedSlice",
    "012",
    "5",
    data='<data begin_mask="0" end_mask="0" new_axis_mask="" shrink_axis_mask="" ellipsis_mask=""/>',
)
BEGIN, END = (
    const(id, f'element_type="i64" shape="1" offset="{offset}" size="8"').replace(*NO_DIMS).replace("FP32", "I64")
    for id, offset in ((1, 0), (2, 8))
)


def shapes(folder: Path, dim: str, weights: bytes | None) -> list[object]:
    port = SLICED.replace("<dim>2</dim><dim>3</dim>", "").replace(
        'precision="FP32">', f'precision="FP32">{dim}<dim>3</dim>'
    )
    text = net(
        [parameter(0, shape="?,3").replace("<dim>2", "<dim>-1"), BEGIN, END, port, result(4).replace(*NO_DIMS)],
        [edge(0, 0, 3, 0), edge(1, 0, 3, 1), edge(2, 0, 3, 2), edge(3, 5, 4, 0)],
    )
    values = irlint.shapes(written(folder, text, weights))["values"]
    return next(each["shape"] for each in values if each["name"] == "3:5")


def test_numbers_that_are_declared_stay(tmp_path: Path) -> None:
    assert shapes(tmp_path, "<dim>1</dim>", None) == [1, 3]


def test_sizes_that_nothing_declares_stay_open(tmp_path: Path) -> None:
    found = shapes(tmp_path, "<dim>-1</dim>", None)
    assert found[1] == 3
    assert isinstance(found[0], str)


def test_constants_that_are_there_decide_the_size(tmp_path: Path) -> None:
    weights = (0).to_bytes(8, "little") + (2).to_bytes(8, "little")
    assert shapes(tmp_path, "<dim>-1</dim>", weights)[1] == 3
