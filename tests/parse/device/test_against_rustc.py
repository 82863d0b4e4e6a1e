"""The lowering against rustc: programs must leave the same numbers when compiled and when their IR is run."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from gpusafe.dataflow.concrete.machine import ConcreteLaunch, Machine
from gpusafe.ir.expr import U64, Type
from gpusafe.ir.kernel import Kernel
from gpusafe.parse.rust.build import parse_file
from gpusafe.parse.rust.device import lower_file

PROGRAMS = Path(__file__).parent / "programs.rs"
XS = [5, 12, 40, 8, 21, 3]
NS = (0, 7, 12, 33)
CELLS = 40
NAMES = re.findall(r"#\[kernel\]\s*pub unsafe fn (\w+)", PROGRAMS.read_text())


def kernels() -> dict[str, Kernel]:
    text = PROGRAMS.read_text().replace("#[kernel]\npub unsafe fn", 'pub unsafe extern "ptx-kernel" fn')
    source = parse_file("programs.rs", text)
    assert not source.errors
    made = lower_file(source)
    assert not made.problems
    return {k.name: k for k in made.kernels}


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, int], list[int]]:
    """What the programs leave when rustc compiles them."""
    if shutil.which("rustc") is None:
        pytest.skip("no rustc here")
    folder = tmp_path_factory.mktemp("programs")
    calls = "\n".join(
        f"for n in [{', '.join(map(str, NS))}] {{ let mut o = [0u64; {CELLS}];"
        f" unsafe {{ {name}(o.as_mut_ptr(), &xs, n) }};"
        f' println!("{name} {{n}} {{:?}}", o); }}'
        for name in NAMES
    )
    text = PROGRAMS.read_text().replace("#[kernel]\n", "")
    main = f"fn main() {{ let xs = [{', '.join(map(str, XS))}u32];\n{calls}\n}}"
    (folder / "main.rs").write_text(f"#![allow(warnings)]\n{text}\n{main}\n")
    flags = ["-O", "-Cdebug-assertions=off", "-Coverflow-checks=off", "--edition=2021", "-o", str(folder / "main")]
    made = subprocess.run(["rustc", *flags, str(folder / "main.rs")], capture_output=True, text=True, check=False)
    if made.returncode:
        pytest.fail(made.stderr)
    output = subprocess.run([str(folder / "main")], capture_output=True, text=True, check=True).stdout
    results: dict[tuple[str, int], list[int]] = {}
    for line in output.splitlines():
        name, n, values = line.split(" ", 2)
        results[name, int(n)] = [int(v) for v in values.strip("[]").split(",")]
    return results


def interpreted(kernel: Kernel, n: int) -> tuple[list[object], str]:
    """What the kernel's IR leaves."""

    def contents(region: str, offset: int, type_: Type) -> int:
        return XS[offset // 4] if region == "xs" else 0

    launch = ConcreteLaunch((1, 1, 1), (1, 1, 1), {"n": n}, {"xs": len(XS)}, contents=contents)
    machine = Machine(kernel, launch)
    outcome = machine.go([(0, 0, 0)])
    return [machine.memory.read("out", 8 * i, U64) for i in range(CELLS)], outcome.why


@pytest.mark.parametrize("name", NAMES)
def test_a_program_means_what_rustc_makes_of_it(name: str, compiled: dict[tuple[str, int], list[int]]) -> None:
    kernel = kernels()[name]
    for n in NS:
        found, why = interpreted(kernel, n)
        assert not why, f"n = {n}: {why}"
        assert found == compiled[name, n], f"n = {n}"
