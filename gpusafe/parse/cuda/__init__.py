"""CUDA C kernels: in ``.cu`` files, and in the string constants of Rust hosts that compile them at run time."""

from __future__ import annotations

from gpusafe.parse.cuda.preprocess import Includes, Problem
from gpusafe.parse.cuda.unit import CudaModule, GlobalVariable, lower_source

__all__ = ["CudaModule", "GlobalVariable", "Includes", "Problem", "lower_source"]
