"""The PTX memory model: decides litmus tests and hand-overs by enumerating candidate executions.

No solver is needed: the tests are small. ``decide`` answers whether a test's condition can be met, ``terminates``
whether its threads always end under fair scheduling.
"""

from gpusafe.prove.memory_model.decide import Decision, decide, terminates
from gpusafe.prove.memory_model.execution import Execution
from gpusafe.prove.memory_model.hand_over import Step, hand_over, steps
from gpusafe.prove.memory_model.models import Model

__all__ = ["Decision", "Execution", "Model", "Step", "decide", "hand_over", "steps", "terminates"]
