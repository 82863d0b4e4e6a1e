extern "C" __global__ void k(int *out, const int *in, int n) {
    int a = 3;
    {
        int a = 5;
        out[0] = a;
        a = 7;
    }
    out[1] = a;
    for (int a = 0; a < 2; a++) {
        {
            int a = 9;
            out[2] = a;
        }
    }
    out[3] = a;
    long long big = 1LL * 1000000 * 1000000;
    out[4] = big % 1000;
    unsigned char bb = 'x';
    out[5] = bb ^ 0xff;
    bool b = 5;
    out[6] = b;
    b = b - 1;
    out[7] = b;
    out[8] = (char)0x80 < 0;
    out[9] = 0x80u > -1;
    out[10] = 1 ? 2 : 3;
    int neg = -n;
    out[11] = neg - -3;
    out[12] = 5 -3;
    out[13] = +n;
    out[14] = 10 % -3;
    out[15] = -10 / 3;
}
