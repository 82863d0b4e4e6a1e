"""cuda-oxide's catalogue held against the models."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpusafe.cli import main
from gpusafe.errors import UsageError
from gpusafe.parse.dialects.intrinsic_catalogue import compare

OVERLAY = """
schema = 41
[[intrinsic]]
id = "thread_index"
abi_id = "i0001"
rust_name = "%s"
public_rust_path = "cuda_intrinsics::warp::%s"
compatibility_rust_paths = ["cuda_device::warp::%s"]
[[family.variant]]
abi_id = "i0002"
"""
LEDGER = '[[entry]]\nabi_id = "i0002"\nstatus = "active"\ncatalog_id = "add_rn_f32"\n'


def _checkout(tmp_path: Path, name: str) -> Path:
    folder = tmp_path / "intrinsics" / "overlay"
    folder.mkdir(parents=True)
    (folder / "one.toml").write_text(OVERLAY % (name, name, name))
    (tmp_path / "intrinsics" / "abi-v1.toml").write_text(LEDGER)
    return tmp_path


def test_modelled_and_pure_operations_are_known(tmp_path: Path) -> None:
    found = compare(_checkout(tmp_path, "lane_id"))
    assert [i.name for i in found.known] == ["lane_id", "add_rn_f32"]
    assert not found.missing


def test_an_operation_without_a_model_is_named_and_the_status_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["intrinsics", str(_checkout(tmp_path, "brew_coffee"))]) == 1
    assert "one.toml: 1 missing: brew_coffee" in capsys.readouterr().out


def test_a_file_that_is_no_toml_is_a_problem_and_the_rest_is_read(tmp_path: Path) -> None:
    checkout = _checkout(tmp_path, "lane_id")
    (checkout / "intrinsics" / "overlay" / "broken.toml").write_text("[[")
    found = compare(checkout)
    assert found.problems[0].startswith("broken.toml")
    assert len(found.known) == 2


def test_a_folder_without_a_catalogue_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no checkout of cuda-oxide"):
        compare(tmp_path)
