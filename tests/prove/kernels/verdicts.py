"""What the tests ask about a kernel."""

from __future__ import annotations

from gpusafe.ir.host import LaunchSite
from gpusafe.ir.kernel import Kernel
from gpusafe.prove.kernels import check_kernel
from gpusafe.prove.launch import check_launch
from gpusafe.verdict import Obligation, Verdict


def worst(obligations: tuple[Obligation, ...]) -> str:
    """The verdict that obligations give together."""
    verdicts = {o.verdict for o in obligations}
    for verdict in (Verdict.REFUTED, Verdict.UNKNOWN):
        if verdict in verdicts:
            return verdict.value
    return "proved"


def verdict(kernel: Kernel, *sites: LaunchSite) -> str:
    """The verdict of a kernel."""
    return worst(check_kernel(kernel, sites).obligations)


def rules(kernel: Kernel, *sites: LaunchSite) -> set[str]:
    """The rules that a kernel breaks."""
    return {o.rule for o in check_kernel(kernel, sites).obligations if o.verdict is Verdict.REFUTED}


def launch_rules(kernel: Kernel, site: LaunchSite) -> set[str]:
    """The rules that a launch of a kernel breaks."""
    summary = check_kernel(kernel, [site]).summary
    return {o.rule for o in check_launch(summary, site) if o.verdict is Verdict.REFUTED}
