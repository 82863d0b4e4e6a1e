extern "C" __global__ void k(int *out, const int *in, int n) {
    for (int i = 0; i < 8; ++i) {
        switch (i & 3) {
            case 0: continue;
            case 1: out[i] = 10;
            if (i > 4) break;
            out[i] += 1;
            break;
            case 2: out[i] = 20;
            break;
        }
        out[i] += 100;
    }
}
