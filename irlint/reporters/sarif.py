"""The report as SARIF 2.1.0, with the properties that GitHub's code scanning reads."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

from irlint.findings.faults import Rule, Severity
from irlint.findings.report import CheckedFile, Finding, Report, Silenced
from irlint.findings.wording import counted
from irlint.lazy_typing import TYPE_CHECKING, Any
from irlint.reporters.headlines import headline, repository_paths
from irlint.reporters.plain import safe

if TYPE_CHECKING:
    from irlint.findings.edits import Fix

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
ABOUT = "https://pypi.org/project/irlint/"

#: GitHub's code scanning accepts at most RESULTS results of a run, and DESCRIPTION characters of a description.
RESULTS = 25_000
DESCRIPTION = 1_024

#: The name that stands for the root of the repository in artifact locations.
ROOT = "%SRCROOT%"

#: The names of the severities in code scanning.
PROBLEM_SEVERITIES = {"error": "error", "warning": "warning", "note": "recommendation"}

Json = dict[str, Any]


def rendered(report: Report) -> str:
    """One run: the broken rules, the RESULTS worst findings in document order, and the suppressed findings.

    Notifications report unreadable files that have no finding, and the number of omitted findings.
    """
    import json

    findings = _worst(report.findings)
    silenced = [each for file in report.files for each in file.silenced][: RESULTS - len(findings)]
    uris = {path: _uri(place) for path, place in repository_paths(report).items()}
    every = [*findings, *(each.finding for each in silenced)]
    rules = sorted({finding.rule.code: finding.rule for finding in every}.values(), key=lambda rule: rule.code)
    indices = {rule.code: index for index, rule in enumerate(rules)}
    driver = {"name": "irlint", "version": report.version, "semanticVersion": report.version, "informationUri": ABOUT}
    results = [_result(finding, indices, uris) for finding in findings]
    results += [{**_result(each.finding, indices, uris), "suppressions": [_suppression(each)]} for each in silenced]
    return (
        f'{{"$schema": "{SCHEMA}", "version": "2.1.0", "runs": [{{\n'
        f'"tool": {{"driver": {json.dumps(driver)[:-1]}, "rules": {_lines(map(_rule, rules))}}}}},\n'
        f'"automationDetails": {{"id": "irlint/"}},\n'
        f'"columnKind": "unicodeCodePoints",\n'
        f'"originalUriBaseIds": {{"{ROOT}": {{"description": {{"text": "The root of the repository."}}}}}},\n'
        f'"invocations": [{json.dumps(_invocation(report, len(findings), uris))}],\n'
        f'"results": {_lines(results)}\n'
        "}]}\n"
    )


def _lines(entries: Iterable[Json]) -> str:
    import json

    text = ",\n".join(map(json.dumps, entries))
    return f"[\n{text}\n]" if text else "[]"


def _worst(findings: Sequence[Finding]) -> list[Finding]:
    if len(findings) <= RESULTS:
        return list(findings)
    order = sorted(range(len(findings)), key=lambda index: -findings[index].severity.rank)
    return [findings[index] for index in sorted(order[:RESULTS])]


def _uri(path: str) -> str:
    """A relative path as a relative reference, an absolute path as a ``file`` URI."""
    from urllib.parse import quote

    try:
        data = path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        data = path.encode("utf-8", "backslashreplace")
    if not os.path.isabs(path):
        return quote(data)
    prefix = "file:///"
    if data.startswith(b"/"):
        # A path that begins with two slashes begins with the name of a host.
        prefix = "file:" if data.startswith(b"//") else "file://"
    return prefix + quote(data, safe="/:")


def _rule(rule: Rule) -> Json:
    from irlint.findings.documentation import url
    from irlint.reporters.pages import page

    address = url(rule.code)
    return {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": _shortened(rule.summary)},
        "fullDescription": {"text": _shortened(f"{rule.summary} {rule.why}".strip())},
        **({"helpUri": address} if address else {}),
        "help": {"text": page(rule), "markdown": _markdown(rule)},
        "defaultConfiguration": {"level": rule.severity.value},
        "properties": {
            "tags": ["model", rule.family],
            "precision": "very-high" if rule.severity is Severity.ERROR else "high",
            "problem.severity": PROBLEM_SEVERITIES[rule.severity.value],
        },
    }


def _shortened(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= DESCRIPTION else text[: DESCRIPTION - 4] + " ..."


def _markdown(rule: Rule) -> str:
    parts = [f"# {rule.code} {rule.name}", rule.summary]
    if rule.why:
        parts.append(f"## Why\n\n{rule.why}")
    parts += [f"## {title}\n\n{_fenced(text)}" for title, text in (("Bad", rule.bad), ("Good", rule.good)) if text]
    if rule.fix:
        parts.append(f"## How to fix it\n\n{rule.fix}")
    return "\n\n".join(parts) + "\n"


def _fenced(text: str) -> str:
    language = "xml" if text.lstrip().startswith(("<?xml", "<net")) else "text"
    return f"```{language}\n{text.strip()}\n```"


def _result(finding: Finding, indices: Mapping[str, int], uris: Mapping[str, str]) -> Json:
    uri = uris[finding.path]
    result: Json = {
        "ruleId": finding.rule.code,
        "ruleIndex": indices[finding.rule.code],
        "level": finding.severity.value,
        "message": {"text": _message(finding)},
        "locations": [_location(uri, _region(finding), _logical(finding))],
    }
    if finding.related:
        result["relatedLocations"] = [
            {
                "id": index,
                **_location(uri, {"startLine": related.line or 1}, _named(finding.graph, related.node, "node")),
                "message": {"text": _without_links(related.message)},
            }
            for index, related in enumerate(finding.related, 1)
        ]
    if finding.fix is not None and finding.fix.replacements:
        result["fixes"] = [_fix(finding.fix, uri)]
    if finding.following:
        result["properties"] = {"following": [each.fingerprint for each in finding.following]}
    if finding.fingerprint:
        result["partialFingerprints"] = {"primaryLocationLineHash": finding.fingerprint}
    return {**result, "properties": {**_properties(finding), **result.get("properties", {})}}


def _fix(fix: Fix, uri: str) -> Json:
    names = ("startLine", "startColumn", "endLine", "endColumn")
    replacements = [
        {
            "deletedRegion": dict(zip(names, (each.line, each.column, each.end_line, each.end_column))),
            **({"insertedContent": {"text": each.text}} if each.text else {}),
        }
        for each in fix.replacements
    ]
    change = {"artifactLocation": _artifact(uri), "replacements": replacements}
    return {"description": {"text": _without_links(fix.message)}, "artifactChanges": [change]}


def _message(finding: Finding) -> str:
    """The headline, the helps, and links to related places. Viewers show a related place only if a link leads to it."""
    texts = [headline(finding), *(f"Help: {safe(each)}" for each in finding.helps)]
    every = _without_links(" ".join(text if text.endswith((".", "!", "?")) else f"{text}." for text in texts))
    links = ", ".join(f"[{_link_text(each.node)}]({index})" for index, each in enumerate(finding.related, 1))
    return f"{every} See {links}." if links else every


def _link_text(name: str) -> str:
    text = safe(name) or "it"
    for sign in "\\[]":
        text = text.replace(sign, f"\\{sign}")
    return text


def _without_links(text: str) -> str:
    return safe(text).replace("](", "] (")


def _region(finding: Finding) -> Json:
    if finding.line is None:
        return {"startLine": 1}
    places = (finding.line, finding.column, finding.end_line, finding.end_column)
    names = ("startLine", "startColumn", "endLine", "endColumn")
    return {name: place for name, place in zip(names, places) if place is not None}


def _suppression(each: Silenced) -> Json:
    reasons = {"model": "irlint.ignore of the model lists the rule", "baseline": "it is in the baseline"}
    kind = "inSource" if each.by == "model" else "external"
    return {
        "kind": kind,
        "status": "accepted",
        "justification": safe(each.reason) or reasons.get(each.by, "suppressed"),
    }


def _location(uri: str, region: Json, logical: Json | None) -> Json:
    place: Json = {"physicalLocation": {"artifactLocation": _artifact(uri), "region": region}}
    return place if logical is None else {**place, "logicalLocations": [logical]}


def _artifact(uri: str) -> Json:
    return {"uri": uri, **({} if uri.startswith("file://") else {"uriBaseId": ROOT})}


def _logical(finding: Finding) -> Json | None:
    if finding.node is not None:
        return _named(finding.graph, finding.node, "node")
    if finding.value is not None:
        return _named(finding.graph, finding.value, "value")
    return {"fullyQualifiedName": safe(finding.graph), "kind": "graph"} if finding.graph else None


def _named(graph: str, name: str, kind: str) -> Json:
    qualified = f"{graph}/{name}" if graph else name
    return {"name": safe(name), "fullyQualifiedName": safe(qualified), "kind": kind}


def _properties(finding: Finding) -> Json:
    entries = {
        "graph": safe(finding.graph),
        "node": finding.node,
        "op": finding.op,
        "opVersion": finding.op_version,
        "value": finding.value,
        "input": finding.input,
    }
    return {
        key: safe(entry) if isinstance(entry, str) else entry for key, entry in entries.items() if entry is not None
    }


def _invocation(report: Report, shown: int, uris: Mapping[str, str]) -> Json:
    found = {finding.path for finding in report.findings}
    notes = [
        _unread(file, uris[file.path])
        for file in report.files
        if (file.status == "unreadable" and file.path not in found) or file.lacking
    ]
    omitted = len(report.findings) - shown
    if omitted:
        text = f"{counted(omitted, 'finding')} more: a run has at most {RESULTS:,} results."
        notes.append({"level": "warning", "message": {"text": text}})
    return {"executionSuccessful": not report.lacking, "toolExecutionNotifications": notes}


def _unread(file: CheckedFile, uri: str) -> Json:
    reason = f"was {file.reason}" if file.lacking else "could not be read, so its findings are not reported"
    text = f"{safe(file.path)} {reason}."
    return {
        "level": "warning",
        "message": {"text": _without_links(text)},
        "locations": [_location(uri, {"startLine": 1}, None)],
    }
