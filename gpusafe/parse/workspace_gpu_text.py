"""A cheap look at a text: does it have to do with GPUs at all?"""

from __future__ import annotations

import re

GPU_CRATES = (
    "cudarc",
    "cust",
    "cust_core",
    "cust_raw",
    "rustacuda",
    "rustacuda_core",
    "rustacuda_derive",
    "cuda_std",
    "cuda_std_macros",
    "cuda_core",
    "cuda_device",
    "cuda_host",
    "cuda_async",
    "cuda_macros",
    "cuda_intrinsics",
    "cutile",
    "cubecl",
    "cubecl_core",
    "cubecl_cuda",
    "cubecl_runtime",
    "gpu_host",
)
"""Crates whose API puts work on a GPU, by the name that code uses."""

_STEMS = (
    *("arch::nvptx", "nvptx::", "launch_builder", "launch!", "launch_async!"),
    *("cudaLaunch", "cuLaunch", "cudaMemcpy", "cuMemcpy", "cudaStream", "cuStream", "cudaMalloc", "cuMemAlloc"),
    *("CudaStream", "CudaSlice", "CudaDevice", "CudaContext", "CudaFunction", "CudaModule", "CudaView", "CudaEvent"),
    "CudaGraph",
)
_ATTRIBUTE = re.compile(r"#\s*\[[^\]]*\b(?:kernel|cuda_module|cube|tile_module)\b")
_NVPTX_USE = re.compile(r"use\b[^;]*\bnvptx\b")
_NOISE = re.compile(
    r"//[^\n]*"
    r"|/\*.*?\*/"
    r"|(?:b|c)?r(?P<hashes>#*)\".*?\"(?P=hashes)"
    r"|(?:b|c)?\"(?:\\.|[^\"\\])*\""
    r"|b?'(?:\\.|[^'\\\n])'",
    re.DOTALL,
)
_HINT = re.compile(r"[cC]uda|CUDA|[gG]pu|GPU|launch|\bstreams?\b|Stream\b|Device(?:Buffer|Slice|Vec|Ptr|Memory)")
_STRINGS = ('"ptx-kernel"', '"gpu-kernel"', "__global__")


def mentions_gpu(text: str) -> bool:
    """Whether the text may hold GPU code of any supported kind; comments and most strings do not count."""
    in_strings = any(sign in text for sign in _STRINGS)
    if not in_strings and not _code_mentions(text):
        return False
    if in_strings and any(_matters(match[0]) for match in _NOISE.finditer(text)):
        return True
    return _code_mentions(_NOISE.sub(" ", text))


def hints_at_gpu(text: str) -> bool:
    """Whether code that only calls a GPU crate of the same workspace may handle device memory or streams itself."""
    return _HINT.search(text) is not None and _HINT.search(_NOISE.sub(" ", text)) is not None


def _code_mentions(text: str) -> bool:
    if any(stem in text for stem in _STEMS) or any(_has_word(text, name) for name in GPU_CRATES):
        return True
    return _ATTRIBUTE.search(text) is not None or ("nvptx" in text and _NVPTX_USE.search(text) is not None)


def _has_word(text: str, word: str) -> bool:
    at = text.find(word)
    while at >= 0:
        end = at + len(word)
        if not (at and _is_word(text[at - 1])) and not (end < len(text) and _is_word(text[end])):
            return True
        at = text.find(word, at + 1)
    return False


def _is_word(sign: str) -> bool:
    return sign == "_" or sign.isalnum()


def _matters(noise: str) -> bool:
    return not noise.startswith(("//", "/*")) and any(sign in noise for sign in _STRINGS)
