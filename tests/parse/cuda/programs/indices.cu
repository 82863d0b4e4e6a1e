extern "C" __global__ void k(int *out, const int *in, int n) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    out[0] = idx;
    out[1] = threadIdx.y * blockDim.x + threadIdx.x;
    int row = idx / 7, col = idx % 7;
    out[2] = row;
    out[3] = col;
    out[4] = gridDim.x * blockDim.x - idx;
    unsigned stride = blockDim.x * gridDim.x;
    int cnt = 0;
    for (unsigned i = idx; i < 1000; i += stride) cnt++;
    out[5] = cnt;
    for (int s = blockDim.x / 2; s > 0; s >>= 1) out[6] = out[6] * 2 + s % 3;
}
