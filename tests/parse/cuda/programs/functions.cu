__device__ int f(int a, int b) {
    if (a > b) return a - b;
    for (int i = 0; i < 10; i++) {
        if (i * a > b) return i;
    }
    return -1;
}
__device__ void swap2(int& a, int& b) {
    int t = a;
    a = b;
    b = t;
}
__device__ void put(int* p, int v) {
    *p = v;
}
extern "C" __global__ void k(int* out, const int* in, int n) {
    int a = 3, b = 9;
    out[0] = f(a, b);
    out[1] = f(b, a);
    swap2(a, b);
    out[2] = a;
    out[3] = b;
    put(&a, 42);
    out[4] = a;
    put(out + 5, a);
    put(&out[6], b);
    swap2(out[4], out[6]);
    n += 2;
    out[7] = n;
}
