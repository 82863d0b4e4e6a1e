extern "C" __global__ void k(int *out, const int *in, int n) {
    int a = 5;
    int r = 0;
    if (a > 3 && in[0] < in[1]) r = 1;
    else r = 2;
    out[0] = r;
    out[1] = (a == 5 || in[63] > 3) ? in[2] : in[3];
    out[2] = a > 9 ? 1 : a > 4 ? 2 : 3;
    bool t = in[4] > in[5] || (a++ > 0);
    out[3] = t;
    out[4] = a;
    bool u = a > 100 && a++;
    out[5] = u;
    out[6] = a;
    if (int z = a - 3; z > 2) out[7] = z;
    int m = min(a, 3), M = max(n, 20);
    out[8] = m * 100 + M;
}
