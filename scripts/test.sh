#!/bin/sh
# Sets up and passes the tests: format, lint, types, layers, tests. Arguments go to pytest.
set -eu
cd "$(dirname "$0")/.."
. scripts/environment.sh

make_venv
install_package "[dev]"
build_core

bin=$VENV/bin
say "ruff"
"$bin/ruff" check .
"$bin/ruff" format --check .
say "mypy"
"$bin/mypy"
say "layers"
"$bin/lint-imports" --no-cache
say "pytest"
"$bin/python" -m pytest -n auto --dist worksteal "$@"
