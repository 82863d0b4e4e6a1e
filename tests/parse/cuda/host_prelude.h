// Makes a CUDA C kernel an ordinary function that the host's compiler can build and one thread can run.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
#define __global__
#define __device__
#define __forceinline__ inline
#define __constant__
#define __shared__ static
static struct {
    unsigned x, y, z;
} threadIdx = {3, 1, 0}, blockIdx = {2, 0, 0}, blockDim = {64, 2, 1}, gridDim = {5, 1, 1};
struct int2 {
    int x, y;
};
struct int4 {
    int x, y, z, w;
};
static inline int2 make_int2(int x, int y) { return {x, y}; }
template <class T> T min(T a, T b) { return a < b ? a : b; }
template <class T> T max(T a, T b) { return a > b ? a : b; }
#define __popc __builtin_popcount
#define __clz(x) ((x) ? __builtin_clz(x) : 32)
#define __ffs __builtin_ffs
static inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned long long)a * b >> 32; }
