"""One thread of a lowered kernel computes what a C++ compiler makes of the same text."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from gpusafe.dataflow.concrete.machine import ConcreteLaunch, Machine
from gpusafe.ir.expr import I32, Type
from gpusafe.parse.cuda import lower_source

HERE = Path(__file__).parent
PROGRAMS = sorted((HERE / "programs").glob("*.cu"))
CELLS = 16
COMPILER = shutil.which("g++") or shutil.which("clang++")
MAIN = """
int main() {
    static int out[64], in[64];
    const int given[64] = {%s};
    for (int i = 0; i < 64; i++) in[i] = given[i];
    k(out, in, 13);
    for (int i = 0; i < %d; i++) std::printf("%%d ", out[i]);
}
"""


def _input(index: int) -> int:
    return index * 7919 % 1000 - 300


def _compiled(program: Path, folder: Path) -> list[int]:
    given = ", ".join(str(_input(i)) for i in range(64))
    source = folder / "program.cpp"
    prelude = (HERE / "host_prelude.h").read_text()
    source.write_text(prelude + program.read_text() + MAIN % (given, CELLS))
    binary = folder / "program"
    assert COMPILER is not None
    subprocess.run([COMPILER, "-std=c++17", "-O0", "-fwrapv", "-w", "-o", str(binary), str(source)], check=True)
    done = subprocess.run([str(binary)], capture_output=True, text=True, check=True)
    return [int(word) for word in done.stdout.split()]


def _interpreted(program: Path) -> list[object]:
    module = lower_source(program.name, program.read_text())
    assert not module.errors
    (kernel,) = module.kernels

    def contents(region: str, offset: int, type_: Type) -> int:
        return _input(offset // 4) if region == "in" else 0

    launch = ConcreteLaunch((5, 1, 1), (64, 2, 1), {"n": 13}, {}, {}, contents)
    machine = Machine(kernel, launch, None, frozenset({((2, 0, 0), (3, 1, 0))}))
    outcome = machine.go([(2, 0, 0)])
    assert outcome.complete, outcome.why
    return [machine.memory.read("out", 4 * i, I32) for i in range(CELLS)]


@pytest.mark.skipif(COMPILER is None, reason="no C++ compiler to compare with")
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.stem)
def test_a_thread_computes_what_the_compiled_program_computes(program: Path, tmp_path: Path) -> None:
    found = _interpreted(program)
    assert [v if isinstance(v, int) else str(v) for v in found] == _compiled(program, tmp_path)


def test_there_are_programs_to_compare() -> None:
    assert len(PROGRAMS) >= 20
