extern "C" __global__ void k(int *out, const int *in, int n) {
    for (int i = 0; i < 8; ++i) {
        switch (i) {
            case 0: out[i] = 1;
            break;
            case 1: case 2: out[i] = 5;
            case 3: out[i] += 7;
            break;
            default: out[i] = -1;
            break;
            case 6: {
                out[i] = 66;
                break;
            }
        }
    }
}
