"""The ``irlint`` command. All other modules are imported inside of a block in which Ctrl-C ends the run quietly."""

import sys

#: A model has many small objects, and hardly any becomes garbage, so the collector may run rarely.
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
    # A third of the time to import NumPy is the start of threads for its linear algebra.
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
        # Without this, the interpreter searches the objects of the check for cycles when it ends.
        gc.freeze()
