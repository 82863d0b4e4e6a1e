"""``python -m gpusafe.prove.memory_model FILE|FOLDER...``: decide litmus tests."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from gpusafe.errors import GpusafeError
from gpusafe.prove.memory_model.models import Model
from gpusafe.prove.memory_model.table import answer, questions, rows


def main(arguments: list[str] | None = None) -> int:
    """Returns 0 where nothing disagrees with what was published and every test could be read, else 1; 2 for usage."""
    parser = argparse.ArgumentParser(prog="gpusafe litmus", description="Decide PTX litmus tests.")
    parser.add_argument("paths", nargs="+", metavar="PATH", help="a litmus test, or a folder of them")
    parser.add_argument("--model", choices=[m.value for m in Model], default=Model.PTX_7_5.value)
    parser.add_argument("--explain", action="store_true", help="show the execution behind each answer")
    space = parser.parse_args(arguments)
    return run(tuple(space.paths), space.model, space.explain)


def run(paths: tuple[str, ...], model: str, explain: bool) -> int:
    """Decide all tests below the paths and print the table."""
    try:
        asked = [q for p in paths for q in questions(Path(p), Model(model))]
    except GpusafeError as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 2
    answers = [answer(q) for q in asked]
    for line in rows(answers, explain=explain):
        print(line)
    return 1 if any(a.agrees is False or a.decision is None for a in answers) else 0


if __name__ == "__main__":
    raise SystemExit(main())
