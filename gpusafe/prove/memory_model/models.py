"""The published versions of the model that the engine knows."""

from __future__ import annotations

from enum import Enum


class Model(Enum):
    """``PTX_6_0``: scopes, without proxies (ASPLOS 2019). ``PTX_7_5``: with mixed proxies (ISCA 2022)."""

    PTX_6_0 = "ptx-v6.0"
    PTX_7_5 = "ptx-v7.5"
