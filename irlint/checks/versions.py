"""Checks the IR version and the opset imports of an ONNX model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from irlint.binding.calls import MISSING_OPSET_IMPORT
from irlint.findings.faults import Fault, Refusal, Rule, Severity
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
    refused=(Refusal("onnxruntime"),),
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
        "Versions start at 1, and no operator has an earlier version. Runtimes refuse the nodes of such a domain. If "
        "neither ONNX nor ONNX Runtime defines the domain, this is a note."
    ),
    fix="Import the opset for which the nodes were written.",
    bad="""<ir_version: 8, opset_import: ["" : 0]>
g (float[2,3] x) => (float[2,3] y) { y = Relu (x) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) { y = Relu (x) }""",
    role="opset",
    refused=(Refusal("onnxruntime"),),
)


#: The newest IR version that onnx 1.23 writes.
NEWEST_IR_VERSION = 14

#: The first IR version in which a model imports opsets.
FIRST_WITH_IMPORTS = 3

#: The last opset for which ONNX Runtime has only some kernels.
LAST_EARLY_OPSET = 6

#: The first opset with an operator for which ONNX Runtime has no kernel yet.
FIRST_AHEAD = 22


def problems(known: Known) -> list[Problem]:
    """The problems of the IR version and of the opsets that a model and its functions import."""
    model = known.model
    found = [
        Problem(each, domain="" if each.rule is MISSING_OPSET_IMPORT else None) for each in _ir_version_faults(model)
    ]
    found += [Problem(fault) for fault in _duplicate_import_faults(model)]
    used_domains = _domains_that_need_a_version(model)
    found += _opset_problems(model.imports, "", used_domains)
    for function in model.functions.values():
        found += _opset_problems(function.imports, function.graph.path, frozenset(), model.opsets)
    opset_problem = None
    if any(problem.is_error for problem in known.problems):
        from irlint.inference.opsets import of_another_opset

        others = of_another_opset(known)
        opset_problem = next((each for each in others if each.domain == ""), None)
        found += others
    return [*found, *(Problem(fault, because=opset_problem) for fault in _kernel_faults(model))]


def _kernel_faults(model: Model) -> list[Fault]:
    found: list[Fault] = []
    if model.imports and min(_default_opsets(model), default=LAST_EARLY_OPSET + 1) <= LAST_EARLY_OPSET:
        from irlint.checks.early_opsets import without_kernel

        found += without_kernel(model, RUNTIME)
    if max(_default_opsets(model), default=0) >= FIRST_AHEAD:
        from irlint.checks.early_opsets import kernel_ended

        found += kernel_ended(model, RUNTIME)
    return found


def _default_opsets(model: Model) -> Iterator[int]:
    """The opsets of ai.onnx in the model and its functions."""
    for opsets in (model.opsets, *(function.opsets for function in model.functions.values())):
        if "" in opsets:
            yield opsets[""]


def _domains_that_need_a_version(model: Model) -> frozenset[str]:
    """The domains of nodes that need a version, if the model imports a version below 1."""
    if all(version > 0 for _, version in model.imports):
        return frozenset()
    return frozenset(
        node.domain for graph in graphs(model) for node in graph.nodes if graph.path or node.op != "Constant"
    )


def _ir_version_faults(model: Model) -> Iterator[Fault]:
    """The faults of the IR version and of missing opset imports."""
    if model.format_version is None:
        yield MISSING_IR_VERSION.fault("the model has no ir_version", help="set ir_version, for example to 8")
        return
    version = int(model.format_version)
    if version > RUNTIME_IR_VERSION:
        yield _ir_version_too_new_fault(version)
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
        yield from _ir_version_too_old_for_opset(version, model.opsets.get("", 0))
    if not model.imports and version < FIRST_WITH_IMPORTS:
        yield MISSING_OPSET_IMPORT.fault(
            f"the model imports no opset, so its nodes are of opset 1 in IR version {version}; ONNX Runtime refuses it",
            help="set ir_version to 3 or later, and import the opset of ai.onnx for which the nodes were written",
        )


def _ir_version_too_new_fault(version: int) -> Fault:
    """The fault of an IR version above the limit of ONNX Runtime; a warning if the onnx package writes this version."""
    advice = f"set ir_version to {RUNTIME_IR_VERSION}"
    limit = f"ONNX Runtime {RUNTIME} accepts IR version {RUNTIME_IR_VERSION} at most"
    text = f"the model has IR version {version}; {limit}"
    if version <= NEWEST_IR_VERSION:
        return IR_VERSION_TOO_NEW.fault(text, help=f"{advice}: the model needs no newer one", severity=Severity.WARNING)
    if NEWEST_IR_VERSION > RUNTIME_IR_VERSION:
        text += f", and onnx {NEWEST_IR_VERSION}"
    return IR_VERSION_TOO_NEW.fault(text, help=f"{advice} or older")


def _ir_version_too_old_for_opset(version: int, opset: int) -> Iterator[Fault]:
    """The note that the model has an older IR version than its opset was released with."""
    first = next((since for since in IR_VERSIONS if since <= opset), 0)
    if first and version < IR_VERSIONS[first] and opset <= RUNTIME_OPSETS[""]:
        yield IR_VERSION_TOO_OLD.fault(
            f"the model has IR version {version} and imports opset {opset} of ai.onnx, which came with IR version "
            f"{IR_VERSIONS[first]}",
            help=f"set ir_version to {IR_VERSIONS[first]}",
            severity=Severity.NOTE,
        )


def imported_twice(model: Model) -> list[list[tuple[str, int]]]:
    """The entries of each domain that the model imports more than once."""
    entries_of_domain: dict[str, list[tuple[str, int]]] = {}
    for domain, version in model.imports:
        entries_of_domain.setdefault(_standard_domain(domain), []).append((domain, version))
    return [entries for entries in entries_of_domain.values() if len(entries) > 1]


def _duplicate_import_faults(model: Model) -> Iterator[Fault]:
    for entries in imported_twice(model):
        domain = _standard_domain(entries[0][0])
        versions = [version for _, version in entries]
        names = " and ".join(f'"{name}"' for name in dict.fromkeys(name for name, _ in entries))
        times = "twice" if len(entries) == 2 else f"{len(entries)} times"
        spelled = f" (as {names})" if " and " in names else ""
        are_equal = len(set(versions)) == 1
        imports = f"each time opset {versions[0]}" if are_equal else f"opset {', then '.join(map(str, versions))}"
        yield DUPLICATE_IMPORT.fault(
            f"the model imports {_domain_name(domain)}{spelled} {times}: "
            f"{imports}" + ("" if are_equal else f"; ONNX Runtime uses the last one, {versions[-1]}"),
            help=f"import {_domain_name(domain)} once, with the version for which the nodes were written",
            severity=Severity.NOTE if are_equal else None,
        )


def _opset_problems(
    imports: Iterable[tuple[str, int]],
    path: str,
    used_domains: frozenset[str],
    model_opsets: Mapping[str, int] = NOTHING,
) -> Iterator[Problem]:
    """The problems of the versions that the model, or the function at ``path``, imports.

    If a domain is imported several times, ONNX Runtime ignores versions below 1 before the last entry.
    """
    importer = "function" if path else "model"
    entries = dict.fromkeys(imports)
    last = {_standard_domain(spelled): version for spelled, version in entries}
    for spelled, version in entries:
        domain = _standard_domain(spelled)
        if version < 1 and (path or version == last[domain]):
            is_refused = bool(path) or (domain in used_domains and domain in RUNTIME_OPSETS)
            yield Problem(_below_one_fault(domain, version, importer, is_refused=is_refused), path, domain=domain)
        limit = RUNTIME_OPSETS.get(domain)
        if limit is not None and version > limit:
            fault = _too_new_fault(domain, version, limit, importer)
            model_version = model_opsets.get(domain, version)
            if model_version < version:
                text = f"{fault.message}; the model imports opset {model_version}"
                fault = OPSET_TOO_NEW.fault(text, help=f"import opset {model_version} in the function")
            yield Problem(fault, path, domain=domain)


def _below_one_fault(domain: str, version: int, importer: str, *, is_refused: bool) -> Fault:
    return OPSET_BELOW_ONE.fault(
        f"the {importer} imports opset {version} of {_domain_name(domain)}; versions start at 1",
        help=f"import the opset of {_domain_name(domain)} for which the nodes were written",
        severity=None if is_refused else Severity.NOTE,
    )


def _too_new_fault(domain: str, version: int, limit: int, importer: str) -> Fault:
    """The fault of an opset above the ``limit`` of ONNX Runtime; a warning if ONNX has this opset."""
    name = _domain_name(domain)
    text = f"the {importer} imports opset {version} of {name}; ONNX Runtime {RUNTIME} accepts opset {limit} at most"
    newest_opset = latest_opset(domain) if domain in OFFICIAL_DOMAINS else limit
    if version <= newest_opset:
        advice = f"convert the model to opset {limit} with onnx.version_converter, or export it for that opset"
        return OPSET_TOO_NEW.fault(text, help=advice, severity=Severity.WARNING)
    if newest_opset > limit:
        text += f", and onnx has {newest_opset}"
    advice = f"import opset {limit} of {name} or older"
    onnx_has_opset = domain in OFFICIAL_DOMAINS and version <= installed_opset(domain)
    return OPSET_TOO_NEW.fault(text, help=advice, severity=Severity.WARNING if onnx_has_opset else None)


def _standard_domain(domain: str) -> str:
    return "" if domain == "ai.onnx" else domain


def _domain_name(domain: str) -> str:
    return domain or "ai.onnx"
