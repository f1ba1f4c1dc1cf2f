"""What keeps tests without the mark ``oracle`` from asking an engine."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import wraps
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

ENGINES = ("openvino", "onnxruntime")
#: What of the ``onnx`` package asks it for a verdict.
JUDGES = (
    ("onnx.checker", "check_model"),
    ("onnx.checker", "check_node"),
    ("onnx.shape_inference", "infer_shapes"),
    ("onnx.reference", "ReferenceEvaluator"),
    ("onnx.backend.test.case.node", "collect_testcases"),
)


class Guard(MetaPathFinder):
    """Refuses the import of an engine, and a question to a judge, while no test with the mark runs."""

    asking = False

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name in ENGINES:
            self.refuse(name)
        return None

    def refuse(self, name: str) -> None:
        if not self.asking:
            raise AssertionError(f"{name} is for tests with the mark `oracle`, which import it where they need it")

    def watch(self) -> None:
        """Puts itself before the judges that have been imported."""
        for module, name in JUDGES:
            judge = getattr(sys.modules.get(module), name, None)
            if judge is not None and not hasattr(judge, "guarded"):
                setattr(sys.modules[module], name, self.guarded(name, judge))

    def guarded(self, name: str, judge: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(judge, updated=())
        def asked(*arguments: Any, **options: Any) -> Any:
            self.refuse(name)
            return judge(*arguments, **options)

        asked.guarded = True  # type: ignore[attr-defined]
        return asked
