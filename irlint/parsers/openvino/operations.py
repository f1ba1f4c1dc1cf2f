"""Facts about operations that reading an IR needs; written by ``tests/make/index.py``."""

#: The numbers of inputs of operations whose last inputs OpenVINO fills in if they have no edge.
FILLED_IN = {
    "Broadcast": 3,
    "CTCGreedyDecoderSeqLen": 3,
    "CTCLoss": 5,
    "CumSum": 2,
    "DFT": 3,
    "DeformableConvolution": 4,
    "DeformablePSROIPooling": 3,
    "DetectionOutput": 5,
    "EmbeddingBagOffsets": 5,
    "EmbeddingBagOffsetsSum": 5,
    "EmbeddingBagPacked": 3,
    "EmbeddingBagPackedSum": 3,
    "EmbeddingSegmentsSum": 6,
    "Eye": 4,
    "FakeConvert": 3,
    "GRUCell": 5,
    "GroupConvolutionBackpropData": 3,
    "GroupedMatMul": 3,
    "IDFT": 3,
    "ISTFT": 5,
    "Interpolate": 4,
    "LSTMCell": 7,
    "NonMaxSuppression": 6,
    "Pad": 4,
    "PriorBoxClustered": 2,
    "RNNCell": 5,
    "SegmentMax": 3,
    "Slice": 5,
    "SliceScatter": 6,
    "StridedSlice": 4,
    "Unique": 2,
}

#: Other spellings of operations that OpenVINO accepts.
SPELLINGS = {
    "CONSTANT": "Const",
    "Constant": "Const",
    "PReLU": "PRelu",
    "ReLU": "Relu",
    "SoftMax": "Softmax",
    "constant": "Const",
}
