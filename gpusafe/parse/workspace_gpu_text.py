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

_MENTION = re.compile(
    r"\b(?:" + "|".join(GPU_CRATES) + r")\b"
    r"|\barch\s*::\s*(?:\{[^}]*\b)?nvptx\b|\bnvptx\s*::"
    r"|#\s*\[\s*(?:\w+\s*::\s*)*(?:kernel|cuda_module|cube|tile_module|externally_visible)\b"
    r"|\b(?:cuda_)?launch(?:_async)?\s*!|\blaunch_builder\b|\bcudaLaunch\w*|\bcuLaunch\w*|\bcudaMemcpy\w*|\bcuMemcpy\w*"
    r"|\bcudaStream\w*|\bcuStream\w*"
    r"|\b(?:Cuda(?:Stream|Slice|Device|Context|Function|Module|View|Event|Graph)\w*|DeviceBuffer|DeviceBox|DisjointSlice)\b"
    r"|\b__global__\b"
)
_NOISE = re.compile(
    r"//[^\n]*"
    r"|/\*.*?\*/"
    r"|(?:b|c)?r(?P<hashes>#*)\".*?\"(?P=hashes)"
    r"|(?:b|c)?\"(?:\\.|[^\"\\])*\""
    r"|b?'(?:\\.|[^'\\\n])'",
    re.DOTALL,
)
_IN_STRINGS = re.compile(r"\"(?:ptx|gpu)-kernel\"|\b__global__\b")


def mentions_gpu(text: str) -> bool:
    """Whether the text may hold GPU code of any supported kind; comments and most strings do not count."""
    if _MENTION.search(text) is None and _IN_STRINGS.search(text) is None:
        return False
    return (
        any(_matters(match[0]) for match in _NOISE.finditer(text)) or _MENTION.search(_NOISE.sub(" ", text)) is not None
    )


def _matters(noise: str) -> bool:
    return not noise.startswith(("//", "/*")) and _IN_STRINGS.search(noise) is not None
