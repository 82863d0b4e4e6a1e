"""Reader of litmus tests in the PTX format that the published corpora use: text to `LitmusTest`."""

from gpusafe.parse.litmus.program import (
    Barrier,
    Branch,
    Condition,
    Fence,
    Instruction,
    Jump,
    Label,
    LitmusTest,
    Load,
    Location,
    Move,
    Operand,
    Place,
    ProxyFence,
    ReadModifyWrite,
    Store,
    ThreadCode,
)
from gpusafe.parse.litmus.reader import read

__all__ = [
    "Barrier",
    "Branch",
    "Condition",
    "Fence",
    "Instruction",
    "Jump",
    "Label",
    "LitmusTest",
    "Load",
    "Location",
    "Move",
    "Operand",
    "Place",
    "ProxyFence",
    "ReadModifyWrite",
    "Store",
    "ThreadCode",
    "read",
]
