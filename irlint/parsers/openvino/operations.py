"""What reading an IR takes from the operations; written by ``tests/make/index.py``."""

#: How many inputs an operation has whose last ones OpenVINO fills in where no edge leads to them.
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

#: The operation that OpenVINO takes a type for, where the type is spelled in another way.
SPELLINGS = {
    "CONSTANT": "Const",
    "Constant": "Const",
    "PReLU": "PRelu",
    "ReLU": "Relu",
    "SoftMax": "Softmax",
    "constant": "Const",
}
