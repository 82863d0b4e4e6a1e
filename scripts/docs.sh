#!/bin/sh
# Builds the site into site/; a link that leads nowhere fails it. `sh scripts/docs.sh serve` shows it while you write.
set -eu
cd "$(dirname "$0")/.."
. scripts/environment.sh

make_venv
install_package "[docs]"
export NO_MKDOCS_2_WARNING=1
if [ "${1:-}" = serve ]; then
    exec "$VENV/bin/mkdocs" serve
fi
"$VENV/bin/mkdocs" build --strict --quiet
say "site/index.html"
