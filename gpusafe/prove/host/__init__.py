"""Obligations of host functions: what the launches, copies and drops on their paths do to each other.

:func:`check_host` is the way in; :func:`shared_borrow_warnings` gives the GS106 findings that are no errors.
"""

from __future__ import annotations

from gpusafe.prove.host.borrows import shared_borrow_warnings
from gpusafe.prove.host.check import check_host

__all__ = ["check_host", "shared_borrow_warnings"]
