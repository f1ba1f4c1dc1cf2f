"""What messages and helps of operators say about the numbers, axes and inputs of a case."""

from __future__ import annotations

import pytest
from cases.answers import headlines
from cases.notation import operator

#: A model, the end of a message, and the beginning of its help ("" for any).
TEXTS = """
onnx com.microsoft.DynamicQuantizeMatMul@21 float32[5,2,3] int8[3,4] float32[] int8[] float32[3] | the bias has 4, one for each column | give input 4 the shape [4]
onnx com.microsoft.MatMulNBits@21 float32[2,32] uint8[8,1,8] float32[8] ; K=32 N=8 block_size=32 bits=4 | input 1 is [8, 1, 8] with 64 elements; a matrix [8, 32] of 4-bit weights is packed into 128 bytes | use the attributes with which the weights were packed
onnx com.microsoft.MatMulNBits@21 float32[2,64] uint8[8,2,16] float32[8,2] float32[7] ; K=64 N=8 block_size=32 bits=4 | one number for each block: 8 columns of 2 blocks | give input 3
onnx com.microsoft.MatMulNBits@21 float32[2,64] uint8[8,2,16] float32[8,2] uint8[7] ; K=64 N=8 block_size=32 bits=4 | one number for each block: 8 columns of 2 blocks, packed to 4 bits | give input 3
onnx com.microsoft.MatMulBnb4@21 float32[2,32] uint8[100] float32[8] ; K=32 N=8 block_size=32 quant_type=1 | input 1 is [100] with 100 elements; a matrix [8, 32] of 4-bit weights is packed into 128 bytes |
openvino Unsqueeze@1 float32[2,3] int64{-1,-1} | axes is [-1, -1], which lists axis 2 of the result more than once; OpenVINO inserts it once | list axis 2 once
openvino Squeeze@1 float32[?,2,3] int64{} | since input 1 (axes) is empty, every axis of size 1 is removed; OpenVINO reads the layer and refuses to compile it | list the axes
openvino Squeeze@1 float32[?,2,3] | without input 1 (axes) every axis of size 1 is removed; OpenVINO reads the layer and refuses to compile it | list the axes
openvino Einsum@7 float32[2,2,2] ; equation=iii | the result has the letter i more than once, since without -> it is iii; OpenVINO reads the layer and refuses to compile it |
onnx Einsum@12 float32[2,3] float32[4,2,3] ; equation="...i,...i->...i" | the ellipsis covers 1 axis in input 0 and 2 in input 1; the numbers must be equal | insert axes of size 1 in input 0 (Unsqueeze), so that its ellipsis covers 2 axes
onnx Einsum@12 float32[4,2,3] float32[3] ; equation="...i,...i->...i" | the ellipsis covers 2 axes in input 0 and 0 in input 1; the numbers must be equal | insert axes of size 1 in input 1 (Unsqueeze), so that its ellipsis covers 2 axes
openvino ISTFT@16 float32[2,9,9,2] float32[0] int64[] int64=4 ; center=false normalized=false | input 1 (window) has 0 samples; allowed: 1 to the length of a frame |
openvino ISTFT@16 float32[2,9,9,2] float32[17] int64=16 int64=4 ; center=false normalized=false | input 1 (window) has 17 samples and a frame has 16; allowed: 1 to 16 |
openvino PriorBox@8 int64{2,3,4} int64[2] ; min_size=1 offset=0.5 | axis 0 of input 0 (output_size) is 3; expected 2 numbers: height and width | give axis 0 of output_size 2 numbers: height and width
openvino PriorBox@1 int64{24,42} int64{8,9} ; min_size=16 step=0 offset=0.5 density=0,0,0 | the output has room for 0 boxes in each cell, but OpenVINO writes 1 for `min_size`; OpenVINO reads the layer and refuses to compile it |
openvino GenerateProposals@9(3) float32[1,5] float32[4,4,3,4] float32[1,12,4,4] float32[1,3,4,4] ; min_size=1 nms_threshold=0.5 pre_nms_count=10 post_nms_count=10 | axis 1 of input 0 (im_info) is 5; expected 3 or 4 numbers | give axis 1 of im_info 3 or 4 numbers
openvino ExperimentalDetectronGenerateProposalsSingleImage@6(2) float32[4] float32[48,4] float32[12,4,4] float32[3,4,4] ; min_size=1 nms_threshold=0.5 pre_nms_count=10 post_nms_count=10 | axis 0 of input 0 (im_info) is 4; expected 3 numbers: height, width and scale |
openvino Select@1 bool[3,9] float32[2,3,4,5] float32[3,4] ; auto_broadcast=pdpd auto_broadcast.auto_broadcast_axis=1 | 4 (axis 2 of input 1) against 9 (axis 1 of input 0); input 0 is aligned with input 1 from axis 1 on | only input 0 is broadcast
openvino Select@1 bool[3,4] float32[2,3,4,5] float32[3,9] ; auto_broadcast=pdpd auto_broadcast.auto_broadcast_axis=1 | 4 (axis 2 of input 1) against 9 (axis 1 of input 2); input 2 is aligned with input 1 from axis 1 on | only input 2 is broadcast
openvino Select@1 bool[3,4] float32[4,5] float32[2,4,5] ; auto_broadcast=pdpd auto_broadcast.auto_broadcast_axis=-1 | input 1 is [4, 5] and input 2 is [2, 4, 5], which has 1 more axis | give input 2 at most 2 axes
openvino FakeQuantize@1 float32[2,3,4,5] float32[1] float32[1] float32[9] float32[1] ; levels=256 auto_broadcast=pdpd auto_broadcast.auto_broadcast_axis=1 | 3 (axis 1 of input 0) against 9 (axis 0 of input 3); input 3 is aligned with input 0 from axis 1 on | only input 3 is broadcast
openvino Add@1 float32[4,5] float32[2,4,5] ; auto_broadcast=pdpd auto_broadcast.auto_broadcast_axis=-1 | input 0 is [4, 5] and input 1 is [2, 4, 5], which has 1 more axis | swap the inputs
openvino Add@1 float32[4,5] float32[4,5] ; auto_broadcast=pdpd auto_broadcast.auto_broadcast_axis=1 | input 0 is [4, 5] and input 1 is [4, 5], which needs 2 axes of input 0 from axis 1 on | choose an axis of at most 0
onnx Add@6 float32[4,5] float32[2,4,5] ; broadcast=1 | input 0 is [4, 5] and input 1 is [2, 4, 5], which has 1 more axis | give input 1 at most 2 axes
onnx Add@6 float32[4,5] float32[5] ; broadcast=1 axis=2 | input 0 is [4, 5] and input 1 is [5], which needs 1 axis of input 0 from axis 2 on | set `axis` to the axis of input 0
onnx Gather@13 float32[3,2] int64{1,2,3} ; axis=0 | input 1 holds the index 3, and axis 0 has 3 elements; allowed: -3 to 2 | subtract 1 from the indices, which are 1 to 3, or give the axis 4 elements
onnx QuantizeLinear@13 float32[2,3,8] float32[3] int8[1] | axis 0 is 3 in input 1 and 1 in input 2, and the zero point has the shape of the scale | store the zero point as [3], like the scale, with its value in each entry
openvino SpaceToBatch@2 float32[2,3,4] int64{1,2,2} int64{0,1,0} int64{0,1,0} | axis 1 of input 0 is 3, and 5 with its pads, which is not a multiple of 2, the block | make axis 1 with its pads a multiple of 2
openvino SpaceToBatch@2 float32[2,3,4] int64{1,2,2} int64[3]{0} int64[3]{0} | axis 1 of input 0 is 3, which is not a multiple of 2, the block | make axis 1 a multiple of 2
openvino BatchToSpace@2 float32[3,3,4] int64{1,2,2} int64[3]{0} int64[3]{0} | axis 0 of input 0 is 3, which is not a multiple of 4, the number of elements of a block (1 * 2 * 2) |
onnx DepthToSpace@13 float32[1,9,4,4] ; blocksize=2 | axis 1 of input 0 is 9, which is not a multiple of 4, the number of elements of a block (2 * 2) | use blocks of 3, or make axis 1 a multiple of 4
openvino ConvertPromoteTypes@14(2) uint64[2] int8[2] ; promote_unsafe=true u64_integer_promotion_target=dynamic | inputs 0 and 1 are uint64 and int8, whose common type is `u64_integer_promotion_target`, and this attribute is dynamic; OpenVINO reads the layer and refuses to compile it | write
openvino Interpolate@1 float32[1,3,8,8] int64{5,7} ; axes=2,2 mode=nearest | axes is [2, 2]: an axis appears more than once; OpenVINO counts it once | list each axis once
openvino Interpolate@11 float32[1,3,8,8] int64{5,7} int64{2,2} ; mode=nearest shape_calculation_mode=sizes | OpenVINO uses the last of its sizes, or all its scales | list each axis once
""".strip().splitlines()


@pytest.mark.parametrize("line", TEXTS)
def test_a_message_and_its_help(line: str) -> None:
    text, message, help = (part.strip() for part in line.split("|"))
    format, _, model = text.partition(" ")
    found = headlines(operator(format, model))
    assert any(one.endswith(message) and other.startswith(help) for one, other in found), found
