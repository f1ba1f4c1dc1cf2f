"""The rules that the findings of a report break, on an HTML page."""

from __future__ import annotations

from collections.abc import Sequence

from irlint.findings.faults import Rule
from irlint.findings.wording import counted
from irlint.reporters.html.cards import Card
from irlint.reporters.html.markup import escaped, folded, prose, shown

#: At most this many findings of a rule have a link.
LINKED = 20


def section(cards: Sequence[Card]) -> str:
    """Each broken rule with its statement and its findings. Rules with the worst findings come first."""
    by_code: dict[str, list[Card]] = {}
    for each in cards:
        by_code.setdefault(each.finding.rule.code, []).append(each)
    groups = sorted(by_code.values(), key=lambda group: (-group[0].finding.severity.rank, group[0].finding.rule.code))
    return "".join(_rule(group[0].finding.rule, group) for group in groups)


def _rule(rule: Rule, cards: Sequence[Card]) -> str:
    severity = cards[0].finding.severity.value
    count = sum(1 + len(each.others) for each in cards)
    paths = len({each.finding.path for each in cards})
    inside = f"<p>{prose(rule.summary)}</p>\n"
    inside += f"<p><b>Why.</b> {prose(rule.why)}</p>\n" if rule.why else ""
    inside += f"<p><b>How to fix it.</b> {prose(rule.fix)}</p>\n" if rule.fix else ""
    links = "".join(_link(each) for each in cards[:LINKED])
    more = f"<li>and {len(cards) - LINKED:,} more</li>" if len(cards) > LINKED else ""
    inside += f'<ul class="links">{links}{more}</ul>\n'
    title = (
        f'<span class="badge {severity}">{severity}</span> <b class="code">{rule.code}</b> {escaped(rule.name)} '
        f'<span class="count">{counted(f"{count:,}", "finding") if count > 1 else "1 finding"} in '
        f"{counted(paths, 'model')}</span>"
    )
    return f'<div class="rule" id="{rule.code}">{folded(title, inside)}</div>\n'


def _link(each: Card) -> str:
    finding = each.finding
    name = finding.node if finding.node is not None else finding.value
    return f'<li><a href="#f{each.number}">{shown(finding.path)}{f": {shown(name)}" if name else ""}</a></li>\n'
