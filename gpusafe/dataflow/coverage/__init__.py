"""What was recognised and resolved of a workspace, and what was not and why (``gpusafe coverage``)."""

from __future__ import annotations

from gpusafe.dataflow.coverage.measure import measure
from gpusafe.dataflow.coverage.model import Coverage, Launches, Missing

__all__ = ["Coverage", "Launches", "Missing", "measure"]
