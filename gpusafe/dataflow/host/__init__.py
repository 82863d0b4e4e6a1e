"""The host executor: from Rust host code to the paths of operations that it makes the GPU do.

:func:`execute` walks every function with GPU work that nothing in sight calls, with all calls inlined.
"""

from __future__ import annotations

from gpusafe.dataflow.host.execute import execute

__all__ = ["execute"]
