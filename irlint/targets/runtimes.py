"""Lists the runtimes, with the properties that all releases of a runtime share.

The table ``measured/NAME.z`` has the facts about each release:

* ``ir 9`` and ``opset DOMAIN 17``: a version of ONNX that the release reads; * ``input TYPE``, ``initializer TYPE``,
``value TYPE``: an element type of graph inputs, of initializers, of outputs of nodes. A table without facts of one kind
refuses no type there; * ``op DOMAIN:OP VERSIONS CONSTRAINT=TYPE;TYPE``: an operator of the release. VERSIONS is a list
of ``13`` or ``7-13``, or ``*`` for all versions. CONSTRAINT is a type variable, the name of a formal in the schema, or
the index of an input. One of several rows must fit. Operations of an IR have the domain ``opset`` and its number as
their version; * ``schema DOMAIN:OP SINCE REMOVED``: a version of the operator that the release knows. Without such
facts, the release knows the versions that ONNX has at its opset; * ``attribute DOMAIN:OP NAME`` and ``counts DOMAIN:OP
LEAST_INPUTS MOST_INPUTS LEAST_OUTPUTS MOST_OUTPUTS``: how an operator of ONNX Runtime differs from its schema in
``irlint.schemas``; * ``lacks DOMAIN:OP``: the release refuses the operator. Only for ``Runtime.is_complete = False``; *
``refuses DOMAIN:OP CONDITION & CONDITION``: the release refuses a node if all these conditions hold. ``conditions.py``
lists the conditions. ``doubts`` instead of ``refuses`` means that the result is unknown. ``fails`` means that the
release loads the model, but the node fails when it runs; * ``passes-over BODY node`` and ``passes-over BODY operator``:
in this kind of body, the release accepts a node that it refuses elsewhere, or an operator that it lacks. BODY is the
name of the attribute with the body, or ``dead`` for a branch that never runs; * ``no-functions``: the release refuses
calls of functions of the model; * ``no-empty-inputs``: the release refuses inputs of the model with a size of 0; *
``no-early-outputs``: the release refuses a node that uses an output of the model before another node computes it; *
``no-spelled-domains``: the release refuses nodes whose domain is written ``ai.onnx``; * ``no-sparse-initializers``,
``no-sparse-outputs`` and ``no-sparse-types``: the release refuses sparse initializers that nodes use, sparse
initializers that are outputs, and outputs of a sparse type; * ``drops DOMAIN:OP attributes`` and ``drops DOMAIN:OP
inputs``: the release ignores attributes or inputs that the operator does not have at the opset of the model; * ``reads
CODE``: the release reads models with an error of this code. ``reads DOMAIN:OP CODE,CODE``: only if the error is at a
node of the operator. A family name replaces the codes of errors about element types, inputs and attributes. ``rejects``
instead of ``reads`` means that the release refuses these models; * ``leaves DOMAIN:OP CONDITION & CONDITION``: a node
stays on the CPU if all these conditions hold. Only for ``Runtime.falls_back``.

To add a target, write a module in ``tests/make/measuring`` that returns the facts of a release, and call it in
``tests/make/targets.py``. Add a ``Runtime`` to ``RUNTIMES``, and name it in ``runtimes`` of the ``Format`` in
``irlint/model/formats.py``.
"""

from __future__ import annotations

from collections.abc import Mapping

from irlint.records import NOTHING, record
from irlint.schemas import MICROSOFT, NCHWC, OFFICIAL_DOMAINS


@record
class Runtime:
    """The properties that all releases of a runtime share."""

    #: The name of the table.
    table: str
    #: The furthest measured stage; "" if the table comes from the vendor's list.
    stage: str = ""
    #: The words in messages for what implements an operator, for who refuses a model, and for accepting a version.
    part: str = "kernel"
    says: str = "the release"
    accepts: str = "takes"
    #: The domains whose operators were measured.
    domains: tuple[str, ...] = ("",)
    #: The words about operators of other domains, and the help.
    custom: str = "which a release takes where its library is registered"
    advice: str = "load the model once with the release itself"
    #: Whether operators without a row are refused; if False, they are unknown.
    is_complete: bool = True
    #: Whether a function body replaces a node without a kernel.
    inlines: bool = False
    #: The releases that accept a function body whose operators have other versions at the opset.
    lenient: frozenset[str] = frozenset()
    #: The element types that the runtime casts, each with the type to which it casts.
    casts: Mapping[str, str] = NOTHING
    #: Operators that the runtime may remove before it checks them.
    removable: tuple[str, ...] = ()
    #: Whether ONNX Runtime runs nodes on the CPU that the release does not run.
    falls_back: bool = False
    #: Operators that need no kernel, in any domain.
    built_in: tuple[str, ...] = ()
    #: Whether the runtime may remove nodes in branches that never run before it checks them.
    drops_dead: bool = False
    #: Whether nodes in branches that never run are not checked.
    skips_dead: bool = False

    @property
    def is_measured(self) -> bool:
        """Whether the table comes from measurements."""
        return self.stage != ""


BY_EXTENSION = "which a release reads where an extension is registered"
BY_PLUGIN = "which a release takes where a plugin is registered"

#: The runtimes by the names in ``Format.runtimes`` and ``Rule.refused``.
RUNTIMES: Mapping[str, Runtime] = {
    "onnxruntime": Runtime(
        "onnxruntime",
        stage="loaded",
        part="CPU kernel",
        domains=(*OFFICIAL_DOMAINS, MICROSOFT, NCHWC),
        advice="register the library of the operator, and load the model once",
        inlines=True,
        lenient=frozenset({"1.15", "1.16"}),
        casts={"float16": "float32"},
        removable=("Identity",),
        built_in=("Constant",),
        drops_dead=True,
    ),
    "openvino_frontend": Runtime(
        "openvino",
        stage="read",
        part="converter",
        domains=(*OFFICIAL_DOMAINS, MICROSOFT, NCHWC, "org.openvinotoolkit"),
        custom=BY_EXTENSION,
        advice="register the extension, and read the model once",
    ),
    "openvino_ir": Runtime(
        "openvino-ir",
        stage="read",
        part="operation of this name in that opset",
        custom=BY_EXTENSION,
        advice="register the extension, and read the model once",
    ),
    "tensorrt": Runtime(
        "tensorrt",
        part="entry in the vendor's list",
        says="the vendor's list",
        accepts="covers",
        custom=BY_PLUGIN,
        advice="register the plugin, and build the engine once",
        skips_dead=True,
    ),
    "qnn": Runtime(
        "qnn",
        stage="compiled",
        part="builder in the provider",
        says="the compiler for HTP architecture 73 and soc_model=60",
        advice="load the model once with the provider",
        domains=(*OFFICIAL_DOMAINS, MICROSOFT, NCHWC),
        built_in=("Constant",),
        skips_dead=True,
        falls_back=True,
    ),
    "tensorrt_rtx": Runtime(
        "tensorrt-rtx",
        stage="read",
        part="importer in the parser",
        domains=(*OFFICIAL_DOMAINS, MICROSOFT, NCHWC),
        custom=BY_PLUGIN,
        advice="parse the model once with the release itself",
        is_complete=False,
        skips_dead=True,
    ),
}
