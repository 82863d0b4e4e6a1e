#!/bin/sh
# Sets everything up and checks the example crate: `sh scripts/demo.sh [arguments of gpusafe check]`.
set -eu
cd "$(dirname "$0")/.."
. scripts/environment.sh

make_venv
install_package ""
get_toolchain

say "gpusafe check fixtures/crates/example"
status=0
"$VENV/bin/gpusafe" check fixtures/crates/example "$@" || status=$?
if [ "$status" = 1 ]; then
    say "exit status 1: the example holds faults on purpose; .venv/bin/gpusafe check YOUR_CRATE is next"
    exit 0
fi
exit "$status"
