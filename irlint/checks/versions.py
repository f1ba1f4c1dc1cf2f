"""Checks the IR version and the opset imports of an ONNX model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from irlint.binding.calls import MISSING_OPSET_IMPORT
from irlint.findings.faults import Fault, Rule, Severity, refused
from irlint.inference.known import Known
from irlint.model import Model, Problem
from irlint.model.order import graphs, has_only_constants
from irlint.records import NOTHING
from irlint.schemas import IR_VERSIONS, OFFICIAL_DOMAINS, installed_opset, latest_opset
from irlint.targets.newest import RUNTIME, RUNTIME_IR_VERSION, RUNTIME_OPSETS

MISSING_IR_VERSION = Rule(
    "IRL802",
    "missing-ir-version",
    Severity.ERROR,
    "The ONNX model does not state its IR version.",
    why="The IR version determines how the file is read. The ONNX checker and ONNX Runtime refuse a model without it.",
    fix="Set `ir_version`, 8 or later for a current model.",
    refused=(refused("onnxruntime"),),
    fixable=True,
)


OPSET_TOO_NEW = Rule(
    "IRL803",
    "opset-too-new",
    Severity.ERROR,
    "The model imports an opset that no release of ONNX Runtime accepts.",
    why=(
        "ONNX Runtime refuses a model with an opset above its limit, even if it knows all operators of the model. If "
        "the `onnx` package already has the opset and only ONNX Runtime does not, irlint warns."
    ),
    fix="Convert the model to an older opset with onnx.version_converter, or export it for an older opset.",
    bad="""<ir_version: 8, opset_import: ["" : 999]>
g (float[2,3] x) => (float[2,3] y) { y = Relu (x) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) { y = Relu (x) }""",
    role="opset",
    fixable=True,
)


IR_VERSION_TOO_NEW = Rule(
    "IRL805",
    "ir-version-too-new",
    Severity.ERROR,
    "The model has an IR version that no release of ONNX Runtime accepts.",
    why=(
        "ONNX Runtime and the ONNX checker each have a limit for the IR version, and refuse a model above it. The "
        "default IR version of the `onnx` package is often one above the limit of ONNX Runtime; in that case, irlint "
        "warns."
    ),
    fix="Save the model with an older `ir_version`: most models use nothing of the newest version.",
    bad="""<ir_version: 99, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) { y = Relu (x) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) { y = Relu (x) }""",
    fixable=True,
)


DUPLICATE_IMPORT = Rule(
    "IRL806",
    "duplicate-opset-import",
    Severity.WARNING,
    "The model imports one domain more than once.",
    why=(
        "A model should import each domain once, with one version. ONNX Runtime uses the last entry; other readers "
        "may use the first. If all versions are equal, this is a note."
    ),
    fix="Keep only the version for which the nodes were written.",
    bad="""<ir_version: 8, opset_import: ["" : 17, "" : 13]>
g (float[2,3] x) => (float[2,3] y) { y = Relu (x) }""",
    good="""<ir_version: 8, opset_import: ["" : 13]>
g (float[2,3] x) => (float[2,3] y) { y = Relu (x) }""",
    fixable=True,
)


IR_VERSION_TOO_OLD = Rule(
    "IRL807",
    "ir-version-too-old",
    Severity.WARNING,
    "The IR version of the model is older than a feature that the model uses.",
    why=(
        "Models import opsets since IR version 3. The ONNX checker refuses an import in a model of an older version. "
        "Each opset was released together with an IR version. Runtimes also load the opset with an older IR version, "
        "so that case is only a note."
    ),
    fix="Set `ir_version` to the version in the message.",
    bad="""<ir_version: 2, opset_import: ["" : 7]>
g (float[2,3] x) => (float[2,3] y) { y = Add (x, x) }""",
    good="""<ir_version: 3, opset_import: ["" : 7]>
g (float[2,3] x) => (float[2,3] y) { y = Add (x, x) }""",
)


OPSET_BELOW_ONE = Rule(
    "IRL810",
    "opset-below-one",
    Severity.ERROR,
    "The model or a function imports an opset with a version below 1.",
    why=(
        "Versions start at 1, and no operator has an earlier version. Runtimes refuse nodes of such a domain. If "
        "neither ONNX nor ONNX Runtime defines the domain, this is a note."
    ),
    fix="Import the opset for which the nodes were written.",
    bad="""<ir_version: 8, opset_import: ["" : 0]>
g (float[2,3] x) => (float[2,3] y) { y = Relu (x) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) { y = Relu (x) }""",
    role="opset",
    refused=(refused("onnxruntime"),),
)


#: The newest IR version that onnx 1.23 writes.
NEWEST_IR_VERSION = 14

#: The first IR version in which a model imports opsets, and the last opset before ONNX Runtime's operators begin.
FIRST_WITH_IMPORTS = 3
LAST_EARLY_OPSET = 6

#: The first opset in which an operator is newer than ONNX Runtime's last kernel of it.
FIRST_AHEAD = 22


def problems(known: Known) -> list[Problem]:
    """The problems of the IR version and of the opsets that a model and its functions import."""
    model = known.model
    found = [Problem(each, domain="" if each.rule is MISSING_OPSET_IMPORT else None) for each in _ir_version(model)]
    found += [Problem(fault) for fault in _imported_twice(model)]
    used = _used(model)
    found += _opsets(model.imports, "", used)
    for function in model.functions.values():
        found += _opsets(function.imports, function.graph.path, frozenset(), model.opsets)
    another = None
    if any(problem.is_error for problem in known.problems):
        from irlint.inference.opsets import of_another_opset

        others = of_another_opset(known)
        another = next((each for each in others if each.domain == ""), None)
        found += others
    return [*found, *(Problem(fault, because=another) for fault in _without_kernel(model))]


def _without_kernel(model: Model) -> list[Fault]:
    """The faults of operators in versions for which ONNX Runtime has no kernel: older than its first kernel, or newer
    than its last one."""
    found: list[Fault] = []
    if model.imports and min(_default_opsets(model), default=LAST_EARLY_OPSET + 1) <= LAST_EARLY_OPSET:
        from irlint.checks.early_opsets import without_kernel

        found += without_kernel(model, RUNTIME)
    if max(_default_opsets(model), default=0) >= FIRST_AHEAD:
        from irlint.checks.early_opsets import kernel_ended

        found += kernel_ended(model, RUNTIME)
    return found


def _default_opsets(model: Model) -> Iterator[int]:
    """The opsets of ai.onnx that the model and its functions use."""
    for opsets in (model.opsets, *(function.opsets for function in model.functions.values())):
        if "" in opsets:
            yield opsets[""]


def _used(model: Model) -> frozenset[str]:
    """The domains of the nodes of a model that imports a version below 1; an empty set for other models. Constants of
    the main graph need no version and are omitted."""
    if all(version > 0 for _, version in model.imports):
        return frozenset()
    return frozenset(
        node.domain for graph in graphs(model) for node in graph.nodes if graph.path or node.op != "Constant"
    )


def _ir_version(model: Model) -> Iterator[Fault]:
    """The faults of the IR version, and of a model that has to import opsets but does not."""
    if model.format_version is None:
        yield MISSING_IR_VERSION.fault("the model has no ir_version", help="set ir_version, for example to 8")
        return
    version = int(model.format_version)
    if version > RUNTIME_IR_VERSION:
        yield _ir_version_too_new(version)
    if version == 0:
        yield MISSING_IR_VERSION.fault(
            "the ir_version is 0, as if it were not set; ONNX Runtime accepts it, and the ONNX checker refuses it",
            help="set ir_version, for example to 8",
            severity=Severity.WARNING,
        )
    elif version < FIRST_WITH_IMPORTS and model.imports:
        yield IR_VERSION_TOO_OLD.fault(
            f"the model has IR version {version} but imports opsets, which exist since IR version "
            f"{FIRST_WITH_IMPORTS}; the ONNX checker refuses it",
            help=f"set ir_version to {FIRST_WITH_IMPORTS} or later",
        )
    elif version >= FIRST_WITH_IMPORTS and not model.imports and has_only_constants(model.graph):
        yield MISSING_OPSET_IMPORT.fault(
            "the model imports no opset, so ONNX Runtime refuses it",
            help="import the opset of ai.onnx for which the nodes were written",
        )
    elif version >= FIRST_WITH_IMPORTS:
        yield from _older_than_its_opset(version, model.opsets.get("", 0))
    if not model.imports and version < FIRST_WITH_IMPORTS:
        yield MISSING_OPSET_IMPORT.fault(
            f"the model imports no opset, so its nodes are of opset 1 in IR version {version}; ONNX Runtime refuses it",
            help="set ir_version to 3 or later, and import the opset of ai.onnx for which the nodes were written",
        )


def _ir_version_too_new(version: int) -> Fault:
    """The fault of an IR version above the limit of ONNX Runtime; a warning if the newest onnx writes it."""
    advice = f"set ir_version to {RUNTIME_IR_VERSION}"
    limit = f"ONNX Runtime {RUNTIME} accepts IR version {RUNTIME_IR_VERSION} at most"
    text = f"the model has IR version {version}; {limit}"
    if version <= NEWEST_IR_VERSION:
        return IR_VERSION_TOO_NEW.fault(text, help=f"{advice}: the model needs no newer one", severity=Severity.WARNING)
    if NEWEST_IR_VERSION > RUNTIME_IR_VERSION:
        text += f", and onnx {NEWEST_IR_VERSION}"
    return IR_VERSION_TOO_NEW.fault(text, help=f"{advice} or older")


def _older_than_its_opset(version: int, opset: int) -> Iterator[Fault]:
    """The note that the IR version is older than the IR version with which the opset was released."""
    first = next((since for since in IR_VERSIONS if since <= opset), 0)
    if first and version < IR_VERSIONS[first] and opset <= RUNTIME_OPSETS[""]:
        yield IR_VERSION_TOO_OLD.fault(
            f"the model has IR version {version} and imports opset {opset} of ai.onnx, which came with IR version "
            f"{IR_VERSIONS[first]}",
            help=f"set ir_version to {IR_VERSIONS[first]}",
            severity=Severity.NOTE,
        )


def imported_twice(model: Model) -> list[list[tuple[str, int]]]:
    """The imports of each domain that is imported more than once, in the order of the problems about them."""
    listed: dict[str, list[tuple[str, int]]] = {}
    for domain, version in model.imports:
        listed.setdefault(_standard(domain), []).append((domain, version))
    return [entries for entries in listed.values() if len(entries) > 1]


def _imported_twice(model: Model) -> Iterator[Fault]:
    """A fault for each domain that is imported more than once."""
    for entries in imported_twice(model):
        domain = _standard(entries[0][0])
        versions = [version for _, version in entries]
        names = " and ".join(f'"{name}"' for name in dict.fromkeys(name for name, _ in entries))
        spelled = f" (as {names})" if " and " in names else ""
        alike = len(set(versions)) == 1
        imports = f"each time opset {versions[0]}" if alike else f"opset {', then '.join(map(str, versions))}"
        yield DUPLICATE_IMPORT.fault(
            f"the model imports {_name(domain)}{spelled} {'twice' if len(entries) == 2 else f'{len(entries)} times'}: "
            f"{imports}" + ("" if alike else f"; ONNX Runtime uses the last one, {versions[-1]}"),
            help=f"import {_name(domain)} once, with the version for which the nodes were written",
            severity=Severity.NOTE if alike else None,
        )


def _opsets(
    imports: Iterable[tuple[str, int]], path: str, used: frozenset[str], of_model: Mapping[str, int] = NOTHING
) -> Iterator[Problem]:
    """The problems of the versions that the model, or the function at ``path``, imports.

    ``used`` are the domains of nodes that need a version. ``of_model`` are the opsets of the model: a function must not
    import a newer one. If the model imports a domain several times, ONNX Runtime ignores versions below 1 unless they
    come last.
    """
    who = "function" if path else "model"
    entries = dict.fromkeys(imports)
    last = {_standard(spelled): version for spelled, version in entries}
    for spelled, version in entries:
        domain = _standard(spelled)
        if version < 1 and (path or version == last[domain]):
            refused = bool(path) or (domain in used and domain in RUNTIME_OPSETS)
            yield Problem(_below_one(domain, version, who, refused=refused), path, domain=domain)
        limit = RUNTIME_OPSETS.get(domain)
        if limit is not None and version > limit:
            fault = _too_new(domain, version, limit, who)
            model_version = of_model.get(domain, version)
            if model_version < version:
                text = f"{fault.message}; the model imports opset {model_version}"
                fault = OPSET_TOO_NEW.fault(text, help=f"import opset {model_version} in the function")
            yield Problem(fault, path, domain=domain)


def _below_one(domain: str, version: int, who: str, *, refused: bool) -> Fault:
    return OPSET_BELOW_ONE.fault(
        f"the {who} imports opset {version} of {_name(domain)}; versions start at 1",
        help=f"import the opset of {_name(domain)} for which the nodes were written",
        severity=None if refused else Severity.NOTE,
    )


def _too_new(domain: str, version: int, limit: int, who: str) -> Fault:
    """The fault of an opset above the ``limit`` of ONNX Runtime; a warning if ONNX has this opset."""
    name = _name(domain)
    text = f"the {who} imports opset {version} of {name}; ONNX Runtime {RUNTIME} accepts opset {limit} at most"
    newest = latest_opset(domain) if domain in OFFICIAL_DOMAINS else limit
    if version <= newest:
        advice = f"convert the model to opset {limit} with onnx.version_converter, or export it for that opset"
        return OPSET_TOO_NEW.fault(text, help=advice, severity=Severity.WARNING)
    if newest > limit:
        text += f", and onnx has {newest}"
    advice = f"import opset {limit} of {name} or older"
    known = domain in OFFICIAL_DOMAINS and version <= installed_opset(domain)
    return OPSET_TOO_NEW.fault(text, help=advice, severity=Severity.WARNING if known else None)


def _standard(domain: str) -> str:
    return "" if domain == "ai.onnx" else domain


def _name(domain: str) -> str:
    return domain or "ai.onnx"
