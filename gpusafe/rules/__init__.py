"""One file a rule: its docstring is the explanation, the docs page and the SARIF help."""

from __future__ import annotations

from gpusafe.rules.catalogue import RULES, codes, find, reported, validate_selection
from gpusafe.rules.conclude import Conclusion, conclude, findings
from gpusafe.rules.levels import mentioned, validate
from gpusafe.rules.package_rule import Facts, PackageRule, package_findings
from gpusafe.rules.rule import Rule
from gpusafe.rules.suppress import directive_findings

__all__ = [
    "RULES",
    "Conclusion",
    "Facts",
    "PackageRule",
    "Rule",
    "codes",
    "conclude",
    "directive_findings",
    "find",
    "findings",
    "mentioned",
    "package_findings",
    "reported",
    "validate",
    "validate_selection",
]
