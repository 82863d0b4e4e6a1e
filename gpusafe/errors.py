"""Errors that gpusafe raises on purpose."""

from __future__ import annotations


class GpusafeError(Exception):
    """Base of all errors that end a run with exit status 2 and a message, never with a traceback."""


class UsageError(GpusafeError):
    """The command line or the configuration asks for something that does not exist."""
