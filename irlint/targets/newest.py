"""The newest ONNX Runtime that was measured; written by ``tests/make/targets.py``."""

#: Its release, the newest IR version that it takes, and the newest opset of each domain that it knows; of other domains
#: it takes any version.
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
