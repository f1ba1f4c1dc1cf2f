"""Builds the messages and enums of Triton's ``model_config.proto``."""

from __future__ import annotations

from functools import cache

from irlint.lazy_typing import Any

#: The names of the values of each enum, from value 0.
ENUMS = {
    "DataType": "TYPE_INVALID TYPE_BOOL TYPE_UINT8 TYPE_UINT16 TYPE_UINT32 TYPE_UINT64 TYPE_INT8 TYPE_INT16 TYPE_INT32 "
    "TYPE_INT64 TYPE_FP16 TYPE_FP32 TYPE_FP64 TYPE_STRING TYPE_BF16",
    "Format": "FORMAT_NONE FORMAT_NHWC FORMAT_NCHW",
    "InstanceKind": "KIND_AUTO KIND_GPU KIND_CPU KIND_MODEL",
    "SecondaryDeviceKind": "KIND_NVDLA",
    "BatchInputKind": "BATCH_ELEMENT_COUNT BATCH_ACCUMULATED_ELEMENT_COUNT BATCH_ACCUMULATED_ELEMENT_COUNT_WITH_ZERO "
    "BATCH_MAX_ELEMENT_COUNT_AS_SHAPE BATCH_ITEM_SHAPE BATCH_ITEM_SHAPE_FLATTEN",
    "BatchOutputKind": "BATCH_SCATTER_WITH_INPUT_SHAPE",
    "ModelPriority": "PRIORITY_DEFAULT PRIORITY_MAX PRIORITY_MIN",
    "TimeoutAction": "REJECT DELAY",
    "ControlKind": "CONTROL_SEQUENCE_START CONTROL_SEQUENCE_READY CONTROL_SEQUENCE_END CONTROL_SEQUENCE_CORRID",
}

#: The fields of each message as ``name:type``. ``*`` marks a repeated field, ``key>value`` a map, and the name after
#: ``|`` is the oneof group.
MESSAGES = {
    "Resource": "name:string global:bool count:uint32",
    "ModelRateLimiter": "resources:Resource* priority:uint32",
    "SecondaryDevice": "kind:SecondaryDeviceKind device_id:int64",
    "ModelInstanceGroup": "name:string kind:InstanceKind count:int32 rate_limiter:ModelRateLimiter gpus:int32* "
    "secondary_devices:SecondaryDevice* profile:string* passive:bool host_policy:string",
    "ModelTensorReshape": "shape:int64*",
    "ModelInput": "name:string data_type:DataType format:Format dims:int64* reshape:ModelTensorReshape "
    "is_shape_tensor:bool allow_ragged_batch:bool optional:bool is_non_linear_format_io:bool",
    "ModelOutput": "name:string data_type:DataType dims:int64* reshape:ModelTensorReshape label_filename:string "
    "is_shape_tensor:bool is_non_linear_format_io:bool",
    "BatchInput": "kind:BatchInputKind target_name:string* data_type:DataType source_input:string*",
    "BatchOutput": "target_name:string* kind:BatchOutputKind source_input:string*",
    "Latest": "num_versions:uint32",
    "All": "",
    "Specific": "versions:int64*",
    "ModelVersionPolicy": "latest:Latest|policy_choice all:All|policy_choice specific:Specific|policy_choice",
    "Graph": "level:int32",
    "Shape": "dim:int64*",
    "LowerBound": "batch_size:int32 input:string>Shape",
    "GraphSpec": "batch_size:int32 input:string>Shape graph_lower_bound:LowerBound",
    "Cuda": "graphs:bool busy_wait_events:bool graph_spec:GraphSpec* output_copy_stream:bool",
    "Accelerator": "name:string parameters:string>string",
    "ExecutionAccelerators": "gpu_execution_accelerator:Accelerator* cpu_execution_accelerator:Accelerator*",
    "PinnedMemoryBuffer": "enable:bool",
    "ModelOptimizationPolicy": "graph:Graph priority:ModelPriority cuda:Cuda "
    "execution_accelerators:ExecutionAccelerators input_pinned_memory:PinnedMemoryBuffer "
    "output_pinned_memory:PinnedMemoryBuffer gather_kernel_buffer_threshold:uint32 eager_batching:bool",
    "ModelQueuePolicy": "timeout_action:TimeoutAction default_timeout_microseconds:uint64 allow_timeout_override:bool "
    "max_queue_size:uint32",
    "ModelDynamicBatching": "preferred_batch_size:int32* max_queue_delay_microseconds:uint64 preserve_ordering:bool "
    "priority_levels:uint64 default_priority_level:uint64 default_queue_policy:ModelQueuePolicy "
    "priority_queue_policy:uint64>ModelQueuePolicy",
    "Control": "kind:ControlKind int32_false_true:int32* fp32_false_true:float* bool_false_true:bool* "
    "data_type:DataType",
    "ControlInput": "name:string control:Control*",
    "InitialState": "data_type:DataType dims:int64* zero_data:bool|state_data data_file:string|state_data name:string",
    "State": "input_name:string output_name:string data_type:DataType dims:int64* initial_state:InitialState* "
    "use_same_buffer_for_input_output:bool use_growable_memory:bool",
    "StrategyDirect": "max_queue_delay_microseconds:uint64 minimum_slot_utilization:float",
    "StrategyOldest": "max_candidate_sequences:int32 preferred_batch_size:int32* max_queue_delay_microseconds:uint64 "
    "preserve_ordering:bool",
    "ModelSequenceBatching": "direct:StrategyDirect|strategy_choice oldest:StrategyOldest|strategy_choice "
    "max_sequence_idle_microseconds:uint64 control_input:ControlInput* state:State* iterative_sequence:bool",
    "Step": "model_name:string model_version:int64 input_map:string>string output_map:string>string "
    "model_namespace:string",
    "ModelEnsembling": "step:Step* max_inflight_requests:uint32",
    "ModelParameter": "string_value:string",
    "WarmupInput": "data_type:DataType dims:int64* zero_data:bool|input_data_type random_data:bool|input_data_type "
    "input_data_file:string|input_data_type",
    "ModelWarmup": "name:string batch_size:uint32 inputs:string>WarmupInput count:uint32",
    "ModelOperations": "op_library_filename:string*",
    "ModelTransactionPolicy": "decoupled:bool",
    "Agent": "name:string parameters:string>string",
    "ModelRepositoryAgents": "agents:Agent*",
    "ModelResponseCache": "enable:bool",
    "MetricIdentifier": "family:string",
    "HistogramOptions": "buckets:double*",
    "MetricControl": "metric_identifier:MetricIdentifier histogram_options:HistogramOptions|metric_options",
    "ModelMetrics": "metric_control:MetricControl*",
    "ModelConfig": "name:string platform:string backend:string runtime:string version_policy:ModelVersionPolicy "
    "max_batch_size:int32 input:ModelInput* output:ModelOutput* batch_input:BatchInput* batch_output:BatchOutput* "
    "optimization:ModelOptimizationPolicy dynamic_batching:ModelDynamicBatching|scheduling_choice "
    "sequence_batching:ModelSequenceBatching|scheduling_choice ensemble_scheduling:ModelEnsembling|scheduling_choice "
    "instance_group:ModelInstanceGroup* default_model_filename:string cc_model_filenames:string>string "
    "metric_tags:string>string parameters:string>ModelParameter model_warmup:ModelWarmup* "
    "model_operations:ModelOperations model_transaction_policy:ModelTransactionPolicy "
    "model_repository_agents:ModelRepositoryAgents response_cache:ModelResponseCache model_metrics:ModelMetrics",
}


@cache
def model_config() -> Any:
    """The protobuf class of the message ``ModelConfig``."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    file = descriptor_pb2.FileDescriptorProto(name="irlint/model_config.proto", package="inference", syntax="proto3")
    for name, values in ENUMS.items():
        enum = file.enum_type.add(name=name)
        for number, value in enumerate(values.split()):
            enum.value.add(name=value, number=number)
    for name, fields in MESSAGES.items():
        message = file.message_type.add(name=name)
        for number, field in enumerate(fields.split(), 1):
            _add(message, number, *field.split(":"))
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("inference.ModelConfig"))


def _add(message: Any, number: int, name: str, given: str) -> None:
    kind, _, group = given.partition("|")
    field = message.field.add(name=name, number=number, label=3 if kind[-1] == "*" or ">" in kind else 1)
    key, arrow, value = kind.rstrip("*").partition(">")
    if arrow:
        entry = message.nested_type.add(name=f"{name.title().replace('_', '')}Entry")
        entry.options.map_entry = True
        _add(entry, 1, "key", key)
        _add(entry, 2, "value", value)
        field.type, field.type_name = field.TYPE_MESSAGE, f".inference.{message.name}.{entry.name}"
    elif key in MESSAGES:
        field.type, field.type_name = field.TYPE_MESSAGE, f".inference.{key}"
    elif key in ENUMS:
        field.type, field.type_name = field.TYPE_ENUM, f".inference.{key}"
    else:
        field.type = getattr(field, f"TYPE_{key.upper()}")
    if group:
        groups = [each.name for each in message.oneof_decl]
        if group not in groups:
            message.oneof_decl.add(name=group)
            groups.append(group)
        field.oneof_index = groups.index(group)


def enum_values(name: str) -> list[str]:
    """The names of the values of an enum, in the order of their numbers."""
    return ENUMS[name].split()


def value_name(enum: str, number: int) -> str:
    """The name of an enum value. For an unknown value, which protobuf allows, its number as text."""
    names = enum_values(enum)
    return names[number] if 0 <= number < len(names) else str(number)
