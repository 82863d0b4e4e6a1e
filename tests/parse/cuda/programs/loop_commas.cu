extern "C" __global__ void k(int *out, const int *in, int n) {
    int acc = 0;
    for (int i = 0, j = 10; i < j; ++i, --j) acc += i * j;
    out[0] = acc;
    int w = 0;
    for (int i = n; i --> 0;) {
        if (i == 5) continue;
        w += i;
    }
    out[1] = w;
}
