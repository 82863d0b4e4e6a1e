extern "C" __global__ void k(int *out, const int *in, int n) {
    int s=0;
    for (int i=0;i<n;i++) {
        if (i%3==0) continue;
        if (i>9) break;
        s += in[i];
    }
    out[0]=s;
}
