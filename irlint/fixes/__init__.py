"""Finds edits that fix the problems of a model (``suggestions``, ``tidy``, ``ports``), and writes them (``onnx``,
``openvino``).

* candidate: edits that may fix a problem. Its grade and its evidence, the nodes that have the new value, rank it.
* trial: inference with the edits. Its outcome has the fixed problems; the others are remaining problems.
* objection: a reason to reject a candidate. Caution: a reason to suggest a candidate but not to write it.
* siblings: nodes of one operator. Similar nodes: siblings whose other lists and texts are equal.
* block: a repeated part, such as ``layer.0``. Twins: the nodes in one place of different blocks. Counterpart: the value
  that corresponds to a twin's value. Namesakes: siblings whose names differ only in numbers.
* unused value: a value without a user. It probably lost its user by the mistake.
"""
