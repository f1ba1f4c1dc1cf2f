"""Reads the function bodies of ONNX operators from the installed ``onnx`` package, and infers the types in them."""

from __future__ import annotations

from irlint.lazy_typing import Any
from irlint.model import Graph
from irlint.model.tensor import Type
from irlint.ops.shared.type_variables import type_key
from irlint.schemas import official
from irlint.targets.uses import OMITTED, Use, uses

#: The domain of the function in a model that calls it.
_OWN = "irlint.body"


def known() -> bool:
    """Whether the package ``onnx`` is installed."""
    try:
        import onnx  # noqa: F401
    except ImportError:
        return False
    return True


def body(use: Use, version: int, *, lenient: bool = False) -> list[Use] | None:
    """The uses of operators in the function body of the operator of ``use``; None if no body is valid for its types.

    Unless ``lenient``, a body is valid only if its operators have the same versions at the opset of the model.
    """
    import onnx.defs

    node = use.node
    opset = use.version if isinstance(use.version, int) else version
    try:
        schema: Any = onnx.defs.get_schema(node.op, min(opset, 1 << 30), node.domain)
    except onnx.defs.SchemaError:
        return None
    if not (schema.has_function or schema.has_context_dependent_function) or schema.since_version != version:
        return None
    if any(each is None for each in use.inputs):
        return None
    function = _function_proto(schema, use, opset, lenient=lenient)
    if function is None:
        return None
    return _uses_in(function, use, schema)


def _function_proto(schema: Any, use: Use, opset: int, *, lenient: bool) -> Any:
    import onnx

    versions = schema.context_dependent_function_opset_versions or schema.function_opset_versions
    written = max((each for each in versions if each <= opset), default=0)
    if not written:
        return None
    function = onnx.FunctionProto()
    if schema.has_context_dependent_function:
        types = [
            _type_proto(use.types.get(each) if each is not None else None, text)
            for each, text in zip(use.node.inputs, use.inputs)
        ]
        given = [each.SerializeToString() for each in types]
        try:
            data = schema.get_context_dependent_function_with_opset_version(
                written, _node_proto(use).SerializeToString(), given
            )
        except (RuntimeError, IndexError, ValueError):
            return None
        function.ParseFromString(data)
    else:
        function.ParseFromString(schema.get_function_with_opset_version(written))
        if not lenient and not _has_same_versions(function, written, opset):
            return None
    for entry in function.opset_import:
        entry.version = opset if entry.domain == "" else entry.version
    return function if function.node else None


def _has_same_versions(function: Any, written: int, opset: int) -> bool:
    names = {node.op_type for node in function.node if node.domain in ("", "ai.onnx")}
    return all(official(name, written, "") is official(name, opset, "") for name in names)


def _uses_in(function: Any, use: Use, schema: Any) -> list[Use] | None:
    """The uses of operators in a function, for the types of ``use``; None if the function does not accept these
    types."""
    import onnx

    from irlint.inference.walk import inferred
    from irlint.parsers.onnx import read

    function.domain, function.name = _OWN, "Body"
    call = _node_proto(use)
    call.op_type, call.domain = "Body", _OWN
    given = {attribute.name for attribute in call.attribute}
    call.attribute.extend(
        each.default_value for name, each in schema.attributes.items() if name not in given and each.default_value.type
    )
    while len(call.output) < len(function.output):
        call.output.append("")
    opset = max((each.version for each in function.opset_import if each.domain == ""), default=1)
    graph = onnx.GraphProto(name="g", node=[call])
    for value, text in zip(use.node.inputs, use.inputs):
        if value is not None:
            graph.input.append(onnx.ValueInfoProto(name=value.name, type=_type_proto(use.types.get(value), text)))
    imports = [onnx.OperatorSetIdProto(domain="", version=opset), onnx.OperatorSetIdProto(domain=_OWN, version=1)]
    model = onnx.ModelProto(ir_version=8, graph=graph, opset_import=imports, functions=[function])
    known = inferred(read("", model.SerializeToString()))
    if any(each.is_error and each.fault.rule.family == "element-types" for each in known.problems):
        return None
    return uses(known)


def _node_proto(use: Use) -> Any:
    """The node of ``use`` as a NodeProto. Tensors in attributes are omitted, and bodies contain only Identity nodes."""
    import onnx.helper

    node = use.node
    made = onnx.NodeProto(op_type=node.op, domain=node.domain, name=node.name)
    made.input.extend("" if value is None else value.name for value in node.inputs)
    made.output.extend("" if value is None else value.name for value in node.outputs)
    for name, attribute in node.attributes.items():
        found = use.scope.get(attribute.reference) if attribute.reference is not None else attribute
        if found is not None and found.kind in ("INT", "FLOAT", "STRING", "INTS", "FLOATS", "STRINGS"):
            kind = getattr(onnx.AttributeProto, found.kind)
            made.attribute.append(onnx.helper.make_attribute(name, found.value, attr_type=kind))
        elif found is not None and found.kind == "GRAPH":
            made.attribute.append(onnx.helper.make_attribute(name, _graph_proto_without_nodes(found.value, use)))
    return made


def _graph_proto_without_nodes(graph: Graph, use: Use) -> Any:
    import onnx

    made = onnx.GraphProto(name=graph.name or "body")
    for value in graph.inputs:
        known = use.types.get(value)
        made.input.append(onnx.ValueInfoProto(name=value.name, type=_type_proto(known, type_key(known))))
    for value in graph.outputs:
        if graph.inputs:
            made.node.append(onnx.NodeProto(op_type="Identity", input=[graph.inputs[0].name], output=[value.name]))
        made.output.append(onnx.ValueInfoProto(name=value.name))
    return made


def _type_proto(known: Type | None, text: str | None) -> Any:
    import onnx

    from irlint.model.tensor import NUMBERED_TYPES, Tensor

    made = onnx.TypeProto()
    if text in (None, OMITTED):
        return made
    if text in NUMBERED_TYPES:
        made.tensor_type.elem_type = NUMBERED_TYPES.index(text) + 1
        if isinstance(known, Tensor) and known.shape is not None:
            for dim in known.shape:
                entry = made.tensor_type.shape.dim.add()
                if isinstance(dim, int):
                    entry.dim_value = dim
    elif text.startswith("seq("):
        made.sequence_type.elem_type.CopyFrom(_type_proto(None, text[4:-1]))
    elif text.startswith("optional("):
        made.optional_type.elem_type.CopyFrom(_type_proto(None, text[9:-1]))
    return made
