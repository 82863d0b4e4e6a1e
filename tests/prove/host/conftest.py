"""Lets the tests of the host prover use the paths written by hand for the data-flow tests."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "dataflow"))
