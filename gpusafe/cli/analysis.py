"""A run as the command line asks for it: of the files, of the index or since a revision, held against a baseline."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from gpusafe.cli.progress import progress
from gpusafe.config import Options
from gpusafe.errors import UsageError
from gpusafe.results import Report

if TYPE_CHECKING:
    from gpusafe.cli.revision import Repository

_NOTHING = "nothing that gpusafe reads has changed, so nothing was analysed"


def analysed(options: Options) -> Report:
    """The report that ``options`` ask for, without what baselines accept."""
    report = _of_revision(options) if options.staged or options.changed_since else fresh(options)
    file = baseline_file(options)
    if file is None or not report.files:
        return report
    from gpusafe.report import baseline

    return baseline.apply(report, baseline.load(file))


def fresh(options: Options) -> Report:
    """The report on the files as they are."""
    from gpusafe.app import check

    with progress(options) as step:
        return check(options, step)


def baseline_file(options: Options) -> Path | None:
    """The baseline in force: the one asked for, or the nearest at or above the first path."""
    if options.no_baseline:
        return None
    if options.baseline is not None:
        file = Path(options.baseline)
        if not file.is_file():
            raise UsageError(f"no such baseline: {options.baseline} (`gpusafe baseline create` makes one)")
        return file
    start = Path(options.paths[0]).resolve()
    for folder in [start, *start.parents] if start.is_dir() else start.parents:
        if (folder / "gpusafe-baseline.json").is_file():
            return folder / "gpusafe-baseline.json"
        if (folder / ".git").exists():
            break
    return None


def _of_revision(options: Options) -> Report:
    from gpusafe.cli import revision

    repository = revision.Repository.around(Path(options.paths[0]))
    base = repository.base(options.changed_since) if options.changed_since else None
    changed = repository.staged(base) if options.staged else repository.changed(base or "HEAD")
    if not any(map(revision.matters, changed)):
        return Report((), (), (), notices=(_NOTHING,))
    if options.staged and repository.differs_from_index():
        with repository.index_tree() as tree, _inside(tree, repository, options) as there:
            report = fresh(there) if there else Report((), (), ())
    else:
        report = fresh(options)
    if base is None:
        return report
    from gpusafe.report import baseline

    with repository.revision_tree(base) as tree, _inside(tree, repository, options) as there:
        before = fresh(there) if there else Report((), (), ())
        held = baseline.of_report(before, options.changed_since or base, tree)
    return baseline.apply(report, replace(held, folder=repository.top))


@contextmanager
def _inside(tree: Path, repository: Repository, options: Options) -> Iterator[Options | None]:
    """Work in another tree of the repository, in the same folder; None when none of the paths is there."""
    here = Path.cwd()
    at = tree / repository.relative(here) if repository.holds(here) else tree
    paths = [os.path.relpath(tree / repository.relative(Path(path)), at) for path in options.paths]
    if not at.is_dir():
        at, paths = tree, [str(repository.relative(Path(path))) for path in options.paths]
    per_path = tuple(replace(e, folder=str(tree / repository.relative(Path(e.folder)))) for e in options.per_path)
    os.chdir(at)
    try:
        there = tuple(path for path in paths if os.path.exists(path))
        yield replace(options, paths=there, per_path=per_path) if there else None
    finally:
        os.chdir(here)
