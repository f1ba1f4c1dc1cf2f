"""The runtimes that models are judged for: what holds for every release of each of them.

A target is data. What its releases take is in the table ``measured/NAME.z``, whose facts are

* ``ir 9`` and ``opset DOMAIN 17``: a version of ONNX that the release reads;
* ``input TYPE``, ``initializer TYPE``, ``value TYPE``: an element type of graph inputs, of initializers, of what nodes
  give. Without facts of a kind, nothing is refused for it;
* ``op DOMAIN:OP VERSIONS CONSTRAINT=TYPE;TYPE``: an operator that the release has. VERSIONS is a list of ``13``,
  ``7-13``, or ``*`` for every version; a constraint is a type variable or the name of a formal in the schema, or the
  index of an input. Of several rows one has to fit. The domain of an operation of an IR is ``opset``, its version the
  number of that;
* ``schema DOMAIN:OP SINCE REMOVED``: the versions of the operator that the release knows, where these decide. Without
  such facts it has those that ONNX has at its opset;
* ``attribute DOMAIN:OP NAME`` and ``counts DOMAIN:OP INPUTS OUTPUTS``: what an operator of ONNX Runtime's own has in
  the release, the numbers as the least and the greatest, where its schema in ``irlint.schemas`` has it otherwise;
* ``lacks DOMAIN:OP``: the release refuses the operator, for ``Runtime.is_complete = False`` alone;
* ``refuses DOMAIN:OP CONDITION & CONDITION``: a node for which all of these conditions hold is refused, though the
  release has the operator; ``doubts`` instead: it is not known; ``fails``: the model is loaded, and the node fails when
  it runs. ``conditions.py`` lists the conditions;
* ``passes-over BODY node`` and ``passes-over BODY operator``: the release reads the model though it refuses a node in
  such a body, or has no such operator; BODY is the name of an attribute, or ``dead`` for a branch that never runs;
* ``no-functions``, ``no-empty-inputs``, ``no-early-outputs``, ``no-spelled-domains``: the release refuses calls of
  functions of the model, inputs of the model with a size of 0, outputs of the model that a node takes before the node
  that gives them, and nodes whose domain is written ``ai.onnx``; ``no-sparse-initializers``, ``no-sparse-outputs`` and
  ``no-sparse-types``: sparse initializers that nodes take or that are outputs, and outputs of a sparse type;
* ``drops DOMAIN:OP attributes`` and ``drops DOMAIN:OP inputs``: the release passes over those that the operator does
  not have at the opset of the model;
* ``reads CODE`` and ``reads DOMAIN:OP CODE,CODE``: the release reads models with such an error of the check, anywhere
  or at nodes of the operator. For errors about element types, and about inputs and attributes, the name of the family
  stands in place of the code; ``rejects`` instead: it refuses each of them;
* ``leaves DOMAIN:OP CONDITION & CONDITION``: such a node stays on the CPU, for ``Runtime.falls_back`` alone.

To add a target, write its table with a module in ``tests/make/measuring`` that gives the facts of a release
(``tests/make/targets.py`` calls it), add a ``Runtime`` to ``RUNTIMES``, and name it in ``runtimes`` of the ``Format``
in ``irlint/model/formats.py``. No code of its own is needed, unless a condition is missing.
"""

from __future__ import annotations

from collections.abc import Mapping

from irlint.records import NOTHING, record
from irlint.schemas import MICROSOFT, NCHWC, OFFICIAL_DOMAINS


@record
class Runtime:
    """What holds for every release of a runtime.

    ``table`` is the name of its facts. ``stage`` is the furthest stage that was measured, "" where only the vendor's
    list says what there is. ``part`` is what a release has for an operator; ``says`` is who refuses, ``accepts`` the
    verb for versions. ``domains`` are those whose operators were asked about; ``custom`` says when it takes one of
    another domain, ``advice`` what to do. ``is_complete``: what no row has is refused, else it is unknown.

    ``inlines``: a node without a kernel is replaced by the function that stands for its operator. ``lax`` are the
    releases that do so though an operator in it changed. ``casts`` are the element types that stand for others.
    ``removes`` are operators that may be taken away first, and ``free`` those that need nothing, in any domain.
    ``drops_dead``: nodes in branches that never run may be taken away first; ``skips_dead``: they are not judged.
    ``falls_back``: the release takes nodes of a model that ONNX Runtime runs, and what it does not take stays on the
    CPU.
    """

    table: str
    stage: str = ""
    part: str = "kernel"
    says: str = "the release"
    accepts: str = "takes"
    domains: tuple[str, ...] = ("",)
    custom: str = "which a release takes where its library is registered"
    advice: str = "load the model once with the release itself"
    is_complete: bool = True
    inlines: bool = False
    lax: frozenset[str] = frozenset()
    casts: Mapping[str, str] = NOTHING
    removes: tuple[str, ...] = ()
    falls_back: bool = False
    free: tuple[str, ...] = ()
    drops_dead: bool = False
    skips_dead: bool = False

    @property
    def is_measured(self) -> bool:
        """Whether the releases were asked themselves."""
        return self.stage != ""


#: When a release takes a custom operator.
BY_EXTENSION = "which a release reads where an extension is registered"
BY_PLUGIN = "which a release takes where a plugin is registered"

#: By the names that ``Format.runtimes`` and ``Rule.refused`` use.
RUNTIMES: Mapping[str, Runtime] = {
    "onnxruntime": Runtime(
        "onnxruntime",
        stage="loaded",
        part="CPU kernel",
        domains=(*OFFICIAL_DOMAINS, MICROSOFT, NCHWC),
        advice="register the library of the operator, and load the model once",
        inlines=True,
        lax=frozenset({"1.15", "1.16"}),
        casts={"float16": "float32"},
        removes=("Identity",),
        free=("Constant",),
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
        free=("Constant",),
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
