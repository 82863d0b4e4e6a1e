"""CUDA C kernels."""
