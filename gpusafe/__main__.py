"""``python -m gpusafe``."""

from __future__ import annotations

import sys

from gpusafe.cli import main

sys.exit(main())
