constexpr int rows_for(int n) {
    if (n == 1) {
        return 1;
    }
    switch (n) {
        case 2:
        case 3:
            return 2;
        default:
            break;
    }
    return n > 8 ? 8 : 4;
}
constexpr int log2i(int n) {
    return n <= 1 ? 0 : 1 + log2i(n / 2);
}
template <int N> __device__ void fill(int *out) {
    constexpr int rows = rows_for(N);
    int tile[rows][N] = {{0}};
    for (int i = 0; i < rows; ++i) tile[i][N - 1] = i + 1;
    out[N] = sizeof(tile) / sizeof(int);
    out[N + 5] = tile[rows - 1][N - 1];
}
extern "C" __global__ void k(int *out, const int *in, int n) {
    fill<1>(out);
    fill<3>(out);
    fill<5>(out);
    const int depth = log2i(64);
    int levels[depth];
    for (int i = 0; i < depth; ++i) levels[i] = i;
    out[0] = levels[depth - 1];
    out[2] = rows_for(n);
}
