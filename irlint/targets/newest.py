"""The newest ONNX Runtime that was measured; written by ``tests/make/targets.py``."""

#: The release, its newest IR version, and its newest opset of each domain. It accepts any opset of other domains.
RUNTIME = "1.32"
RUNTIME_IR_VERSION = 14
RUNTIME_OPSETS = {
    "": 28,
    "ai.onnx.ml": 5,
    "ai.onnx.training": 1,
    "ai.onnx.preview": 1,
    "ai.onnx.preview.training": 1,
    "com.microsoft": 1,
    "com.microsoft.experimental": 1,
    "com.microsoft.nchwc": 1,
    "com.ms.internal.nhwc": 28,
    "org.pytorch.aten": 1,
}
