"""CUDA C kernels: in ``.cu`` files, and in the string constants of Rust hosts that compile them at run time."""

from __future__ import annotations

from gpusafe.parse.cuda.launches import FileLaunch
from gpusafe.parse.cuda.preprocess import Includes, Problem
from gpusafe.parse.cuda.sources import CudaSource, find_sources, includes_of, lower, lower_sources
from gpusafe.parse.cuda.unit import CudaModule, GlobalVariable, lower_source

__all__ = [
    "CudaModule",
    "CudaSource",
    "FileLaunch",
    "GlobalVariable",
    "Includes",
    "Problem",
    "find_sources",
    "includes_of",
    "lower",
    "lower_source",
    "lower_sources",
]
