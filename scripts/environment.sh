# What the other scripts share: a Python, the virtual environment, and tools that the PTX stage can use.
# To be sourced from the project's root by a POSIX shell with `set -eu`.

VENV=.venv

say() { printf '==> %s\n' "$*" >&2; }

is_root() { [ "$(id -u)" = 0 ]; }

can_apt() { is_root && command -v apt-get >/dev/null 2>&1; }

# apt_install PACKAGE...: installs quietly; fails without harm where there is no apt-get, no right or no network.
apt_install() {
    can_apt || return 1
    say "apt-get install $*"
    DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@" >/dev/null 2>&1 && return 0
    apt-get update -q >/dev/null 2>&1 || return 1
    DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@" >/dev/null 2>&1
}

good_python() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }

find_python() {
    for candidate in ${PYTHON:-} python3 python3.13 python3.12 python3.11; do
        if good_python "$candidate"; then
            command -v "$candidate"
            return 0
        fi
    done
    return 1
}

# make_venv: a virtual environment with pip in $VENV; keeps one that works.
make_venv() {
    if good_python "$VENV/bin/python" && "$VENV/bin/python" -m pip --version >/dev/null 2>&1; then
        return 0
    fi
    python=$(find_python) || { apt_install python3 python3-venv && python=$(find_python); } || {
        say "Python 3.11 or newer is needed (on Debian: apt-get install python3 python3-venv)"
        return 1
    }
    rm -rf "$VENV"
    say "creating $VENV with $python"
    "$python" -m venv "$VENV" >/dev/null 2>&1 && return 0
    rm -rf "$VENV"
    apt_install python3-venv || {
        say "$python cannot create virtual environments (on Debian: apt-get install python3-venv)"
        return 1
    }
    "$(find_python)" -m venv "$VENV"
}

# install_package EXTRAS: gpusafe itself, editable, with extras such as "[dev]"; skipped when nothing has changed.
install_package() {
    stamp=$VENV/.installed$1
    if [ -f "$stamp" ] && [ ! pyproject.toml -nt "$stamp" ] && "$VENV/bin/python" -c 'import gpusafe, z3' 2>/dev/null; then
        return 0
    fi
    say "installing the Python packages"
    "$VENV/bin/python" -m pip install -q --disable-pip-version-check -e ".$1"
    : >"$stamp"
}

has_compiler() { "$VENV/bin/python" -c 'import sys
from gpusafe.codegen_check.toolchain import find
sys.exit(find().rustc is None)' 2>/dev/null; }

has_assembler() { "$VENV/bin/python" -c 'import sys
from gpusafe.codegen_check.toolchain import find
sys.exit(find().ptxas is None)' 2>/dev/null; }

# get_toolchain: a rustc for nvptx64 and a ptxas, from wherever they can be had here. Never fails: without them the
# PTX stage is skipped, and `gpusafe doctor` says how to get them.
get_toolchain() {
    if ! has_compiler; then
        apt_install rustc-web rust-web-src || true
    fi
    if ! has_compiler && command -v rustup >/dev/null 2>&1; then
        say "rustup target add nvptx64-nvidia-cuda"
        rustup target add nvptx64-nvidia-cuda >/dev/null 2>&1 || true
    fi
    if ! has_assembler; then
        say "installing ptxas"
        "$VENV/bin/python" -m pip install -q --disable-pip-version-check -e ".[ptx]" >/dev/null 2>&1 || true
    fi
    build_core
    if ! has_compiler || ! has_assembler; then
        say "the PTX stage is limited on this machine; .venv/bin/gpusafe doctor says what is missing and how to get it"
    fi
}

# build_core: the core library for nvptx64, once per compiler (about 20 seconds).
build_core() {
    if has_compiler; then
        "$VENV/bin/python" -m gpusafe.codegen_check setup >/dev/null || true
    fi
}
