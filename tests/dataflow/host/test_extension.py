"""Programs on a wrapper that an ``[[api]]`` table describes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gpusafe.cli import main

TABLE = """
[[api]]
crate = "my_gpu"
[api.types]
Queue = "stream"
Fence = "event"
GpuVec = "device"
PinnedVec = "pinned"
[[api.call]]
name = "Queue::new"
effect = "new-stream"
kind = "nonblocking"
[[api.call]]
name = "Queue.finish"
effect = "synchronize"
what = "stream"
target = "self"
[[api.call]]
name = "Queue.after"
effect = "wait"
stream = "self"
event = 0
[[api.call]]
name = "Fence::on"
effect = "new-event"
[[api.call]]
name = "Fence.mark"
effect = "record"
event = "self"
stream = 0
[[api.call]]
name = "GpuVec::zeroed"
effect = "alloc"
of = "device"
length = 0
zero = true
stream = 1
[[api.call]]
name = "PinnedVec::new"
effect = "alloc"
of = "pinned"
length = 0
[[api.call]]
name = "GpuVec.download"
effect = "copy"
from = "self"
to = 0
stream = 1
[[api.call]]
name = "sort"
effect = "enqueue"
writes = [0]
stream = 1
"""


def check(folder: Path, body: str, capsys: pytest.CaptureFixture[str], table: str = TABLE) -> dict[str, Any]:
    (folder / "src").mkdir(exist_ok=True)
    (folder / "gpusafe.toml").write_text(table)
    (folder / "Cargo.toml").write_text('[package]\nname = "a"\nversion = "0.1.0"\n[dependencies]\nmy_gpu = "0.4"\n')
    text = "use my_gpu::{Queue, Fence, GpuVec, PinnedVec, sort};\n// on a GPU: launch_builder\n"
    (folder / "src/main.rs").write_text(text + "type CudaStream = Queue;\nfn main() {\n" + body + "}\n")
    main(["check", "--format", "json", "--ptx", "never", str(folder)])
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


SETUP = """    let a = Queue::new();
    let b = Queue::new();
    let mut x = GpuVec::<f32>::zeroed(64, &a);
"""


def rules(report: dict[str, Any]) -> set[str]:
    return {f["rule"] for f in report["findings"] if f["level"] == "error"}


def test_two_streams_on_one_buffer_race(tmp_path, capsys):
    assert rules(check(tmp_path, SETUP + "    sort(&mut x, &b);\n    a.finish();\n    b.finish();\n", capsys)) == {
        "GS101"
    }


def test_an_event_orders_them(tmp_path, capsys):
    body = (
        SETUP + "    let e = Fence::on();\n    e.mark(&a);\n    b.after(&e);\n    sort(&mut x, &b);\n    b.finish();\n"
    )
    report = check(tmp_path, body, capsys)
    assert rules(report) == set()
    assert [u["verdict"] for u in report["units"]] == ["proved"]


def test_pinned_memory_that_is_read_before_the_copy_is_done(tmp_path, capsys):
    body = SETUP + "    let mut h = PinnedVec::<f32>::new(64);\n    x.download(&mut h, &a);\n"
    body += '    println!("{}", h[0]);\n    a.finish();\n'
    assert rules(check(tmp_path, body, capsys)) == {"GS104"}
    assert rules(check(tmp_path, body.replace("    println", "    a.finish();\n    println"), capsys)) == set()


def test_a_call_that_the_table_does_not_have_is_not_proved(tmp_path, capsys):
    report = check(tmp_path, SETUP + "    x.shuffle(&b);\n    a.finish();\n", capsys)
    assert rules(report) == set()
    assert [u["verdict"] for u in report["units"]] == ["unknown"]


def test_a_wrong_table_is_a_note_and_the_rest_goes_on(tmp_path, capsys):
    wrong = TABLE.replace('name = "sort"\neffect = "enqueue"', 'name = "sort"\neffect = "launch"')
    report = check(tmp_path, SETUP + "    sort(&mut x, &b);\n    a.finish();\n    b.finish();\n", capsys, wrong)
    (notice,) = report["notices"]
    line = wrong[: wrong.index('name = "sort"')].count("\n")
    assert f"gpusafe.toml:{line}: `effect` of `sort` must be one of" in notice
    assert rules(report) == set()
    assert [u["verdict"] for u in report["units"]] == ["unknown"]
