"""The ``irlint`` command.

All imports are inside functions, so that Ctrl-C during an import prints no traceback.
"""

import sys

#: The objects between two garbage collections. A model has many objects and hardly any garbage.
COLLECTOR_THRESHOLD = 500_000


def main() -> None:
    """Runs the command in ``sys.argv`` and ends with its exit status."""
    try:
        _run()
    except KeyboardInterrupt:
        raise SystemExit(130) from None


def _run() -> None:
    import gc
    import os

    gc.set_threshold(COLLECTOR_THRESHOLD)
    # Without this, NumPy's import starts threads for linear algebra, which takes a third of its time.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from irlint.command.arguments import run
    from irlint.command.streams import discard_output, fail, reason

    try:
        run(sys.argv[1:])
    except BrokenPipeError:
        discard_output()
        raise SystemExit(0) from None
    except OSError as error:
        discard_output()
        fail(reason(error))
    finally:
        # Without this, the interpreter would search all objects for garbage when it ends.
        gc.freeze()
