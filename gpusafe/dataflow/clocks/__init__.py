"""A run of all threads of a cluster whose vector clocks tell what is ordered: the judge of barriers that have state.

Where neither branches nor addresses depend on what is in memory, who synchronises with whom is the same in every
schedule, and so one run speaks for all of them, as long as each arrival certainly belongs to one phase (``doubts`` is
empty). That is how mbarriers, split and named barriers, clusters and bulk copies are proved and refuted.
"""

from gpusafe.dataflow.clocks.machine import Run, run_cluster
from gpusafe.dataflow.clocks.memory import Entry, Fault

__all__ = ["Entry", "Fault", "Run", "run_cluster"]
