"""A page for each operator of ONNX and OpenVINO: versions, inputs, attributes, what is checked, and who accepts it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from typing import Any

from irlint import schemas
from irlint.findings.faults import Rule
from irlint.findings.wording import counted
from irlint.ops import Operator, index, instead_of, tables
from irlint.ops.signatures import REQUIRED, signature
from irlint.policy.rule_index import RULES
from irlint.policy.rulebook import by_code
from irlint.schemas import Formal, OfficialSchema

from . import reach, releases, rules
from .layout import Entry, Page, code, linked, listing, table

#: The modules whose rules hold at every operator.
EVERYWHERE = ("binding.calls", "ops.shared.element_types")

#: A shared function of many operators names so many of them.
ALIKE = 40


@dataclass(frozen=True)
class Subject:
    """An operator of a format, with every function that irlint has for it, the newest first; ``domain`` is
    ``openvino`` for OpenVINO's."""

    domain: str
    name: str
    functions: tuple[Operator, ...]

    @property
    def is_onnx(self) -> bool:
        return self.domain != "openvino"

    @property
    def folder(self) -> str:
        return self.domain or "ai.onnx"

    @property
    def address(self) -> str:
        return f"operators/{self.folder}/{self.name}.html"

    @property
    def link(self) -> str:
        return linked(
            self.address, code(self.name if self.domain in ("", "openvino") else f"{self.domain}.{self.name}")
        )

    @property
    def rules(self) -> list[Rule]:
        """What its functions can raise."""
        found = {rule for each in self.functions for rule in reach.rules(each.function)}
        found.update(rule for each in self.functions if each.compiles for rule in reach.rules(each.compiles))
        return sorted(found, key=lambda rule: (rule.code[:4], len(rule.code), rule.code))


def subjects() -> list[Subject]:
    """Every operator, ONNX's own first, then those of other domains, then OpenVINO's."""
    onnx, openvino = tables()
    found = [Subject(*key.split(":", 1), _newest_first(onnx[tuple(key.split(":", 1))])) for key in index.ONNX]  # type: ignore[index]
    found.sort(key=lambda each: (each.domain, each.name))
    return found + [Subject("openvino", name, _newest_first(openvino[name.lower()])) for name in sorted(index.OPENVINO)]


def _newest_first(functions: Sequence[Operator]) -> tuple[Operator, ...]:
    return tuple(sorted(functions, key=lambda each: -each.since))


def by_rule(every: Sequence[Subject]) -> Mapping[str, Sequence[str]]:
    """Links to the operators that can break a rule, by its code."""
    found: dict[str, list[str]] = {}
    for each in every:
        for rule in each.rules:
            found.setdefault(rule.code, []).append(each.link + (" (OpenVINO)" if not each.is_onnx else ""))
    return {key: links for key, links in found.items() if RULES[key] not in EVERYWHERE}


def pages(every: Sequence[Subject]) -> Iterator[Page]:
    """The list of all operators, and a page for each."""
    yield _index(every)
    sharing: dict[Callable[..., Any], list[Subject]] = {}
    for each in every:
        for function in {one.function for one in each.functions}:
            sharing.setdefault(function, []).append(each)
    for each in every:
        yield _page(each, sharing[each.functions[0].function])


def _index(every: Sequence[Subject]) -> Page:
    groups: dict[str, list[Subject]] = {}
    for each in every:
        groups.setdefault(each.folder, []).append(each)
    body = f"<h1>Operators</h1>\n<p>{counted(len(every), 'operator')} that irlint checks.</p>\n"
    for folder, mine in groups.items():
        title = "OpenVINO" if folder == "openvino" else f"ONNX, domain {folder}"
        links = "".join(f"<li>{linked(each.address, code(each.name))}</li>\n" for each in mine)
        body += f'<h2 id="{escape(folder)}">{escape(title)} ({len(mine)})</h2>\n<ul class="columns">\n{links}</ul>\n'
    rows = []
    for key in sorted(index.WITHOUT_RULE):
        domain, name = key.split(":", 1)
        rows.append((code(name), "OpenVINO" if domain == "openvino" else "ONNX", escape(instead_of(name, domain))))
    body += f'<h2 id="instead">Names without an operator</h2>\n{table(("name", "format", "what to write"), rows)}'
    return Page(
        "operators/index.html", "Operators", body, (Entry("operators/index.html", "All operators", "operator"),)
    )


def _page(each: Subject, alike: Sequence[Subject]) -> Page:
    kind = f"ONNX, domain {each.folder}" if each.is_onnx else "OpenVINO"
    body = f"<h1>{escape(each.name)} <small>{escape(kind)}</small></h1>\n"
    body += _of_onnx(each) if each.is_onnx else _of_openvino(each)
    body += _checked(each, [one for one in alike if one is not each])
    accepted = releases.of_onnx(each.domain, each.name) if each.is_onnx else releases.of_openvino(each.name)
    body += f"<h2>Which releases accept it</h2>\n{accepted}"
    title = f"{each.name} ({kind})"
    words = f"{each.folder} {' '.join(rule.name for rule in each.rules)}"
    return Page(each.address, title, body, (Entry(each.address, title, "operator", words),))


def _of_onnx(each: Subject) -> str:
    found = _schemas(each)
    if not found:
        text = signature(each.functions[0].function)
        names = [*text.inputs, *([f"{text.variadic}, any number"] if text.variadic else [])]
        body = "<h2>Inputs</h2>\n<p>No schema is published. irlint takes these inputs:</p>\n"
        return body + listing(map(code, names)) + _signed(text.attributes)
    rows = [
        (
            str(schema.since),
            f"{_span(schema.since, later.since if later else None)}{', deprecated' if schema.deprecated else ''}",
            _count(schema.min_input, schema.max_input),
            _count(schema.min_output, schema.max_output),
            ", ".join(map(code, sorted(schema.attributes))) or "none",
        )
        for schema, later in pairwise((*found, None))
        if schema is not None
    ]
    body = "<h2>Versions</h2>\n" + table(("version", "opsets", "inputs", "outputs", "attributes"), reversed(rows))
    newest = next((one for one in reversed(found) if not one.deprecated), found[-1])
    body += f"<h2>Inputs and outputs of version {newest.since}</h2>\n"
    formals = [("input", one) for one in newest.inputs] + [("output", one) for one in newest.outputs]
    body += table(("", "name", "how many", "element types"), [_formal(what, one) for what, one in formals])
    if newest.attributes:
        defaults = signature(each.functions[0].function).attributes
        attributes = [
            (code(name), kind.lower(), "required" if required else _default(defaults.get(name)))
            for name, (kind, required) in newest.attributes.items()
        ]
        body += f"<h2>Attributes of version {newest.since}</h2>\n{table(('name', 'kind', 'default'), attributes)}"
    return body


def _schemas(each: Subject) -> list[OfficialSchema]:
    """The published schemas, the oldest first."""
    if each.domain in schemas.OFFICIAL_DOMAINS and (versions := schemas.official_versions(each.name, each.domain)):
        found = [schemas.official(each.name, version, each.domain) for version in versions]
    else:
        found = [schemas.of_runtime(each.name, each.domain)]
    return [one for one in found if one is not None]


def _span(since: int, later: int | None) -> str:
    if later is None:
        return f"{since} and later"
    return str(since) if later == since + 1 else f"{since} to {later - 1}"


def _count(least: int, most: int) -> str:
    if least == most:
        return str(least)
    return f"{least} or more" if most >= 1 << 30 else f"{least} to {most}"


def _formal(what: str, one: Formal) -> tuple[str, ...]:
    options = {"single": "one", "optional": "none or one", "variadic": "any number"}
    types = escape(", ".join(sorted(one.types)))
    variable = f"{code(one.variable)}: " if "(" not in one.variable else ""
    return what, code(one.name), options[one.option], f"{variable}{types}"


def _default(entry: tuple[str, object] | None) -> str:
    if entry is None or entry[1] is REQUIRED:
        return ""
    return "none" if entry[1] is None else code(_text(entry[1]))


def _text(value: object) -> str:
    return value.decode() if isinstance(value, bytes) else str(list(value) if isinstance(value, tuple) else value)


def _signed(attributes: Mapping[str, tuple[str, object]]) -> str:
    """The attributes of a rule's signature."""
    if not attributes:
        return ""
    rows = [
        (code(name), code(annotation), "required" if default is REQUIRED else _default((annotation, default)))
        for name, (annotation, default) in attributes.items()
    ]
    return f"<h2>Attributes</h2>\n{table(('name', 'kind', 'default'), rows)}"


def _of_openvino(each: Subject) -> str:
    rows = []
    for one in each.functions:
        text = signature(one.function)
        required = len(text.inputs) if text.variadic is None else None
        names = ", ".join(map(code, text.inputs)) + (f" {code(text.variadic)}, any number" if text.variadic else "")
        optional = [*text.inputs[text.required :]] if required is not None else []
        rest = f"; optional: {', '.join(map(code, optional))}" if optional else ""
        opsets = f"opset{one.since}" if one.since == one.until else f"opset{one.since} to opset{one.until}"
        lacking = f", but for {', '.join(f'opset{at}' for at in one.missing)}" if one.missing else ""
        rows.append((opsets + lacking, f"{names or 'none'}{rest}"))
    body = "<h2>Versions</h2>\n" + table(("opsets", "inputs"), rows)
    newest = each.functions[0]
    attributes = {
        newest.spelled.get(name, name): (annotation, newest.absent.get(name, default))  # type: ignore[call-overload]
        for name, (annotation, default) in signature(newest.function).attributes.items()
    }
    return body + _signed(attributes)


def _checked(each: Subject, alike: Sequence[Subject]) -> str:
    """What irlint checks at the operator: its own rules, and those of every operator."""
    everywhere = [by_code(key) for key, module in RULES.items() if module in EVERYWHERE]
    own = [rule for rule in each.rules if rule not in everywhere]
    body = "<h2>What is checked</h2>\n<p>irlint infers the element types and shapes of its outputs.</p>\n"
    if own:
        body += listing(f"{rules.shown(rule)}: {rules.prose(rule.summary)}" for rule in own)
    names = ", ".join(linked(rules.address(rule), code(rule.code)) for rule in everywhere)
    body += f"<p>At every operator: {names}.</p>\n"
    if 0 < len(alike) <= ALIKE:
        links = ", ".join(one.link + ("" if one.is_onnx else " (OpenVINO)") for one in alike)
        body += f"<p>One function of irlint infers these as well: {links}.</p>\n"
    return body
