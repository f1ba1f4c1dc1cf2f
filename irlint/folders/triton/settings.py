"""Finds settings in a configuration that its backend refuses.

Sources: ``ModelState`` in the server's onnxruntime_backend, ``ParseParameterHelper`` in its openvino_backend, and
``backend_common.cc`` of its backends.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from irlint.folders.statements import ConfigFault
from irlint.folders.triton.config import Config
from irlint.folders.triton.fields import refused

_INTEGER = (r"\s*[+-]?\d", "an integer")
_COUNT = (r"\d+", "an integer of 0 or more")
_SWITCH = (r"(true|on|1|false|off|0)$", "true or false")

#: (pattern for the start of an accepted value in lower case, description) of each parameter, by backend.
PARAMETERS = {
    "onnxruntime": {
        "execution_mode": (r"\s*[+-]?0*[01](?!\d)", "0 or 1"),
        "intra_op_thread_count": _INTEGER,
        "inter_op_thread_count": _INTEGER,
        "enable_mem_arena": _SWITCH,
        "enable_mem_pattern": _SWITCH,
    },
    "openvino": {
        "INFERENCE_NUM_THREADS": _COUNT,
        "COMPILATION_NUM_THREADS": _COUNT,
        "HINT_BF16": (r"yes$", "YES"),
        "NUM_STREAMS": (r"(auto|numa|\d+)$", "AUTO, NUMA or an integer"),
        "PERFORMANCE_HINT": (
            r"(latency|throughput|cumulative_throughput)$",
            "LATENCY, THROUGHPUT or CUMULATIVE_THROUGHPUT",
        ),
    },
}


def parameter_faults(config: Config) -> Iterator[ConfigFault]:
    """The findings about parameters that the backend cannot parse."""
    for name, (pattern, expected) in PARAMETERS.get(config.backend, {}).items():
        if name not in config.message.parameters:
            continue
        value = config.message.parameters[name].string_value
        if (value or config.backend == "onnxruntime") and not re.match(pattern, value.lower()):
            span = config.places.of_key((), "parameters", name)
            yield refused(span, f"the parameter {name} is `{value}`, and has to be {expected}", "correct the value")


def accelerator_faults(config: Config) -> Iterator[ConfigFault]:
    """The findings about CPU accelerators that the ONNX Runtime backend does not have."""
    accelerators = config.message.optimization.execution_accelerators.cpu_execution_accelerator
    for at, each in enumerate(accelerators if config.backend == "onnxruntime" else ()):
        if each.name != "openvino":
            path = ("optimization", 0, "execution_accelerators", 0, "cpu_execution_accelerator", at)
            text = f"there is no accelerator `{each.name}` for instances on the CPU"
            yield refused(config.at(*path, "name", 0), text, "write `openvino`, or remove it")


def optional_faults(config: Config) -> Iterator[ConfigFault]:
    """The findings about optional inputs, which the OpenVINO backend does not support."""
    for at, each in enumerate(config.message.input if config.backend == "openvino" else ()):
        if each.optional:
            text = f"input `{each.name}` is optional, which the openvino backend does not have"
            yield refused(config.at("input", at, "optional", 0), text, "remove it")
