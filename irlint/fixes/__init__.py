"""Finds edits that fix the problems of a model (``suggestions``, ``tidy``, ``ports``), and writes them (``onnx``,
``openvino``).

* candidate: edits that may fix a problem. Its grade is how likely such edits are. Its evidence ranks candidates of the
  same grade; it is mostly the number of nodes that already have the new value.
* rival: another candidate that fixes at least as much. Stage: a group of candidates that are tried together.
* trial: inference with the edits. Its outcome lists the problems that they fix; all others are remaining problems.
* objection: a reason to reject a candidate. Caution: a reason to suggest a candidate but not to write it.
* clashing size: a size that contradicts another size, and so causes a problem. Limit on sizes: a node works only with
  few values of a dynamic size.
* siblings: nodes with the same operator. Similar nodes: siblings with equal lists and texts as attributes, except the
  attribute that may change.
* block: a repeated part of a model, such as ``layer.0``. Twins: the corresponding nodes of different blocks.
  Counterpart: the value in one block that corresponds to a value of a twin. Namesakes: siblings whose names differ only
  in numbers.
* unused value: a value without a user. Probably the mistake disconnected it from its user.
"""
