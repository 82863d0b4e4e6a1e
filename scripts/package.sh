#!/bin/sh
# Builds the wheel and the source distribution into dist/, and tries both in environments of their own.
#   sh scripts/package.sh [--test [ARGUMENTS OF PYTEST]]
set -eu
cd "$(dirname "$0")/.."
. scripts/environment.sh

make_venv
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

say "building"
"$VENV/bin/python" -m venv "$work/build"
"$work/build/bin/python" -m pip install -q --disable-pip-version-check build
rm -rf dist build
"$work/build/bin/python" -m build --outdir dist . >"$work/log" 2>&1 || { tail -n 30 "$work/log" >&2; exit 1; }

for made in dist/*.whl dist/*.tar.gz; do
    say "installing $made"
    rm -rf "$work/user"
    "$VENV/bin/python" -m venv "$work/user"
    "$work/user/bin/python" -m pip install -q --disable-pip-version-check "$made"
    bin=$work/user/bin
    cp -R fixtures/crates/example "$work/example"
    (
        cd "$work/example"
        "$bin/gpusafe" --version
        status=0
        "$bin/cargo-gpusafe" gpusafe --ptx never -q --format short || status=$?
        [ "$status" = 1 ] || { say "expected exit status 1, got $status"; exit 1; }
        "$bin/python" -c 'import gpusafe; assert len(gpusafe.check(".", ptx="never").findings) >= 3'
    )
    rm -rf "$work/example"
done

if [ "${1:-}" = --test ]; then # further arguments go to pytest
    shift
    say "the tests of the source distribution"
    "$work/user/bin/python" -m pip install -q --disable-pip-version-check "pytest>=8" "hypothesis>=6" "jsonschema>=4"
    tar -xzf dist/*.tar.gz -C "$work"
    (cd "$work"/gpusafe-*/ && "$work/user/bin/python" -m pytest "$@")
fi
ls -l dist >&2
