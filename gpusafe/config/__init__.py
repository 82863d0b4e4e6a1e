"""The options of a run, and all that is derived from their one description: flags, files, schema, sample."""

from __future__ import annotations

from gpusafe.config.file_table import from_table
from gpusafe.config.levels import LEVELS, Lint, PathSettings
from gpusafe.config.options import Options, settings, with_values
from gpusafe.config.sample import sample
from gpusafe.config.schema import schema
from gpusafe.config.setting import Setting
from gpusafe.config.text import (
    FORMATS,
    parse_executor,
    parse_extent,
    parse_jobs,
    parse_outputs,
    parse_targets,
    parse_words,
)

__all__ = [
    "FORMATS",
    "LEVELS",
    "Lint",
    "Options",
    "PathSettings",
    "Setting",
    "from_table",
    "parse_executor",
    "parse_extent",
    "parse_jobs",
    "parse_outputs",
    "parse_targets",
    "parse_words",
    "sample",
    "schema",
    "settings",
    "with_values",
]
