"""What holds for all tests: no verdict of another run is used, unless a test asks for a cache of its own."""

from __future__ import annotations

import os

os.environ["GPUSAFE_CACHE_DIR"] = ""
