"""cudarc: what its automatic ordering does, and when."""

from __future__ import annotations

from tests.dataflow.host.walking import CUDARC, lines, main_paths, work


def untracked(body: str) -> list[str]:
    return lines(CUDARC + "fn main() { let ctx = CudaContext::new(0).unwrap(); "
                 "unsafe { ctx.disable_event_tracking() }; let s = ctx.new_stream().unwrap(); "
                 "let t = ctx.new_stream().unwrap(); " + body + " }")  # fmt: skip


def tracked(body: str) -> list[str]:
    return lines(CUDARC + "fn main() { let ctx = CudaContext::new(0).unwrap(); "
                 "let s = ctx.new_stream().unwrap(); let t = ctx.new_stream().unwrap(); " + body + " }")  # fmt: skip


def test_a_read_on_another_stream_waits_for_the_write_event() -> None:
    found = tracked("let a = s.clone_htod(&[1.0f32; 64]).unwrap(); t.clone_dtoh(&a).unwrap();")
    upload = found.index("s copy write a")
    assert found[upload + 1] == "record event2 s"
    assert found[upload + 2 : upload + 4] == ["wait t event2", "t copy read a"]


def test_nothing_waits_when_tracking_is_off() -> None:
    found = untracked("let a = s.clone_htod(&[1.0f32; 64]).unwrap(); t.clone_dtoh(&a).unwrap();")
    assert not [x for x in found if x.startswith(("wait", "record"))]


def test_slices_made_while_tracking_is_off_stay_untracked() -> None:
    found = untracked(
        "let a = s.clone_htod(&[1.0f32; 64]).unwrap(); unsafe { ctx.enable_event_tracking() }; "
        "t.clone_dtoh(&a).unwrap();"
    )
    assert not [x for x in found if x.startswith(("wait", "record"))]


def test_the_first_stream_synchronizes_the_context_once() -> None:
    assert tracked("")[0] == "sync device 0"
    assert tracked("").count("sync device 0") == 1


def test_dropping_the_last_counted_stream_ends_the_waiting() -> None:
    text = (
        CUDARC
        + """
fn main() {
    let ctx = CudaContext::new(0).unwrap();
    let d = ctx.default_stream();
    let a = d.clone_htod(&[1.0f32; 64]).unwrap();
    { let side = ctx.new_stream().unwrap(); side.clone_dtoh(&a).unwrap(); }
    d.clone_dtoh(&a).unwrap();
}
"""
    )
    found = lines(text)
    last = max(i for i, x in enumerate(found) if x == "the default stream copy read a")
    assert not found[last - 1].startswith("wait the default stream")
    assert "wait side event2" in found


def test_a_slice_keeps_its_stream_counted() -> None:
    text = (
        CUDARC
        + """
fn make(ctx: &Arc<CudaContext>) -> CudaSlice<f32> {
    let side = ctx.new_stream().unwrap();
    side.alloc_zeros(64).unwrap()
}
fn main() {
    let ctx = CudaContext::new(0).unwrap();
    let a = make(&ctx);
    ctx.default_stream().clone_dtoh(&a).unwrap();
}
"""
    )
    assert "wait the default stream event2" in lines(text)


def test_the_drop_of_a_slice_waits_for_both_events_and_frees_in_stream_order() -> None:
    found = tracked("let a = s.alloc_zeros::<f32>(64).unwrap();")
    assert found[-3:] == ["wait s event1", "wait s event2", "s free free a"]


def test_a_shared_argument_records_the_read_event_and_an_exclusive_one_the_write_event() -> None:
    found = tracked(
        'let m = ctx.load_module(x()).unwrap(); let f = m.load_function("k").unwrap();'
        "let a = s.alloc_zeros::<f32>(64).unwrap(); let mut b = s.alloc_zeros::<f32>(64).unwrap();"
        "t.launch_builder(&f).arg(&a).arg(&mut b).launch(LaunchConfig::for_num_elems(64));"
    )
    launch = next(i for i, x in enumerate(found) if x.startswith("t launch k"))
    assert found[launch] == "t launch k ref a mut b"
    assert found[launch - 3 : launch] == ["wait t event2", "wait t event3", "wait t event4"]
    assert found[launch + 1 : launch + 3] == ["record event1 t", "record event4 t"]


def test_a_guard_that_is_not_bound_records_at_the_end_of_its_statement() -> None:
    early = tracked("let mut a = s.alloc_zeros::<u8>(64).unwrap(); let (p, _) = a.device_ptr_mut(&s); "
                    "unsafe { result::memset_d8_async(p, 0, 64, s.cu_stream()) };")  # fmt: skip
    late = tracked("let mut a = s.alloc_zeros::<u8>(64).unwrap(); let (p, _g) = a.device_ptr_mut(&s); "
                   "unsafe { result::memset_d8_async(p, 0, 64, s.cu_stream()) };")  # fmt: skip
    where = [
        [i for i, x in enumerate(found) if x in ("s memset write a", "record event2 s")] for found in (early, late)
    ]
    kinds = [[found[i].split()[0] for i in at] for found, at in zip((early, late), where, strict=True)]
    assert kinds == [["s", "record", "record", "s"], ["s", "record", "s", "record"]]


def test_pageable_downloads_block_and_pinned_ones_do_not() -> None:
    text = (
        CUDARC
        + """
fn main() {
    let ctx = CudaContext::new(0).unwrap();
    let s = ctx.new_stream().unwrap();
    let a = s.alloc_zeros::<f32>(64).unwrap();
    let mut pinned = unsafe { ctx.alloc_pinned::<f32>(64).unwrap() };
    let host = s.clone_dtoh(&a).unwrap();
    s.memcpy_dtoh(&a, &mut pinned).unwrap();
}
"""
    )
    (path,) = main_paths(text)
    copies = [op for op in path.ops if getattr(op, "what", "") == "copy"]
    assert [op.blocks_host for op in copies] == [True, False]
    assert len(copies[1].accesses) == 2


def test_the_contents_of_pinned_memory_are_read_when_they_are_looked_at() -> None:
    found = untracked(
        "let mut p = unsafe { ctx.alloc_pinned::<f32>(64).unwrap() }; let v = p.as_ptr().unwrap();"
        "let x = unsafe { std::slice::from_raw_parts(v, 64) }[3]; p.as_mut_slice().unwrap()[2] = x; "
        "let y = unsafe { *v.add(1) };"
    )
    assert found == [
        "sync event1", "host read p", "sync event1", "host write p", "host read p", "sync event1", "free p none",
    ]  # fmt: skip


def test_views_are_ranges_of_their_slice() -> None:
    text = (
        CUDARC
        + """
fn main() {
    let ctx = CudaContext::new(0).unwrap();
    let s = ctx.default_stream();
    let mut a = s.alloc_zeros::<u16>(100).unwrap();
    for c in 0..2 { s.memset_zeros(&mut a.slice_mut(c * 50..(c + 1) * 50)).unwrap(); }
}
"""
    )
    (path,) = main_paths(text)
    ranges = [op.accesses[0].range for op in path.ops if getattr(op, "what", "") == "memset"][1:]
    assert [(r.start.value, r.size.value) for r in ranges] == [(0, 100), (100, 100)]


def test_what_is_captured_runs_when_the_graph_is_launched() -> None:
    found = untracked(
        "let mut a = s.alloc_zeros::<f32>(64).unwrap(); s.begin_capture(m()).unwrap(); s.memset_zeros(&mut a).unwrap();"
        "let g = s.end_capture(f()).unwrap().unwrap(); g.launch().unwrap(); g.launch().unwrap();"
    )
    assert work(found)[2:4] == ["s graph write a", "s graph write a"]


def test_two_devices_do_not_mix() -> None:
    text = (
        CUDARC
        + """
fn main() {
    let (a, b) = (CudaContext::new(0).unwrap(), CudaContext::new(1).unwrap());
    let (s, t) = (a.default_stream(), b.default_stream());
    let mut x = s.alloc_zeros::<f32>(64).unwrap();
    t.memset_zeros(&mut x).unwrap();
    s.memset_zeros(&mut x).unwrap();
}
"""
    )
    assert lines(text).count("foreign context") == 1


def test_per_thread_streams_differ_between_threads() -> None:
    text = (
        CUDARC
        + """
fn main() {
    let ctx = CudaContext::new(0).unwrap();
    let mut a = ctx.per_thread_stream().alloc_zeros::<f32>(64).unwrap();
    let other = ctx.clone();
    let t = std::thread::spawn(move || { other.per_thread_stream().memset_zeros(&mut a).unwrap(); a });
    let a = t.join().unwrap();
    ctx.per_thread_stream().clone_dtoh(&a).unwrap();
}
"""
    )
    (path,) = main_paths(text)
    used = [op.stream for op in path.ops if getattr(op, "what", "") in ("memset", "copy")]
    assert used[0] == used[2] != used[1]
    assert {path.threads.get(i) for i, op in enumerate(path.ops) if getattr(op, "stream", None) == used[1]} == {
        "thread1"
    }


def test_the_old_api_copies_on_the_stream_of_the_device() -> None:
    text = """
use cudarc::driver::{CudaDevice, LaunchAsync, LaunchConfig};
fn main() {
    let dev = CudaDevice::new(0).unwrap();
    dev.load_ptx(ptx(), "m", &["k"]).unwrap();
    let f = dev.get_func("m", "k").unwrap();
    let mut a = dev.htod_copy(vec![1.0f32; 64]).unwrap();
    let side = dev.fork_default_stream().unwrap();
    unsafe { f.launch_on_stream(&side, LaunchConfig::for_num_elems(64), (&mut a, 64)) }.unwrap();
}
"""
    assert work(lines(text)) == [
        "the device's stream alloc write a", "the device's stream copy write a", "side launch k mut a",
        "the device's stream free free a",
    ]  # fmt: skip
