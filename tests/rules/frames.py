"""Programs around the examples of the rules: an example stands in the place of ``@@``."""

from __future__ import annotations

CUDARC = """
use cudarc::driver::sys::{{CUgraphInstantiate_flags, CUstreamCaptureMode}};
use cudarc::driver::{{result, CudaContext, DevicePtr, DevicePtrMut, LaunchConfig, PushKernelArg}};
use cudarc::nvrtc::compile_ptx;

const SRC: &str = r#"
extern "C" __global__ void scale(float *x, int n) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 2.0f;
}}
extern "C" __global__ void accumulate(float *acc, const float *x, int n) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) acc[i] += x[i];
}}
extern "C" __global__ void bump(float *out) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] += 1.0f;
}}
"#;

fn run() -> Result<(), Box<dyn std::error::Error>> {{
    let ctx = CudaContext::new(0)?;
    let stream = ctx.default_stream();
    let module = ctx.load_module(compile_ptx(SRC)?)?;
    let (n, count, cfg) = (4096usize, 4096i32, LaunchConfig::for_num_elems(4096));
    let mut host = vec![0.0f32; 4096];
    {setup}
    @@
    Ok(())
}}
"""

CUST = """
use cust::error::CudaResult;
use cust::event::{{Event, EventFlags}};
use cust::memory::{{AsyncCopyDestination, LockedBuffer}};
use cust::prelude::*;
use cust::stream::StreamWaitEventFlags;

static PTX: &str = include_str!("kernels.ptx");

mod kernels {{
    use cuda_std::prelude::*;

    #[kernel]
    pub unsafe fn scale(x: *mut f32, n: usize) {{
        let i = thread::index_1d() as usize;
        if i < n {{
            *x.add(i) *= 2.0;
        }}
    }}

    #[kernel]
    pub unsafe fn fill(out: *mut f32, n: usize) {{
        let i = thread::index_1d() as usize;
        if i < n {{
            *out.add(i) = i as f32;
        }}
    }}

    #[kernel]
    pub unsafe fn sum(out: *mut f32, x: *const f32, n: usize) {{
        let i = thread::index_1d() as usize;
        if i < n {{
            *out.add(i) = *x.add(i) + 1.0;
        }}
    }}

    #[kernel]
    pub unsafe fn blur(out: *mut f32, x: *const f32, n: usize) {{
        let i = thread::index_1d() as usize;
        if i > 0 && i + 1 < n {{
            *out.add(i) = (*x.add(i - 1) + *x.add(i) + *x.add(i + 1)) / 3.0;
        }}
    }}
}}

fn run() -> CudaResult<()> {{
    let _context = cust::quick_init()?;
    let module = Module::from_ptx(PTX, &[])?;
    {setup}
    unsafe {{
        @@
    }}
    {end}
}}
"""

CUST_FUNCTION = """
use cust::error::CudaResult;
use cust::memory::{AsyncCopyDestination, LockedBuffer};
use cust::prelude::*;

@@

fn run() -> CudaResult<()> {
    let _context = cust::quick_init()?;
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;
    let mut out = DeviceBuffer::from_slice(&[0.0f32; 4096])?;
    upload(&stream, &mut out)?;
    stream.synchronize()
}
"""

CUDA_STD = """
mod kernels {{
    use core::sync::atomic::Ordering;
    use cuda_std::atomic::mid::atomic_fetch_add_u32_device;
    use cuda_std::prelude::*;
    use cuda_std::shared_array;

    #[kernel]
    pub unsafe fn k({params}) {{
        {setup}
        @@
        {end}
    }}
}}

static PTX: &str = include_str!("kernels.ptx");

fn run() -> cust::error::CudaResult<()> {{
    use cust::prelude::*;
    let _context = cust::quick_init()?;
    let module = Module::from_ptx(PTX, &[])?;
    let stream = Stream::new(StreamFlags::DEFAULT, None)?;
    let (out, x) = (DeviceBuffer::from_slice(&[{zero}; 8192])?, DeviceBuffer::from_slice(&[{zero}; 8192])?);
    {launch}
    stream.synchronize()
}}
"""

CUDA_C = """
extern "C" __global__ void __launch_bounds__(256) k({params}) {{
    {setup}
    @@
    {end}
}}
"""

OXIDE = """
use cuda_core::{{CudaContext, CudaStream, DeviceBuffer, LaunchConfig}};
use cuda_device::barrier::*;
use cuda_device::tma::{{TmaDescriptor, cp_async_bulk_tensor_1d_g2s}};
use cuda_device::{{DisjointSlice, SharedArray, cluster, cluster_launch, cuda_module, kernel, thread}};

#[cuda_module]
mod kernels {{
    use super::*;

    #[kernel]
    {attribute}
    pub unsafe fn k({params}, mut out: DisjointSlice<u32>) {{
        static mut FULL: Barrier = Barrier::UNINIT;
        static mut TILE: SharedArray<u32, 64, 128> = SharedArray::UNINIT;
        static mut LEVEL: SharedArray<u32, 64> = SharedArray::UNINIT;
        let tid = thread::threadIdx_x() as usize;
        let idx = thread::index_1d();
        unsafe {{
            {setup}
            @@
            {end}
        }}
    }}
}}

pub unsafe fn launch(
    stream: &CudaStream,
    module: &kernels::LoadedModule,
    {param}: {type},
    out: &mut DeviceBuffer<u32>,
) -> Result<(), Box<dyn std::error::Error>> {{
    let config = LaunchConfig {{ grid_dim: (4, 1, 1), block_dim: (64, 1, 1), shared_mem_bytes: 0 }};
    unsafe {{ module.k(stream, config, {param}, out) }}?;
    Ok(())
}}
"""


def cudarc(setup: str = "") -> str:
    """A host function of cudarc with a context, a stream, kernels and numbers."""
    return CUDARC.format(setup=setup)


def cust(setup: str = "", end: str = "Ok(())") -> str:
    """A host function of cust with a module of kernels."""
    return CUST.format(setup=setup, end=end)


def cuda_std(params: str, setup: str = "", end: str = "", *, given: str = "", zero: str = "0.0f32") -> str:
    """A kernel of cuda_std, launched with 16 blocks of 256 threads where ``given`` are its arguments."""
    launch = f"unsafe {{ launch!(module.k<<<16, 256, 0, stream>>>({given}))? }};" if given else ""
    return CUDA_STD.format(params=params, setup=setup, end=end, launch=launch, zero=zero)


def cuda_c(params: str, setup: str = "", end: str = "") -> str:
    """A kernel of CUDA C."""
    return CUDA_C.format(params=params, setup=setup, end=end)


def oxide(param: str, kind: tuple[str, str], setup: str = "", end: str = "", attribute: str = "") -> str:
    """A kernel of cuda-oxide with its launch; ``kind``: the type of its parameter there and here."""
    params = f"{param}: {kind[0]}"
    return OXIDE.format(params=params, param=param, type=kind[1], setup=setup, end=end, attribute=attribute)


_INDEX = "let i = thread::index_1d() as usize;"
_TILE = f"let tile = shared_array![f32; 256]; let t = thread::thread_idx_x() as usize; {_INDEX}"
_POINTERS = "out: *mut f32, x: *const f32, n: usize"
_GIVEN = "out.as_device_ptr(), x.as_device_ptr(), 4000usize"
_C_INDEX = "unsigned i = blockIdx.x * blockDim.x + threadIdx.x; unsigned t = threadIdx.x;"
_CUST_STREAM = "let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;"
_SLICE = ("&[u32]", "&DeviceBuffer<u32>")
_MAP = ("*const TmaDescriptor", "*const TmaDescriptor")
_STORE = "if let Some(slot) = out.get_mut(idx) { *slot = TILE[63 - tid]; }"
_WAITED = "while !mbarrier_try_wait(&raw const FULL, token) {} " + _STORE

FRAMES = {
    "GS101": cudarc('let scale = module.load_function("scale")?;'),
    "GS102": cudarc('let scale = module.load_function("scale")?;'),
    "GS103": CUST_FUNCTION,
    "GS104": cust(
        _CUST_STREAM
        + " let result = DeviceBuffer::from_slice(&[1.0f32; 99])?; let mut pinned = LockedBuffer::new(&0.0f32, 99)?;"
    ),
    "GS105": cust(_CUST_STREAM + " let n = 4096usize;", "stream.synchronize()"),
    "GS106": cudarc('let scale = module.load_function("scale")?;'),
    "GS107": cudarc(
        "let first = ctx.new_stream()?; let second = ctx.new_stream()?; let bytes = 4 * 4096;"
        " let source = first.clone_htod(&host)?; let mut target = first.alloc_zeros::<f32>(n)?;"
    ),
    "GS108": cust(
        "let first = Stream::new(StreamFlags::NON_BLOCKING, None)?;"
        " let second = Stream::new(StreamFlags::NON_BLOCKING, None)?; let ready = Event::new(EventFlags::DEFAULT)?;"
        " let middle = DeviceBuffer::from_slice(&[0.0f32; 2048])?;"
        " let out = DeviceBuffer::from_slice(&[0.0f32; 2048])?;"
        " let n = 2048usize;",
        "first.synchronize()?; second.synchronize()",
    ),
    "GS109": cudarc(
        'let scale = module.load_function("scale")?; let stream = ctx.new_stream()?;'
        " let mut scratch = stream.alloc_zeros::<f32>(n)?;"
        " let flags = CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;"
    ),
    "GS110": cudarc(
        'let scale = module.load_function("scale")?; let theirs = ctx.clone();'
        " let mut buf = ctx.per_thread_stream().alloc_zeros::<f32>(n)?; ctx.synchronize()?;"
    ),
    "GS112": cudarc('let accumulate = module.load_function("accumulate")?; let x = stream.clone_htod(&host)?;'),
    "GS113": cudarc('let bump = module.load_function("bump")?; let mut out = stream.alloc_zeros::<f32>(n)?;'),
    "GS114": cudarc('let bump = module.load_function("bump")?;'),
    "GS115": cudarc(),
    "GS201": cuda_std(_POINTERS, given=_GIVEN),
    "GS202": cuda_std(_POINTERS, _TILE, "*out.add(i) = left;", given=_GIVEN),
    "GS203": cuda_std(_POINTERS, _TILE, "if i < n { *out.add(i) = *tile.add(t); }", given=_GIVEN),
    "GS204": cuda_c("float *out, const float *x", _C_INDEX + " unsigned lane = t % 32; float v = x[i];", "out[i] = v;"),
    "GS205": cuda_std("v: f32", given="1.0f32"),
    "GS206": cuda_std(
        "count: *mut u32, progress: *mut u32, n: usize",
        _INDEX,
        given="x.as_device_ptr(), out.as_device_ptr(), 4000usize",
        zero="0u32",
    ),
    "GS207": cuda_std(_POINTERS, _TILE, "*out.add(i) = other;", given=_GIVEN),
    "GS208": cuda_std(_POINTERS, _INDEX, given=_GIVEN),
    "GS303": oxide("map", _MAP, end=_WAITED),
    "GS304": oxide("input", _SLICE, end=_STORE),
    "GS305": cuda_c("float *out, const float *x", _C_INDEX + " __shared__ float tile[256];", "out[i] = v;"),
    "GS306": oxide(
        "input",
        _SLICE,
        "let peer = cluster::block_rank() ^ 1;",
        "if let Some(slot) = out.get_mut(idx) { *slot = theirs; }",
        "#[cluster_launch(2, 1, 1)]",
    ),
    "GS901": cuda_std("out: *mut f32, n: u32, offset: u32"),
    "GS902": cudarc("let mut buf = stream.alloc_zeros::<f32>(n)?;"),
    "GS903": "use cuda_std::prelude::*;\n#[kernel]\npub unsafe @@ }",
    "GS905": cudarc(),
    "GS906": cudarc(
        'let scale = module.load_function("scale")?; unsafe { ctx.disable_event_tracking() };'
        " let copies = ctx.new_stream()?; let work = ctx.new_stream()?; let mut buf = work.alloc_zeros::<f32>(n)?;"
        " unsafe { work.launch_builder(&scale).arg(&mut buf).arg(&count).launch(cfg)? };"
    ),
}
"""For each rule whose examples are run, the program around them."""
