"""Translation validation: the race proof of a kernel once more, on the PTX that it was compiled to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gpusafe.ir.host import LaunchSite
from gpusafe.ir.kernel import Kernel
from gpusafe.parse.ptx import PtxError, lower_kernel, read
from gpusafe.prove.again import Again, prove_again

PTX = "PTX"
"""The file of places that are told by their line in the PTX."""


def race_proof(kernel: Kernel, ptx: str, entry: str, files: Mapping[str, str], sites: Sequence[LaunchSite]) -> Again:
    """Proves the races of ``entry`` under what is known of ``kernel`` and its launches.

    ``files`` maps the file names of the PTX to those of spans.
    """
    try:
        module = read(ptx)
    except PtxError as fault:
        return Again(False, f"the PTX is not read: {fault}")
    function = next((f for f in module.functions if f.name == entry and f.body is not None), None)
    if function is None:
        return Again(False, f"the PTX has no `{entry}`")
    if len(function.params) != len(kernel.params):
        return Again(False, "the parameters of the PTX are others than those of the source")
    return prove_again(lower_kernel(module, function, PTX, files.get, like=kernel), sites)
