"""The command line: parses arguments, calls the application, turns its outcome into an exit status."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from gpusafe import __version__
from gpusafe.cli.exit_codes import BROKEN_PIPE, INTERRUPTED, USAGE
from gpusafe.errors import GpusafeError

__all__ = ["main"]

_WORDS = ("-h", "--help", "-V", "--version", "--explain")
"""Flags of the program itself; every other flag behind `cargo gpusafe` is one of `check`."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program; returns the exit status (see gpusafe.cli.exit_codes)."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments[:1] == ["gpusafe"]:  # `cargo gpusafe ...` passes its own name
        del arguments[0]
        if not arguments or (arguments[0].startswith("-") and arguments[0] not in _WORDS):
            arguments.insert(0, "check")
    if arguments in (["--version"], ["-V"]):
        print(f"gpusafe {__version__}")
        return 0
    try:
        status = _dispatch(arguments)
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        # The reader went away (`| head`): nothing more to say, and nothing to flush at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except KeyboardInterrupt:
        print("\ngpusafe: interrupted", file=sys.stderr)
        return INTERRUPTED
    except GpusafeError as problem:
        print(f"error: {problem}", file=sys.stderr)
        return USAGE
    except Exception as problem:
        if os.environ.get("GPUSAFE_TRACEBACK"):
            raise
        print(f"error: internal error: {type(problem).__name__}: {problem}", file=sys.stderr)
        print("help: this is a fault of gpusafe; GPUSAFE_TRACEBACK=1 shows where it happened", file=sys.stderr)
        return USAGE


def _dispatch(arguments: list[str]) -> int:
    from gpusafe.cli.arguments import parse

    parsed = parse(arguments)
    if isinstance(parsed, int):
        return parsed
    return parsed()
