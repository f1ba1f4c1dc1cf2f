"""Asks the rule of an operator for its outputs, faults and requirements. Asking has no side effects."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from irlint.binding.calls import Call
from irlint.dims import TooComplex
from irlint.findings.faults import Fault, Rule, Severity
from irlint.findings.statements import Requirement, stated, wants_arithmetic
from irlint.model.tensor import UNKNOWN, Contents, Optional, Tensor, Type
from irlint.model.tensor import Sequence as SequenceType
from irlint.ops import Context, Operator
from irlint.ops.shared.element_types import types_refused
from irlint.ops.shared.type_variables import check_output_types, output_type, type_variables
from irlint.ops.signatures import REQUIRED, Signature
from irlint.parsers.weights import Weights
from irlint.records import record

NOT_WORKED_OUT = Rule(
    "IRL599",
    "rule-failed",
    Severity.WARNING,
    "irlint failed while it checked this operator, so it uses the declared outputs of the node.",
    why=(
        "This is a defect of irlint, not of the model. The node was not checked, so the check must not pass without "
        "a finding."
    ),
    fix="Report the defect together with the node in the message.",
)

#: At most this many answers are kept.
MAX_REMEMBERED = 10_000


@record
class Answer:
    """The answer of a rule."""

    #: The types of the node's outputs; None if the rule cannot be asked or raises a fault.
    outputs: tuple[Type | None, ...] | None
    #: If the rule raised a fault, this fault is the first.
    faults: tuple[Fault, ...] = ()
    #: The conditions on sizes that the rule needs and could not prove.
    requirements: tuple[Requirement, ...] = ()


NO_ANSWER = Answer(None)


def ask(call: Call, inputs: Sequence[Type | None], *, outputs: int = 1, context: Context | None = None) -> Answer:
    """The answer of the operator of ``call``. An input of None is omitted.

    ``outputs`` is the number of outputs, which is used for an operator with a schema and without a rule. If the rule
    needs a ``context`` and none is passed, the rule is not asked.
    """
    if call.broken or call.function is not None:
        return NO_ANSWER
    faults: list[Fault] = []
    result: tuple[Type | None, ...] | None = None
    with stated() as statements:
        try:
            result = _outputs(call, inputs, outputs, context)
        except Fault as fault:
            is_complete = context is not None or not fault.refused_types
            faults.append(fault if is_complete else _with_all_refused(fault, call, inputs, outputs))
        except TooComplex:
            pass
        except RecursionError:
            raise
        except Exception as error:
            if os.environ.get("IRLINT_DEBUG"):
                raise
            if not (_lacks_attributes(call) or _of_other_kinds(call, inputs)):
                message = f"irlint's rule for it failed: {error!r}"
                faults.append(NOT_WORKED_OUT.fault(message, help=NOT_WORKED_OUT.advice))
    return Answer(result, (*faults, *statements.faults), tuple(statements.requirements))


def _with_all_refused(fault: Fault, call: Call, inputs: Sequence[Type | None], outputs: int) -> Fault:
    """The fault of refused element types, with the inputs that the rule refuses after those."""
    refused, given, added = [*fault.refused_types], [*inputs], fault.refused_types
    with stated():
        while added and len(refused) <= len(inputs):
            for each in added:
                known = given[each.input]
                if not isinstance(known, Tensor) or not each.accepted:
                    return fault
                given[each.input] = Tensor(each.accepted, known.shape)
            added = ()
            with suppress(Exception):
                try:
                    _outputs(call, given, outputs, None)
                except Fault as another:
                    added = tuple(each for each in another.refused_types if each.input < len(inputs))
            refused += added
    return fault if len(refused) == len(fault.refused_types) else types_refused(refused, "convert")


def _lacks_attributes(call: Call) -> bool:
    """Whether the rule lacks a required attribute, which binding reports."""
    if call.signature is None:
        return False
    given = call.attributes or {}
    return any(default is REQUIRED and name not in given for name, (_, default) in call.signature.attributes.items())


def _of_other_kinds(call: Call, inputs: Sequence[Type | None]) -> bool:
    """Whether an input is not a tensor and the operator has no schema, which could allow other types."""
    return call.schema is None and not all(known is None or isinstance(known, Tensor) for known in inputs)


def _outputs(
    call: Call, inputs: Sequence[Type | None], outputs: int, context: Context | None
) -> tuple[Type | None, ...] | None:
    """The outputs by the rule. Without a rule, the outputs by the schema. None without a rule and a schema."""
    variables = type_variables(call.schema, inputs) if call.schema is not None else {}
    if call.operator is None or call.signature is None:
        given: tuple[Type | None, ...] | None = None if call.schema is None else (UNKNOWN,) * outputs
    else:
        given = _given(call, call.operator, call.signature, inputs, context)
        if given is not None and call.schema is not None:
            check_output_types(call.schema, given)
    if given is None or call.schema is None or all(isinstance(known, Tensor) and known.dtype for known in given):
        return given
    return tuple([_typed(known, call, port, variables) for port, known in enumerate(given)])


def _given(
    call: Call, operator: Operator, signature: Signature, inputs: Sequence[Type | None], context: Context | None
) -> tuple[Type | None, ...] | None:
    """The result of the rule; None if a required input or the context is missing."""
    arguments = signature.bound(call.attributes or {})
    named = len(signature.inputs)
    given = list(inputs[:named])
    if signature.variadic:
        given += [UNKNOWN if known is None else known for known in inputs[named:]]
    lacks_input = len(given) < signature.fewest or any(known is None for known in given[: signature.required])
    if lacks_input or (signature.context and context is None):
        return None
    if signature.context:
        arguments["context"] = context
    if signature.fold:
        arguments["fold"] = operator.fold
    answered = operator.function(*given, **arguments)
    return tuple(answered) if isinstance(answered, (tuple, list)) else (answered,)


#: Creates the context for a rule that needs one.
Contexts = Callable[[], Context]


@record
class Question:
    """The arguments of ``ask``; ``context`` creates the context for a rule that needs one."""

    call: Call
    inputs: Sequence[Type | None]
    outputs: int
    context: Contexts | None

    def answer(self) -> Answer:
        """The answer of the operator."""
        return ask(self.call, self.inputs, outputs=self.outputs, context=self.context and self.context())


class Memory:
    """A cache of answers. A rule that does not depend on its node is asked once for equal inputs and attributes."""

    def __init__(self) -> None:
        #: Answers, by question; None for a question that is asked each time.
        self._answers: dict[tuple[object, ...], Answer | None] = {}
        #: Answers, by the ids of the call and the inputs. The entry keeps these objects alive, so no id is reused.
        self._same: dict[tuple[object, ...], tuple[Answer, Call, Sequence[object]]] = {}
        self._numbers: dict[tuple[object, ...], int] = {}
        #: The numbers of calls, by id; None for a rule that is asked each time.
        self._numbered: dict[int, tuple[Call, int | None]] = {}
        #: The ids of calls whose rule received a context, but did not use the node in it.
        self._general: set[int] = set()

    def ask(
        self, call: Call, inputs: Sequence[Type | None], *, outputs: int, context: Contexts | None = None
    ) -> Answer:
        """As the function ``ask``; ``context`` creates the context for a rule that needs one.

        Weights of the same type and shape share an answer if the rule does not read values.
        """
        forms = [x.form if type(x) is Weights else x for x in inputs]
        same = (id(call), outputs, *map(id, forms))
        found = self._same.get(same)
        if found is not None:
            return found[0]
        if call.broken or call.function is not None:
            return NO_ANSWER
        question = Question(call, inputs, outputs, context)
        key = self._key(question, forms)
        if key is None:
            return question.answer()
        try:
            known = self._answers.get(key, _NOT_ASKED)
        except TypeError:
            return question.answer()
        if known is _NOT_ASKED:
            return self._first(question, key)
        if known is None:
            return question.answer()
        if len(self._same) < MAX_REMEMBERED:
            self._same[same] = known, call, forms
        return known

    def _key(self, question: Question, forms: Sequence[object]) -> tuple[object, ...] | None:
        """The cache key of a question; None if its answer cannot be shared."""
        call = question.call
        if id(call) not in self._numbered:
            self._numbered[id(call)] = call, self._number(call)
        number = self._numbered[id(call)][1]
        if number is None:
            return None
        without = [
            (x.dtype, x.shape, x.extent) if isinstance(x, Tensor) and x.value and _holds_floats(x.value) else x
            for x in forms
        ]
        if tuple in map(type, without) and wants_arithmetic():
            return None
        asks_outputs = call.operator is None or question.context is not None
        return (number, question.outputs if asks_outputs else 0, *without)

    def _first(self, question: Question, key: tuple[object, ...]) -> Answer:
        """The answer to a question that is not in the cache. Stores the answer if all questions with this key share it.

        A rule that may use its node is asked only once here, because each question infers the node's bodies again.
        """
        if question.context is not None and id(question.call) not in self._general:
            return self._noted(question)
        given = [Unread(x) if type(part) is tuple else x for x, part in zip(question.inputs, key[2:])]  # type: ignore[arg-type]
        if question.context is None:
            answer = ask(question.call, given, outputs=question.outputs)
        else:
            answer = self._noted(Question(question.call, given, question.outputs, question.context))
        holds_floats = tuple in map(type, key)
        is_general = self._numbered[id(question.call)][1] is not None
        is_shared = is_general and not answer.faults and not (holds_floats and _depends(answer, given))
        if len(self._answers) < MAX_REMEMBERED and (is_shared or holds_floats):
            self._answers[key] = answer if is_shared else None
        return question.answer() if holds_floats and not is_shared else answer

    def _noted(self, question: Question) -> Answer:
        """The answer to a question with a context. Records whether the rule uses the node in the context."""
        assert question.context is not None
        call, context = question.call, question.context()
        answer = ask(call, question.inputs, outputs=question.outputs, context=context)
        if context.particular:
            self._numbered[id(call)] = call, None
            self._general.discard(id(call))
        else:
            self._general.add(id(call))
        return answer

    def _number(self, call: Call) -> int | None:
        """A number that calls of one rule with equal attributes share; None if attributes are not hashable."""
        function, fold = (call.operator.function, call.operator.fold) if call.operator is not None else (None, None)
        # Each schema exists once per process. Comparing schemas would compare all their parts.
        rule: tuple[object, ...] = (function, fold, id(call.schema), *(call.attributes or {}).items())
        if call.signature is not None and call.signature.context:
            rule = (id(call),)
        try:
            return self._numbers.setdefault(rule, len(self._numbers))
        except TypeError:
            return None


#: A marker for a question that is not in the cache.
_NOT_ASKED = Answer(None)


def _depends(answer: Answer, given: Sequence[Type | None]) -> bool:
    """Whether the answer may depend on the values of inputs, because the rule read them or returned an input."""
    was_read = any(isinstance(x, Unread) and x.read for x in given)
    return was_read or not all(type(each) is Tensor for each in answer.outputs or ())


class Unread(Tensor):
    """A tensor that notes whether its values are read."""

    __slots__ = ("contents", "read")

    def __init__(self, tensor: Tensor) -> None:
        self.dtype, self.shape, self.contents, self.extent = tensor.dtype, tensor.shape, tensor.value, tensor.extent
        self.read = False

    @property
    def value(self) -> Contents | None:  # type: ignore[override]
        """The values; notes that they were read."""
        self.read = True
        return self.contents


def _holds_floats(values: Contents) -> bool:
    """Whether the values have floats, which can be equal without being identical: 0.0 and -0.0."""
    return float in map(type, values)


def _typed(known: Type | None, call: Call, port: int, variables: Mapping[str, str]) -> Type | None:
    """The output, with the schema's element type if the rule leaves the element type unknown."""
    if call.schema is None or not (known is None or (isinstance(known, Tensor) and known.dtype is None)):
        return known
    name = output_type(call.schema, port, variables)
    if name is None:
        return known
    if "(" in name:
        return _structured(name)
    if known is None:
        return None
    return Tensor(name, known.shape, known.value, known.extent)


def _structured(name: str) -> Type | None:
    if name.startswith("seq("):
        return SequenceType(_structured(name[4:-1]))
    if name.startswith("optional("):
        return Optional(_structured(name[9:-1]))
    return None if "(" in name else Tensor(name)
