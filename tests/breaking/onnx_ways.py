"""The ways in which people break ONNX models."""

from . import onnx_declarations, onnx_numbers, onnx_wires
from .onnx_graph import WAYS

__all__ = ["WAYS", "onnx_declarations", "onnx_numbers", "onnx_wires"]
