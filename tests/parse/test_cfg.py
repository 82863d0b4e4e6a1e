"""What is compiled for the host, and what for the device."""

from __future__ import annotations

import pytest

from gpusafe.parse.rust.build import parse_file
from gpusafe.parse.syntax_cfg import item_sets

HOST, DEVICE, BOTH, NONE = {"host"}, {"device"}, {"host", "device"}, set[str]()


@pytest.mark.parametrize(
    ("attribute", "expected"),
    [
        ("", BOTH),
        ('#[cfg(target_arch = "nvptx64")]', DEVICE),
        ('#[cfg(not(target_arch = "nvptx64"))]', HOST),
        ('#[cfg(target_os = "cuda")]', DEVICE),
        ('#[cfg(not(target_os = "cuda"))]', HOST),
        ('#[cfg(target_arch = "x86_64")]', HOST),
        ('#[cfg(not(target_arch = "x86_64"))]', BOTH),
        ("#[cfg(test)]", BOTH),
        ('#[cfg(feature = "gpu")]', BOTH),
        ('#[cfg(all(feature = "gpu", target_os = "cuda"))]', DEVICE),
        ('#[cfg(any(feature = "gpu", target_os = "cuda"))]', BOTH),
        ('#[cfg(all(target_os = "cuda", not(target_os = "cuda")))]', NONE),
        ('#[cfg(target_os = "cuda")] #[cfg(unix)]', NONE),
        ("#[cfg(false)]", NONE),
        ("#[cfg(any())]", NONE),
        ("#[cfg(all())]", BOTH),
        ('#[cfg_attr(target_os = "cuda", cfg(any()))]', HOST),
        ("#[cfg(%%)]", BOTH),
        ("#[cfg(" + "not(" * 500 + "a" + ")" * 500 + ")]", BOTH),
    ],
)
def test_item_sets(attribute: str, expected: set[str]) -> None:
    (item,) = parse_file("x.rs", f"{attribute} fn f() {{}}").items
    assert item_sets(item) == expected
