"""Edits of a model as data: which edits fix a finding, and how they are written into the bytes of a file.

The entry point is ``suggestions.Suggestions``, which finds the edits for the problems of a model. ``tidy`` and
``ports`` find the safe fixes of ONNX and IR. ``onnx.rewritten`` and ``openvino.rewritten`` write edits.
"""
