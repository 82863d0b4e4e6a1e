static constexpr int OFF[2][3] = {{1, 2, 3}, {4, 5, 6}};
__constant__ int cc[2] = {7, 8};
template <typename T> struct Add {
    __device__ T operator()(T a, T b) const {
        return a + b;
    }
};
template <class F> __device__ int fold(const int* p, int n, F f) {
    int r = p[0];
    for (int i = 1; i < n; ++i) r = f(r, p[i]);
    return r;
}
template <typename T> __device__ __forceinline__ T clampv(T v, T lo, T hi) {
    return v < lo ? lo : (v > hi ? hi : v);
}
namespace ns {
    __device__ int g(int x) {
        return x * 3;
    }
    namespace deep {
        __device__ int h() {
            return g(5);
        }
    }
}
template <typename... A> __device__ int count(A... a) {
    return sizeof...(a);
}
extern "C" __global__ void k(int* out, const int* in, int n) {
    for (int i = 0; i < 6; i++) out[i] = OFF[i / 3][i % 3];
    out[6] = OFF[1][2];
    out[7] = fold(in, 5, Add<int>());
    out[8] = clampv(n, 3, 10);
    out[9] = ns::deep::h();
    out[10] = ns::g(2);
    out[11] = fold(in, 4, [](int a, int b) {
        return a ^ b;
    });
    out[12] = count(1, 2, 3);
    const int (*row)[3] = OFF;
    out[13] = row[1][0];
    Add<int> add;
    out[14] = add(1, 2);
}
