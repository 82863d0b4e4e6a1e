"""``gpusafe doctor``: what is installed and what that enables."""

from __future__ import annotations

import json
import sys
from importlib import metadata

from gpusafe import __version__

_PACKAGES = ("z3-solver", "networkx", "rich", "tree-sitter", "tree-sitter-rust", "tree-sitter-cuda")


def run(format: str) -> int:
    """Print the parts that gpusafe builds on; 0 when a check can run at all."""
    from gpusafe.codegen_check import toolchain

    packages = {name: _version(name) for name in _PACKAGES}
    findings = toolchain.diagnose()
    if format == "json":
        rows = [{"name": f.name, "found": f.found, "detail": f.detail, "help": f.help} for f in findings]
        print(json.dumps({"gpusafe": __version__, "python": sys.version.split()[0], "packages": packages, "ptx": rows}))
    else:
        print(f"gpusafe {__version__}, Python {sys.version.split()[0]}")
        for name, version in packages.items():
            print(f"  {name:18} {version or 'missing: pip install ' + name}")
        print("PTX stage")
        for f in findings:
            print(f"  {f.name:18} {f.detail if f.found else 'missing: ' + f.detail}")
            if not f.found and f.help:
                print(f"  {'':18} help: {f.help}")
    return 0 if all(packages.values()) else 2


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
