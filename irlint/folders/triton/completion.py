"""Completes a configuration from its model, like a server with default options.

Sources: ``AutoCompleteConfig`` in the server's onnxruntime_backend, and ``backend_config_defaults`` in the server
core's ``backend_model.cc``.
"""

from __future__ import annotations

from irlint.folders.beside import Interface, Reported
from irlint.folders.triton.config import Config
from irlint.folders.triton.fields import ANY
from irlint.lazy_typing import Any
from irlint.records import replaced

#: The ``max_batch_size`` that the server sets for a model with a batch axis.
DEFAULT_MAX_BATCH_SIZE = 4


def completed(config: Config, model: Interface) -> Config:
    """The configuration with the ``max_batch_size`` that the server sets.

    The ONNX Runtime backend sets it if the first axis of every required input and every output is dynamic, unless the
    configuration lists inputs and outputs. If this is uncertain, the result has no ``dims``, so that none are compared.
    """
    if config.backend != "onnxruntime" or config.message.max_batch_size or lists_everything(config):
        return config
    batched = _is_batched((*(each for each in model.inputs if not each.optional), *model.outputs))
    if batched is False:
        return config
    message: Any = type(config.message)()
    message.CopyFrom(config.message)
    if batched:
        message.max_batch_size = DEFAULT_MAX_BATCH_SIZE
        return replaced(config, message=message, is_completed=True)
    for tensor in (*message.input, *message.output):
        tensor.ClearField("dims")
        tensor.ClearField("reshape")
    return replaced(config, message=message)


def lists_everything(config: Config) -> bool:
    """Whether the configuration lists inputs and outputs. If so, the ONNX Runtime backend completes nothing."""
    message = config.message
    return bool((message.input or message.batch_input) and message.output)


def _is_batched(ends: tuple[Reported, ...]) -> bool | None:
    """Whether the first axis of each input and output is dynamic; None if none is fixed and one is uncertain."""
    if any(each.sizes is not None and (not each.sizes or each.sizes[0] not in (ANY, None)) for each in ends):
        return False
    return None if any(each.sizes is None or each.sizes[0] is None for each in ends) else True
