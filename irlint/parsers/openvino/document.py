"""Parses IR documents in any form that OpenVINO reads, also in a form that OpenVINO never writes."""

from __future__ import annotations

from collections.abc import Iterable

from irlint.lazy_typing import TYPE_CHECKING, Any
from irlint.model import Place, Problem
from irlint.parsers.faults import MALFORMED_XML, NOT_WELL_FORMED, TRUNCATED_FILE
from irlint.parsers.openvino.elements import read
from irlint.parsers.openvino.layers import Element

if TYPE_CHECKING:
    from irlint.parsers.openvino.xml import Broken, Decoded, Fixed, Leniency


def document(data: bytes) -> tuple[Element | None, list[Problem]]:
    """(root element or None if OpenVINO refuses the document, problems of the XML).

    Raises ModuleNotFoundError if parsing the document needs lxml, and lxml is not installed.
    """
    from irlint.parsers.openvino.xml import Broken, decoded, fixed

    source = decoded(data)
    try:
        found = fixed(source.text)
    except Broken as broken:
        return None, [_problem_of_broken(broken, source.text)]
    try:
        from lxml import etree
    except ModuleNotFoundError:
        root = read(found.text) if _is_plain(found) else None
        if root is None:
            raise
        return root, []
    return _by_lxml(etree, data, source, found)


def _is_plain(found: Fixed) -> bool:
    return found.plain and not found.leniencies


def _by_lxml(etree: Any, data: bytes, source: Decoded, found: Fixed) -> tuple[Element | None, list[Problem]]:
    refusal = None if _is_plain(found) else _libxml2_error(etree, data)
    encoded = found.text.encode("utf-8", "replace")
    problems = _problems_of_leniencies(found.leniencies, source.text) if refusal is not None else []
    try:
        root = etree.fromstring(encoded, _parser(etree, huge_tree=True))
    except (etree.XMLSyntaxError, ValueError) as error:
        refusal = refusal or error
        root = etree.fromstring(encoded, _parser(etree, huge_tree=True, recover=True))
    else:
        if refusal is None or _is_limit_of_libxml2(refusal, source.encoding):
            return root, problems
    assert refusal is not None
    if root is None or sum(1 for _ in root.iter("*")) < found.elements:
        message, place = _libxml2_message(refusal, source.text)
        return None, [Problem(MALFORMED_XML.fault(message, help=MALFORMED_XML.advice), place=place)]
    if not problems:
        message, place = _libxml2_message(refusal, source.text)
        fault = NOT_WELL_FORMED.fault(
            f"{message}; OpenVINO reads it, but other XML tools do not", help=NOT_WELL_FORMED.advice
        )
        problems = [Problem(fault, place=place)]
    return root, problems


def _libxml2_error(etree: Any, data: bytes) -> Exception | None:
    if b"<!ENTITY" in data:
        return ValueError("an entity of its own, which OpenVINO does not know")
    try:
        etree.fromstring(data, _parser(etree))
    except (etree.XMLSyntaxError, ValueError) as error:
        return error
    return None


def _is_limit_of_libxml2(error: Exception, encoding: str) -> bool:
    text = str(error).lower()
    return "huge" in text or "too big" in text or "excessive depth" in text or encoding.startswith("utf-32")


def _libxml2_message(error: Exception, text: str) -> tuple[str, Place]:
    """(message of libxml2, place of the last start tag before the end of the line of the error)."""
    from irlint.parsers.openvino.xml import start_tags

    line, column = getattr(error, "position", (1, 1))
    reason = str(getattr(error, "msg", error)).partition(", line ")[0]
    reason = reason.partition(": ")[2] if reason.startswith("xml") else reason
    end = sum(len(each) for each in text.splitlines(keepends=True)[:line])
    before = sum(tag.start < end for tag in start_tags(text))
    return f"line {line}, column {column}: {reason}", Place(max(0, before - 1))


def _parser(etree: Any, **options: bool) -> Any:
    return etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        collect_ids=False,
        **options,
    )


def _problem_of_broken(broken: Broken, text: str) -> Problem:
    from irlint.parsers.openvino.xml import line_and_column

    line, column = line_and_column(text, broken.at)
    rule = TRUNCATED_FILE if broken.truncated else MALFORMED_XML
    help = "copy or download the file again" if broken.truncated else "correct the tags, or write the IR again"
    return Problem(
        rule.fault(f"line {line}, column {column}: {broken.message}", help=help), place=Place(broken.ordinal)
    )


def _problems_of_leniencies(leniencies: Iterable[Leniency], text: str) -> list[Problem]:
    """One problem for each kind of XML defect that OpenVINO accepts. Its place is the first defect of the kind."""
    from irlint.parsers.openvino.positions import line_and_column, line_starts

    kinds: dict[str, list[Leniency]] = {}
    for leniency in leniencies:
        kinds.setdefault(leniency.kind, []).append(leniency)
    problems = []
    lines = line_starts(text) if kinds else ()
    for kind, places in kinds.items():
        line, column = line_and_column(lines, places[0].at)
        more = f", and {len(places) - 1} more like it" if len(places) > 1 else ""
        fault = NOT_WELL_FORMED.fault(
            f"line {line}, column {column}: {kind}{more}; OpenVINO reads it, but other XML tools do not",
            help=NOT_WELL_FORMED.advice,
        )
        problems.append(Problem(fault, place=Place(places[0].ordinal, places[0].attribute)))
    return problems
