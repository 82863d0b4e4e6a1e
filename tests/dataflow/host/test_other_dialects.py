"""cust, RustaCUDA, cuda-oxide, cuda_async and cutile."""

from __future__ import annotations

from tests.dataflow.host.walking import CUST, OXIDE, line, lines, main_paths, program_of


def cust(body: str, items: str = "") -> list[str]:
    return lines(
        CUST
        + items
        + (
            "fn main() { let _c = cust::quick_init().unwrap(); "
            "let m = Module::from_ptx(P, &[]).unwrap(); "
            "let s = Stream::new(StreamFlags::NON_BLOCKING, None).unwrap(); "
        )
        + body
        + " }"
    )


def test_synchronous_copies_run_on_the_null_stream() -> None:
    found = cust("let a = DeviceBuffer::from_slice(&[1u32; 8]).unwrap(); let v = a.as_host_vec().unwrap();")
    assert found == ["alloc a", "the NULL stream copy write a", "the NULL stream copy read a", "free a context"]


def test_cust_streams_are_blocking_and_those_of_rustacuda_keep_their_flag() -> None:
    new = "fn main() { let s = Stream::new(StreamFlags::NON_BLOCKING, None).unwrap(); s.synchronize().unwrap(); }"
    (modern,) = main_paths("use cust::prelude::*;\n" + new)
    (old,) = main_paths("use rustacuda::prelude::*;\n" + new)
    assert [next(iter(p.streams.values())).kind for p in (modern, old)] == ["blocking", "nonblocking"]


def test_launch_arguments_are_raw_pointers_with_offsets() -> None:
    text = CUST + (
        "fn main() { let m = Module::from_ptx(P, &[]).unwrap(); "
        "let s = Stream::new(StreamFlags::DEFAULT, None).unwrap(); "
        "let a = DeviceBuffer::from_slice(&[1.0f64; 8]).unwrap(); unsafe { "
        "launch!(m.k<<<(2, 3), 32u32, 0, s>>>(a.as_device_ptr().add(4), a.len())).unwrap(); } }"
    )
    (path,) = main_paths(text)
    launch = next(op for op in path.ops if getattr(op, "what", "") == "launch")
    assert launch.args[0].range.start.value == 32
    assert launch.args[1].value.value == 8
    assert [g.value for g in launch.shape.grid] == [2, 3, 1]


def test_asynchronous_copies_keep_their_host_side_in_use() -> None:
    found = cust(
        "let mut d: DeviceBuffer<u8> = DeviceBuffer::zeroed(4).unwrap(); let h = vec![1u8; 4]; "
        "unsafe { d.async_copy_from(&h, &s).unwrap(); } drop(h);"
    )
    assert found[2:4] == ["s copy read h write d", "free h none"]


def test_a_callback_uses_what_it_borrows_but_not_what_it_owns() -> None:
    found = cust(
        'let a = 1; let b = 2; s.add_callback(Box::new(|_| { println!("{a}"); })).unwrap(); '
        's.add_callback(Box::new(move |_| { println!("{b}"); })).unwrap();'
    )
    assert found == ["s callback read a", "s callback", "free a none"]


def test_host_views_of_unified_memory_are_accesses() -> None:
    found = cust(
        'let mut u = UnifiedBuffer::new(&0.0f32, 8).unwrap(); u[1] = 2.0; println!("{}", u[0]); '
        "let x: f32 = u.iter().sum();"
    )
    assert found == ["alloc u", "host write u", "host read u", "host read u", "free u context"]


def test_drop_async_frees_in_the_order_of_its_stream() -> None:
    found = cust("let a = DeviceBuffer::from_slice(&[1u32; 8]).unwrap(); a.drop_async(&s).unwrap();")
    assert found[-1] == "s free free a"


KERNELS = """
#[cuda_module]
mod kernels {
    #[constant] static TAPS: ConstantMemory<[f32; 4]> = x;
    #[kernel] pub fn scale(f: f32, x: &[f32], mut y: DisjointSlice<f32>) {} }
"""


def oxide(body: str) -> list[str]:
    return lines(
        OXIDE
        + KERNELS
        + (
            "fn main() { let ctx = CudaContext::new(0).unwrap(); let s = ctx.new_stream().unwrap(); "
            "let k = kernels::load(&ctx).unwrap(); "
        )
        + body
        + " }"
    )


def test_buffer_transfers_wait_for_their_own_stream() -> None:
    found = oxide("let a = DeviceBuffer::from_host(&s, &[1.0f32; 8]).unwrap(); let v = a.to_host_vec(&s).unwrap();")
    assert found == ["alloc a", "s copy write a", "sync s", "s copy read a", "sync s", "free a context"]


def test_generated_launch_methods_pass_the_arguments_in_order() -> None:
    found = oxide(
        "let a = DeviceBuffer::<f32>::zeroed(&s, 8).unwrap(); "
        "let mut b = DeviceBuffer::<f32>::zeroed(&s, 8).unwrap(); unsafe { "
        "k.scale(&s, LaunchConfig::for_num_elems(8), 2.0, &a, &mut b) }.unwrap();"
    )
    assert "s launch scale ref a mut b" in found


def test_constants_are_written_on_the_stream_that_is_named() -> None:
    assert "s copy write TAPS" in oxide("k.set_taps(&s, &[1.0; 4]).unwrap();")


def test_pinned_memory_goes_at_once() -> None:
    found = oxide(
        "let mut a = DeviceBuffer::<f32>::zeroed(&s, 8).unwrap(); "
        "let p = PinnedHostBuffer::from_slice(&ctx, &[1.0f32; 8]).unwrap(); unsafe { "
        "a.copy_from_pinned_host_async(&s, &p) }.unwrap();"
    )
    assert found[-3:] == ["s copy read p write a", "free p none", "free a context"]


def test_each_operation_of_cuda_async_takes_the_next_stream_of_the_pool() -> None:
    text = "use cuda_async::device_operation::*;\n" + KERNELS + """
fn main() { let k = kernels::load_async(0).unwrap(); let c = LaunchConfig::for_num_elems(8);
    k.scale_async(c).unwrap().sync().unwrap();
    k.scale_async(c).unwrap().and_then(|_| k.scale_async(c).unwrap()).sync().unwrap(); }
"""  # fmt: skip
    (path,) = main_paths(text)
    used = [op.stream for op in path.ops if getattr(op, "what", "") == "launch"]
    assert used[0] != used[1] == used[2]


def test_a_cutile_graph_runs_when_it_is_launched() -> None:
    text = (
        "use cutile::prelude::*;\nfn main() { let d = Device::new(0).unwrap(); "
        "let s = d.new_stream().unwrap(); "
        "let a: Tensor<f32> = api::ones::<f32>(&[8]).sync_on(&s).unwrap(); "
        "let mut b: Tensor<f32> = api::zeros::<f32>(&[8]).sync_on(&s).unwrap(); "
        "let g = CudaGraph::scope(&s, |r| { r.record(api::memcpy(&mut b, &a))?; "
        "Ok(()) }).unwrap(); drop(a); g.launch().sync_on(g.stream()).unwrap(); }"
    )
    found = lines(text)
    assert found.index("the deallocator stream free free a") < found.index("s graph read a write b")


def test_unknown_methods_on_handles_are_gaps() -> None:
    assert [x for x in oxide("s.do_something_new();") if x.startswith("gap")]
    assert [
        x for x in cust("let a = DeviceBuffer::from_slice(&[1u32; 8]).unwrap(); ffi(a.as_device_ptr());") if "ffi" in x
    ]


def test_a_function_that_breaks_the_walk_costs_only_itself() -> None:
    text = OXIDE + (
        "pub fn spin(s: &CudaStream) { spin(s); s.synchronize().unwrap(); "
        "}\npub fn fine(s: &CudaStream) { s.synchronize().unwrap(); }"
    )
    found = {p.root: [line(p, op) for op in p.ops] for p in program_of(text).paths}
    assert found["fine"] == ["sync s"]
    assert any("recursive call" in x for x in found["spin"])
