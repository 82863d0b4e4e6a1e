"""Where the sources are that a PTX file was made from."""

from __future__ import annotations

import os
from pathlib import Path

from gpusafe.parse.ptx.places import Finder
from gpusafe.parse.workspace_model import Workspace

_LARGEST = 2_000_000


def finder(workspace: Workspace, file: str) -> Finder:
    """Finds the files that ``.file`` names: those that were read, or that lie under the folder of the PTX."""
    by_real = {os.path.realpath(name): name for name in workspace.sources}
    folder = os.path.dirname(file)

    def find(name: str) -> str | None:
        here = os.path.normpath(os.path.join(folder, name))
        known = by_real.get(os.path.realpath(here))
        if known is not None:
            return known
        try:
            real = Path(here).resolve(strict=True)
            if not real.is_file() or not any(real.is_relative_to(root) for root in workspace.roots):
                return None
            if real.stat().st_size > _LARGEST:
                return None
            workspace.sources[here] = real.read_text(encoding="utf-8", errors="replace")
        except OSError:
            return None
        by_real[str(real)] = here
        return here

    return find
