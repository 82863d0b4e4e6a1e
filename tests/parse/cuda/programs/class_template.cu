template <typename T, int N> struct Vec {
    T v[N];
    __device__ T& operator[](int i) {
        return v[i];
    }
    __device__ T sum() const {
        T s = 0;
        for (int i = 0; i < N; i++) s += v[i];
        return s;
    }
};
template <typename T> __device__ T twice(T x) {
    return x + x;
}
extern "C" __global__ void k(int* out, const int* in, int n) {
    Vec<int, 4> a;
    for (int i = 0; i < 4; ++i) a[i] = in[i];
    out[0] = a.sum();
    out[1] = twice(a[2]);
    out[2] = twice<unsigned char>(200);
    out[3] = sizeof(Vec<int,4>);
    out[4] = sizeof(a.v) / sizeof(a.v[0]);
}
