"""Litmus tests as text."""

from __future__ import annotations

import pytest

from gpusafe.errors import GpusafeError
from gpusafe.parse.litmus import Barrier, Fence, Load, Location, Move, ReadModifyWrite, Store, read

ALL = """PTX every kind of line
"a comment (with parentheses)"
{
x = 0; y @ generic aliases x; t @ texture aliases y;
P0:r1=7;
}
 P0@cta 0,gpu 0              | P1@cta 1,cluster 2,gpu 0       ;
 LC00: ld.weak r0, y         | ld r0, 3                       ;
 tld.weak r2, t              | bar.cta.sync 1, 2, 64          ;
 bne r0, 0, LC00             | atom.acq_rel.gpu.cas r1,x,0,1  ;
 st.volatile x, r1           | membar.gl                      ;
                             | red.relaxed.cta.add x, 1       ;
filter (x != 9)
exists (P0:r0 == 1 /\\ ~(1:r1 = 2 \\/ [x] > -4))
"""


def test_names_resolve_to_cells_and_addresses() -> None:
    loads = [i for i in read(ALL).threads[0].code if isinstance(i, Load)]
    assert loads[0].location == Location("x", "y")
    assert (loads[1].location, loads[1].proxy) == (Location("x", "y"), "texture")


def test_volatile_membar_and_missing_words_have_the_meaning_of_the_isa() -> None:
    test = read(ALL)
    assert test.threads[0].code[-1] == Store(Location("x", "x"), "r1", "relaxed", "sys", "generic")
    move, barrier, atom, fence, red = test.threads[1].code
    assert move == Move("r0", "mov", 3, 0)
    assert barrier == Barrier(1, 2, 64, False)
    assert fence == Fence("sc", "gpu")
    assert isinstance(atom, ReadModifyWrite) and atom.operands == (0, 1)
    assert isinstance(red, ReadModifyWrite) and red.register is None


def test_the_places_and_the_initial_state() -> None:
    test = read(ALL)
    assert test.threads[1].place.cluster == 2
    assert test.threads[0].registers == (("r1", 7),)
    assert test.initial == (("x", 0),)


def test_the_assertion_and_the_filter() -> None:
    test = read(ALL)
    assert test.quantifier == "exists"
    assert test.only is not None and test.only.terms == ("x", 9)
    assert [p.kind for p in test.condition.parts] == ["==", "not"]


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("st.acquire.gpu x, 1", "order"),
        ("ld.relaxed r0, x", "scope"),
        ("ld.weak.gpu r0, x", "scope of a weak load"),
        ("frob r0, x", "name"),
        ("bne r0, 0, LC09", "label"),
        ("fence.weak.gpu", "fence order"),
    ],
)
def test_an_instruction_that_means_nothing_is_refused(line: str, wrong: str) -> None:
    with pytest.raises(GpusafeError, match="litmus"):
        read(f"PTX bad {wrong}\n{{}}\n P0@cta 0,gpu 0 ;\n {line} ;\nexists (x == 1)")


@pytest.mark.parametrize("text", ["", "PTX", "C other\n{}", "PTX a\n{x=0;}\n", "PTX a\n{}\n P0@cta 0,gpu 0 ;\n"])
def test_what_is_no_test_is_refused(text: str) -> None:
    with pytest.raises(GpusafeError):
        read(text)


def test_deep_nesting_is_refused_with_a_message() -> None:
    deep = "(" * 5000 + "x == 1" + ")" * 5000
    with pytest.raises(GpusafeError, match="nested too deeply"):
        read(f"PTX deep\n{{}}\n P0@cta 0,gpu 0 ;\n st.weak x, 1 ;\nexists {deep}")
