"""What a release's answers about nodes of one operator have in common: the traits of those that it refuses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Set

#: A rule of several traits that explains fewer refusals says nothing about other nodes.
SUPPORT = 2
MORE_SUPPORT = 3
ERROR_SUPPORT = 2
DOUBTFUL_SUPPORT = 3

#: A rule of more traits says no more than that one node is refused.
MOST_TRAITS = 5


#: What differs between messages that say the same of other nodes: where in the sources, names, element types, shapes,
#: numbers.
VARYING = re.compile(
    r"While validating (ONNX )?node '.*?' with friendly_name '[^']*'|While validating ONNX node '<Node\(.*?\)[^']*>'"
    r"|'\w+'|Exception from \S+|src/\S+?:\d+|\b(bf16|f16|f32|f64|[iu]\d+|boolean|string|f8e4m3)\b"
    r"|\{[^{}]*\}|\[[^\[\]]*\]|\b[A-Z]\w*_\d+\b|[\d.]+|Summary:.*"
)


def normalized(error: str) -> str:
    """A message without what differs between nodes."""
    return VARYING.sub("", error.replace("\n", " "))


class Answers:
    """The nodes of one operator, as bits: those that a release reads, and those with each trait.

    Each node comes with the message with which it is refused, "" for none: refusals with one message have one reason.

    ``scalars`` are the attributes that hold one number or text, ``doubtful`` the errors with which nodes of other
    operators are read.
    """

    def __init__(
        self,
        nodes: Iterable[tuple[Set[str], str]],
        scalars: Set[str] = frozenset(),
        doubtful: Set[str] = frozenset(),
    ) -> None:
        listed = list(nodes)
        every = set().union(*(has for has, _ in listed))
        names = {each for each in every if each[0].isalpha() and not each[1:2].isdigit() and ":" not in each}
        attributes = {each for each in names if "=" not in each and each != "any"}
        numbers = (each.partition("=") for each in names if "=" in each)
        self.numbers = {name for name, _, value in numbers if value.lstrip("-").isdecimal()}
        self.untried = sorted(f"!{each}" for each in scalars - attributes)
        self.reads = sum(1 << at for at, (_, error) in enumerate(listed) if not error)
        self.has = [frozenset({*has, *(f"!{each}" for each in attributes - has if "any" in has)}) for has, _ in listed]
        self.doubtful = doubtful
        self.every = (1 << len(listed)) - 1
        self.refused = [at for at, (_, error) in enumerate(listed) if error]
        self.messages: dict[str, set[int]] = {}
        for at in self.refused:
            self.messages.setdefault(normalized(listed[at][1]), set()).add(at)
        self.with_trait: dict[str, int] = {}
        for at, has in enumerate(self.has):
            for each in has:
                self.with_trait[each] = self.with_trait.get(each, 0) | 1 << at

    def those(self, rule: Iterable[str]) -> int:
        """The nodes that have every trait of a rule."""
        found = self.every
        for each in rule:
            if each[:1] == "!" and each not in self.with_trait:
                found &= ~self.with_trait.get(each[1:], 0)
            else:
                found &= self.with_trait.get(each, 0)
        return found

    def is_read_but_for(self, at: int, about: Set[str]) -> bool:
        """Whether a node is read that differs from a refused one only in what a rule is about."""
        has = self.has[at]
        same = [each for each in has if _about(each) not in about and not each.startswith("e:")]
        return bool(self.those(same) & self.reads)

    def has_any(self, trait: str, nodes: Set[int]) -> bool:
        """Whether one of some nodes has a trait."""
        return any(trait in self.has[at] for at in nodes)

    def is_pure(self, rule: Iterable[str]) -> bool:
        """Whether every node with these traits is refused."""
        return not self.those(rule) & self.reads


def fits(rule: Iterable[str], has: Set[str]) -> bool:
    """Whether a node has every trait of a rule."""
    return all((each[1:] not in has) if each[0] == "!" else each in has for each in rule)


def rules(answers: Answers) -> list[tuple[str, ...]]:
    """The traits, several together, by which nodes are refused: each explains refusals, and none of them is read."""
    sound = [at for at in answers.refused if not any(each.startswith("e:") for each in answers.has[at])]
    if not answers.reads:
        return [("any",)] if len(sound) >= MORE_SUPPORT else []
    found: dict[tuple[str, ...], None] = {}
    for message, alike in answers.messages.items():
        left = {at for at in alike if not any(answers.those(rule) >> at & 1 for rule in found)}
        found |= dict.fromkeys(_of_one_message(answers, message, alike, left))
    return list(found)


def _of_one_message(answers: Answers, message: str, alike: Set[int], left: set[int]) -> Iterator[tuple[str, ...]]:
    """The rules that explain those ``left`` of the nodes that are refused with one message."""
    for prefix, explain in (("", _alone), ("", _in_pairs), ("e:IRL5", _alone), ("e:IRL5", _in_pairs)):
        candidates = {at: explained for at in sorted(left) if (explained := explain(answers, at, prefix))}
        for rule in _chosen(answers, candidates, message):
            covered = {at for at in alike if answers.those(rule) >> at & 1}
            if not covered:
                continue
            core, rule = rule, (*rule, *_context(answers, rule, covered))
            covered = {at for at in covered if answers.those(rule) >> at & 1}
            if any(map(_is_unreported, rule)):
                left -= covered
            elif _holds(answers, core, rule, covered, message):
                yield rule
                left -= covered


def _context(answers: Answers, rule: tuple[str, ...], covered: Set[int]) -> list[str]:
    """What all nodes of a rule with an element type, or a number in an attribute, have in common: it may not hold
    without that."""
    typed = {each[1] for each in rule if each[0] in "tk" and each[1:2].isdigit()}
    common = frozenset.intersection(*(answers.has[at] for at in covered)) - set(rule)
    if any(each.startswith("e:") for each in rule):
        constant = [each for each in sorted(common) if each[0] == "c" and each[1:].isdigit()]
        ranks = [each for each in sorted(common) if each[0] == "r" and each[1:2].isdigit() and each[1] != "0"]
        ranks += [f"!z{at}" for at in range(1, 4) if not answers.has_any(f"z{at}", covered)]
        return ranks + constant + [f"!m{each[1:]}" for each in constant if not answers.has_any(f"m{each[1:]}", covered)]
    if len(rule) == 1 and rule[0].endswith(("=0", "=1")) and rule[0].partition("=")[0] in answers.numbers:
        return [each for each in sorted(common) if each.startswith("t0=")]
    if not typed:
        return []
    prefix = "co" if any(each[0] == "k" for each in rule) else "cor"
    given = [each for each in common if each[0] in prefix and each[1:2].isdigit() and each[1] in typed - {"0"}]
    given += [f"!z{at}" for at in sorted(typed - {"0"})]
    without = [each for each in common if each[0] == "!" and each[1:] in answers.numbers and "0" not in typed]
    left_out = [
        each for each in common if each[0] == "n" and each[1:].isdigit() and answers.with_trait[each] != answers.every
    ]
    return sorted([*given, *without, *answers.untried, *(left_out if len(rule) > 1 else [])])


def _holds(answers: Answers, core: tuple[str, ...], rule: tuple[str, ...], covered: Set[int], message: str) -> bool:
    """Whether enough was asked to say so: an error, or ranks, of several nodes; else a node that is read without just
    that."""
    if any(each.startswith("e:") for each in rule):
        is_doubtful = any(each in answers.doubtful for each in rule)
        return len(covered) >= (DOUBTFUL_SUPPORT if is_doubtful else ERROR_SUPPORT)
    if len(rule) == 1 and _is_weak(rule[0]):
        return len(covered) >= MORE_SUPPORT and _names(message, rule[0])
    is_number = rule[0].partition("=")[0] in answers.numbers and rule[0].endswith(("=0", "=1"))
    if is_number and not any(each.startswith("t0=") for each in rule):
        return False
    if len(core) > 1 and len(covered) < SUPPORT and any(_about(trait) not in ("opset", "types") for trait in core):
        return False
    about = {_about(each) for each in rule}
    return any(answers.is_read_but_for(at, about) for at in covered)


def _names(message: str, trait: str) -> bool:
    """Whether a message speaks of what a weak trait is about."""
    words = {"y": ("output",), "r": ("rank", "dimension", "D ")}
    return any(word in message for word in words.get(trait[0], ("",)))


def _about(trait: str) -> str:
    """What a trait is about: an input, the types of several, an attribute, the opset, an output."""
    if trait[0] in "<>":
        return "opset"
    if trait[0] in "tdk" and trait[1:2].isdigit():
        return "types"
    if trait[0] in "ncmoruzvy" and trait[1:2].isdigit():
        return f"{'output' if trait[0] == 'y' else 'input'} {trait[1]}"
    return trait.lstrip("!").partition("=")[0]


def _may_explain(trait: str, prefix: str) -> bool:
    """Whether a trait can be why a node is refused; the trait that other ones imply is none."""
    if trait == "any" or (trait[0] == "t" and trait[1] != "0" and trait.endswith("=bool")):
        return False
    if trait.startswith("e:"):
        return not trait.startswith(("e:IRL4", "e:IRL5")) or (bool(prefix) and trait.startswith(prefix))
    return not (trait.endswith("=?") or (trait[0] == "z" and trait[1:].isdigit()))


def _is_unreported(trait: str) -> bool:
    """Whether a trait may be why a node is refused, and is not reported: one number of many, a rank that is not
    known."""
    if trait[0] == "u" and trait[1:].isdigit():
        return True
    name, _, value = trait.partition("=")
    is_rank = name[0] == "r" and name[1:].isdigit()
    is_many = value.lstrip("-").isdecimal() and value not in ("0", "1")
    return is_many and not is_rank and not name.endswith(("to", "type"))


def _is_weak(trait: str) -> bool:
    """Whether a trait adds nothing to another one: a rank, a type that is another one's."""
    return trait[0] in "ruyvdco" and trait[1:2].isdigit()


def _blamed(answers: Answers, has: Set[str], prefix: str) -> list[str]:
    """The traits that may be why a node is refused: the error of one that is not sound."""
    errors = [each for each in has if each.startswith("e:") and _may_explain(each, prefix)]
    blamed = errors or [each for each in has if _may_explain(each, prefix)]
    return sorted(blamed)


def _alone(answers: Answers, at: int, prefix: str) -> list[tuple[str, ...]]:
    return [(each,) for each in _blamed(answers, answers.has[at], prefix) if answers.is_pure((each,))]


def _in_pairs(answers: Answers, at: int, prefix: str) -> list[tuple[str, ...]]:
    """Pairs of what a node has and the read one nearest to it has not, with what else it has."""
    has = answers.has[at]
    reads = [other for other in range(len(answers.has)) if answers.reads >> other & 1]
    if not reads:
        return []
    nearest = set(min((has - answers.has[other] for other in reads), key=len))
    blamed = set(_blamed(answers, has, prefix))
    if any(each.startswith("e:") for each in blamed):
        nearest = blamed
    partners = [each for each in sorted(has) if _may_explain(each, prefix)]
    return [
        (min(one, other), max(one, other))
        for one in sorted(nearest & blamed)
        for other in partners
        if other != one and not (_is_weak(one) or _is_weak(other)) and answers.is_pure((one, other))
    ]


def _spoken_of(answers: Answers, together: list[str], message: str) -> list[str]:
    """Those of traits that go together that a message speaks of, if they are enough: element types, or all but
    these."""
    typed = [each for each in together if _about(each) == "types"]
    others = [each for each in together if _about(each) != "types"]
    opset = [each for each in others if _about(each) == "opset"]
    ways = (typed, [*opset, *typed]) if "type" in message.lower() else (others,)
    return next((way for way in ways if way and answers.is_pure(tuple(way))), together)


def _chosen(answers: Answers, candidates: dict[int, list[tuple[str, ...]]], message: str) -> Iterator[tuple[str, ...]]:
    """First what alone explains a node, then what explains the most; of those that go together always, all together."""
    sole = {each[0] for each in candidates.values() if len(each) == 1}
    left = {at for at, each in candidates.items() if sole.isdisjoint(each)}
    yield from sorted(sole)
    while left:
        counts: dict[tuple[str, ...], set[int]] = {}
        for at in left:
            for rule in candidates[at]:
                counts.setdefault(rule, set()).add(at)
        best = max(len(each) for each in counts.values())
        alike = [rule for rule, each in sorted(counts.items()) if len(each) == best]
        covered = counts[alike[0]]
        together = sorted({trait for rule in alike if counts[rule] == covered for trait in rule})
        together = _spoken_of(answers, together, message)
        if len(together) > MOST_TRAITS and all(_about(each) == "types" for each in together):
            fitting = [rule for rule in alike if set(rule) <= set(together)]
            yield from sorted(fitting, key=lambda rule: -sum(each[0] == "t" for each in rule))[:1]
        elif len(together) <= MOST_TRAITS:
            yield tuple(together)
        left -= covered
