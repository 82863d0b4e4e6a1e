"""How control leaves the middle of a Rust expression, as exceptions of the executor."""

from __future__ import annotations

from gpusafe.dataflow.host.values import Value


class Signal(Exception):
    """Base of all non-local exits."""


class ReturnSignal(Signal):
    """``return value``, or ``?`` on an error."""

    def __init__(self, value: Value) -> None:
        super().__init__("return")
        self.value = value


class BreakSignal(Signal):
    """``break 'label value``."""

    def __init__(self, label: str | None, value: Value) -> None:
        super().__init__("break")
        self.label = label
        self.value = value


class ContinueSignal(Signal):
    """``continue 'label``."""

    def __init__(self, label: str | None) -> None:
        super().__init__("continue")
        self.label = label


class PanicSignal(Signal):
    """The program panics or exits: drops run on the way out of every scope (not for ``exits``)."""

    def __init__(self, exits: bool = False) -> None:
        super().__init__("panic")
        self.exits = exits


class CutSignal(Exception):
    """The walk cannot go on; ``reason`` is for the user."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class RestartSignal(Exception):
    """The walk starts again: a piece of code without GPU work branches, and is now passed over as a whole."""


class PruneSignal(Exception):
    """This path repeats another one and adds nothing."""
