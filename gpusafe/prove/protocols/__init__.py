"""Hand-overs by protocols of any kind: all executions that the PTX memory model allows to the threads that take part.

The kernel is run with concrete numbers, every atomic read returning what it may (``unfold``); the memory model tells
which of these ways fit together (``explore``), and causality whether two accesses race (``races``).
"""

from gpusafe.prove.protocols.settle import Settled, prove, refute
from gpusafe.prove.protocols.starts import not_zero
from gpusafe.prove.protocols.words import in_words, signals_of

__all__ = ["Settled", "in_words", "not_zero", "prove", "refute", "signals_of"]
