extern "C" __global__ void k(int *out, const int *in, int n) {
    int x = n;
    do {
        x -= 4;
    } while (x > 0);
    out[0] = x;
    int k = 0;
    while (true) {
        if (++k > 5) break;
        if (k == 2) continue;
        out[k] = k * k;
    }
    out[8] = k;
}
