"""A concrete interpreter of the kernel IR: the judge of counterexamples, and the oracle of the tests.

It runs all threads of chosen blocks with exact integer arithmetic and records the accesses that meet unordered. It
shares no code with the prover beyond integer arithmetic.
"""

from gpusafe.dataflow.concrete.machine import ConcreteLaunch, Outcome, run
from gpusafe.dataflow.concrete.memory import Meeting, Touch

__all__ = ["ConcreteLaunch", "Meeting", "Outcome", "Touch", "run"]
