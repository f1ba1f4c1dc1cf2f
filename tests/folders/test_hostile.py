"""Configurations that nobody writes by hand: each is a finding or none, in a short time, and never a failure inside."""

from __future__ import annotations

from pathlib import Path
from time import process_time

import onnx
import pytest
from folders.genai_cases import decoder
from folders.triton_cases import PAIR, written

import irlint

#: How many seconds the check of one may take.
SHORT = 20

STEP = 'step { model_name: "m" input_map { key: "a" value: "b" } output_map { key: "c" value: "d" } } '

TEXTS: dict[str, bytes] = {
    "zeros": b"\0" * 1000,
    "no text": bytes(range(256)) * 40,
    "no utf-8": b'name: "\xff\xfe"',
    "half a surrogate": b'name: "\xed\xa0\x80"',
    "a mark of byte order": b"\xef\xbb\xbf" + PAIR.encode(),
    "a text without an end": b'name: "' + b"a" * 1_000_000,
    "backslashes": b'name: "' + b"\\" * 999_999,
    "many messages": b"optimization { " * 100_000,
    "many lists": b"input: [" * 100_000,
    "many dims": b"input { dims: [ " + b"1, " * 50_000 + b"1 ] }",
    "many inputs": b'input { name: "a" data_type: TYPE_FP32 dims: 1 }\n' * 5_000,
    "many steps": b'platform: "ensemble" ensemble_scheduling { ' + STEP.encode() * 3_000 + b"}",
    "a long name": b'name: "' + b"x" * 200_000 + b'"',
    "digits": b"max_batch_size: " + b"9" * 10_000,
    "enums": b"instance_group { kind: 7 } input { data_type: 99 format: 99 dims: [ 1, 2 ] }",
    "files elsewhere": b'default_model_filename: "../../../../../etc/passwd" output { label_filename: "/etc/passwd" }',
    "zeros in names": b'default_model_filename: "\\000" output { name: "\\000" label_filename: "\\000" }',
    "escapes": b'name: "\\033[31m\\r\\n"',
    "any": b"[type.googleapis.com/inference.ModelConfig] { name: 'x' }",
    "not a number": b"sequence_batching { direct { minimum_slot_utilization: nan } }",
}

DOCUMENTS: dict[str, bytes] = {
    "zeros": b"\0" * 1000,
    "no utf-8": b'{"model_type": "\xff\xfe"}',
    "half a surrogate": b'{"model_type": "\\ud800", "model": {"type": "\\udfff"}}',
    "open": b"{" * 100_000,
    "arrays": b'{"model": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "objects": b'{"model": ' + b'{"a":' * 50_000 + b"1" + b"}" * 50_001,
    "a text without an end": b'{"model": "' + b"a" * 1_000_000,
    "digits": b'{"model": {"type": "llama", "vocab_size": ' + b"9" * 10_000 + b"}}",
    "infinite": b'{"model": {"type": "llama", "vocab_size": 1e999, "context_length": NaN}, "num_labels": -Infinity}',
    "other types": b'{"model_type": [], "model": {"type": 3, "decoder": []}, "id2label": 7, "size": "x"}',
    "a long name": b'{"model_type": "llama", "model": {"type": "llama", "decoder": {"filename": "'
    + b"x" * 99_999
    + b'"}}}',
    "files elsewhere": b'{"model": {"type": "llama", "decoder": {"filename": "../../../../../etc/passwd"}}}',
    "zeros in names": b'{"model": {"type": "llama", "decoder": {"filename": "a\\u0000b"}}}',
    "percent signs": b'{"model": {"type": "llama", "decoder": {"filename": "model.onnx", "num_hidden_layers": 1000000, '
    b'"inputs": {"past_key_names": "%d%d%s%n"}}}}',
    "many keys": b'{"model": {"type": "llama", ' + b",".join(b'"k%d": 1' % at for at in range(50_000)) + b"}}",
}


def judged(path: Path) -> None:
    start = process_time()
    report = irlint.check(path)
    assert process_time() - start < SHORT
    assert {each.rule.code[:5] for each in report.findings} <= {"IRL62"}, [each.message for each in report.findings]
    assert all(len(each.message) < 5_000 for each in report.findings)


@pytest.mark.parametrize("name", TEXTS)
def test_a_text(name: str, tmp_path: Path) -> None:
    path = written(tmp_path / "model", ("pair", "", ""))
    path.write_bytes(TEXTS[name])
    judged(path)


@pytest.mark.parametrize("file", ["genai_config.json", "config.json", "preprocessor_config.json"])
@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document(name: str, file: str, tmp_path: Path) -> None:
    onnx.save(decoder(), tmp_path / "model.onnx")
    (tmp_path / file).write_bytes(DOCUMENTS[name])
    judged(tmp_path / file)
