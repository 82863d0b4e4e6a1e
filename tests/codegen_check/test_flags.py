"""Compiler flags that a program states, and the targets that follow."""

from __future__ import annotations

import pytest

from gpusafe.codegen_check.flags import DEFAULT_TARGETS, Flags, flags_of, targets_for


def test_flags_are_read_from_the_leading_comment_lines() -> None:
    flags = flags_of("//! why: a test\n//! rustc-flags: -C target-cpu=sm_90 -Z mir-enable-passes=-JumpThreading\n")
    assert flags.passed == ("-Ctarget-cpu=sm_90", "-Zmir-enable-passes=-JumpThreading")
    assert flags.target == "sm_90"


def test_a_line_behind_the_first_item_is_no_flag_line() -> None:
    assert flags_of("fn main() {}\n//! rustc-flags: -C target-cpu=sm_90\n") == Flags()


@pytest.mark.parametrize(
    "flag",
    [
        "-C linker=/tmp/x",
        "-Z codegen-backend=/tmp/x.so",
        "-C llvm-args=-load=/tmp/x.so",
        "-o /tmp/x",
        "@args",
        "--sysroot=/",
    ],
)
def test_a_flag_that_could_run_or_write_something_is_refused(flag: str) -> None:
    flags = flags_of(f"//! rustc-flags: {flag}\n")
    assert flags.passed == ()
    assert flags.refused


def test_a_value_cannot_smuggle_in_a_path() -> None:
    assert flags_of("//! rustc-flags: -C target-cpu=../../x\n").passed == ()


def test_the_programs_own_target_wins_and_was_asked_for() -> None:
    (target,) = targets_for(Flags(("-Ctarget-cpu=sm_90a",), "sm_90a"), ("sm_80",))
    assert (target.name, target.asked, target.level) == ("sm_90a", True, 90)


def test_default_targets_were_not_asked_for() -> None:
    targets = targets_for(Flags(), ())
    assert tuple(t.name for t in targets) == DEFAULT_TARGETS
    assert not any(t.asked for t in targets)
