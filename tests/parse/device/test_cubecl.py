"""CubeCL's kernels: read, proved or refuted under their own launches, unknown where planes come in."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpusafe.dataflow.cubecl_launches import find_cube_launches, with_cube_launches
from gpusafe.ir import kernel as k
from gpusafe.parse.rust.device import lower_kernels
from gpusafe.parse.workspace import load
from gpusafe.prove.kernels import check_kernel
from gpusafe.verdict import Verdict

HEAD = "use cubecl::prelude::*;\n"


def _kernels(tmp_path: Path, text: str) -> dict[str, k.Kernel]:
    file = tmp_path / "kernels.rs"
    file.write_text(HEAD + text)
    workspace = load([file])
    return {kernel.name: kernel for kernel in with_cube_launches(workspace, lower_kernels(workspace).kernels)}


def _judged(kernel: k.Kernel) -> tuple[set[Verdict], set[str]]:
    found = check_kernel(kernel).obligations
    return {o.verdict for o in found}, {o.rule for o in found if o.verdict is Verdict.REFUTED}


def test_a_guarded_element_wise_kernel_is_proved_whatever_number_its_type_is(tmp_path: Path) -> None:
    text = """#[cube(launch_unchecked)]
    fn scale<F: Float>(input: &Array<F>, output: &mut Array<F>) {
        if ABSOLUTE_POS < input.len() { output[ABSOLUTE_POS] = input[ABSOLUTE_POS] * F::new(2.0); }
    }"""
    kernel = _kernels(tmp_path, text)["scale"]
    assert kernel.granted and not kernel.generic
    assert _judged(kernel)[0] == {Verdict.PROVED}


def test_all_units_of_one_cube_that_write_one_element_race(tmp_path: Path) -> None:
    text = "#[cube(launch)] fn racy(output: &mut [u32]) { output[0] = UNIT_POS; }"
    assert _judged(_kernels(tmp_path, text)["racy"])[1] == {"GS201"}


REVERSED = """#[cube(launch)]
fn reversed(output: &mut Array<f32>) {
    let mut held = SharedMemory::<f32>::new(64usize);
    held[UNIT_POS as usize] = output[ABSOLUTE_POS];
    %s
    output[ABSOLUTE_POS] = held[(CUBE_DIM - 1 - UNIT_POS) as usize];
}
fn run<R: Runtime>(client: &ComputeClient<R>, a: ArrayArg<R>) {
    let dim = CubeDim::new_1d(64);
    reversed::launch::<R>(client, CubeCount::Static(4, 1, 1), dim, a);
}"""


@pytest.mark.parametrize(("between", "rules"), [("sync_cube();", set()), ("", {"GS202"})])
def test_shared_memory_needs_the_barrier(tmp_path: Path, between: str, rules: set[str]) -> None:
    verdicts, found = _judged(_kernels(tmp_path, REVERSED % between)["reversed"])
    assert found == rules
    assert rules or verdicts == {Verdict.PROVED}


def test_a_kernel_of_one_cube_is_judged_under_the_launch_that_names_it(tmp_path: Path) -> None:
    text = """#[cube(launch)] fn local(output: &mut Array<f32>) { output[UNIT_POS as usize] = 1.0; }
    fn run<R: Runtime>(client: &ComputeClient<R>, a: ArrayArg<R>) {
        local::launch::<R>(client, CubeCount::Static(%d, 1, 1), CubeDim::new_1d(32), a);
    }"""
    assert _judged(_kernels(tmp_path, text % 1)["local"])[0] == {Verdict.PROVED}
    assert _judged(_kernels(tmp_path, text % 2)["local"])[1] == {"GS201"}


def test_a_launch_of_unknown_size_is_no_reason_for_an_error(tmp_path: Path) -> None:
    text = """#[cube(launch)] fn one(output: &mut Array<u32>) { output[0] = UNIT_POS; }
    fn run<R: Runtime>(client: &ComputeClient<R>, a: ArrayArg<R>) {
        one::launch::<R>(client, CubeCount::Static(1, 1, 1), CubeDim::new(client, 1), a);
    }"""
    verdicts, rules = _judged(_kernels(tmp_path, text)["one"])
    assert Verdict.UNKNOWN in verdicts and not rules


def test_a_kernel_that_a_macro_may_launch_is_not_held_to_a_launch_of_our_own_making(tmp_path: Path) -> None:
    text = """#[cube(launch)] fn one(output: &mut Array<u32>) { output[0] = UNIT_POS; }
    macro_rules! run { ($name:ident) => { $name::launch(&client, CubeCount::Static(1, 1, 1), CubeDim::new_1d(1), a) } }
    """
    verdicts, rules = _judged(_kernels(tmp_path, text)["one"])
    assert Verdict.UNKNOWN in verdicts and not rules


def test_an_index_outside_of_a_checked_buffer_accesses_nothing_and_the_unit_goes_on(tmp_path: Path) -> None:
    text = """#[cube(%s)] fn f(a: &mut Array<f32>) { a[ABSOLUTE_POS] = 1.0; sync_cube(); a[ABSOLUTE_POS] = 2.0; }"""
    checked = _kernels(tmp_path, text % "launch")["f"]
    assert [type(s) for s in checked.body] == [k.If, k.Barrier, k.If]
    unchecked = _kernels(tmp_path, text % "launch_unchecked")["f"]
    assert [type(s) for s in unchecked.body] == [k.Store, k.Barrier, k.Store]


def test_a_unit_that_terminates_before_a_barrier_is_no_proof(tmp_path: Path) -> None:
    text = """#[cube(launch)] fn early(a: &mut Array<f32>) {
        if ABSOLUTE_POS >= a.len() { terminate!(); }
        sync_cube();
        a[ABSOLUTE_POS] = 1.0;
    }"""
    assert _judged(_kernels(tmp_path, text)["early"])[0] != {Verdict.PROVED}


def test_operations_of_a_plane_are_said_to_be_not_followed(tmp_path: Path) -> None:
    text = "#[cube(launch)] fn sums(a: &mut Array<f32>) { a[ABSOLUTE_POS] = plane_sum(a[ABSOLUTE_POS]); }"
    gaps = [s.what for s in _kernels(tmp_path, text)["sums"].body if isinstance(s, k.Unmodelled)]
    assert any("plane_sum" in gap for gap in gaps)


def test_in_its_own_sources_the_models_stand_for_the_placeholders(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "Cargo.toml").write_text('[package]\nname = "cubecl-core"\nversion = "0.1.0"\nedition = "2021"\n')
    (tmp_path / "src" / "lib.rs").write_text("""
    use crate as cubecl;
    pub mod topology { pub const UNIT_POS: u32 = 2; pub const PLANE_KIND: u32 = 2; }
    pub mod sync { pub fn sync_cube() {} pub fn sync_other() {} }
    pub mod prelude { pub use crate::topology::*; pub use crate::sync::*; }
    use prelude::*;
    #[cube(launch)] fn f(a: &mut [u32]) { a[UNIT_POS as usize] = PLANE_KIND; sync_cube(); sync_other(); }
    """)
    workspace = load([tmp_path])
    (kernel,) = lower_kernels(workspace).kernels
    assert any(isinstance(s, k.Barrier) for s in kernel.body)
    assert any(isinstance(s, k.Unmodelled) and "sync_other" in s.what for s in kernel.body)


def test_launches_are_found_with_their_sizes(tmp_path: Path) -> None:
    (tmp_path / "kernels.rs").write_text(HEAD + REVERSED % "sync_cube();")
    workspace = load([tmp_path / "kernels.rs"])
    (launch,) = find_cube_launches(workspace, lower_kernels(workspace).kernels)
    assert (launch.size.grid, launch.size.block, launch.fits) == ((4, 1, 1), (64, 1, 1), True)
