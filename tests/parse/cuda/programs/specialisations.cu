template <int I, int N> struct Loop {
    static __device__ void go(int* o) {
        o[I] = I * I;
        Loop<I + 1, N>::go(o);
    }
};
template <int N> struct Loop<N, N> {
    static __device__ void go(int* o) {
    }
};
template <> struct Loop<4, 4> {
    static __device__ void go(int* o) {
        o[4] = -4;
    }
};
template <typename T> struct Tr {
    using type = long long;
    static constexpr int size = sizeof(T) * 2;
};
template <> struct Tr<int> {
    using type = short;
    static constexpr int size = 1;
};
template <typename T> __device__ int which(T) {
    if constexpr (std::is_same_v<T, int>) return 1;
    else if constexpr (std::is_signed_v<T>) return 2;
    else return 3;
}
extern "C" __global__ void k(int* out, const int* in, int n) {
    Loop<0, 4>::go(out);
    out[5] = Tr<int>::size;
    out[6] = Tr<float>::size;
    out[7] = sizeof(Tr<int>::type);
    typename Tr<char>::type q = 5;
    out[8] = sizeof(q);
    out[9] = which(3);
    out[10] = which(3u);
    out[11] = which('c');
    out[12] = std::numeric_limits<int>::max();
    out[13] = std::numeric_limits<unsigned char>::max();
}
