extern "C" __global__ void k(int *out, const int *in, int n) {
    unsigned a = -1;
    int b = -1;
    out[0] = a > b;
    out[1] = a == b;
    out[2] = (b < 1u);
    out[3] = (long long)a > b;
    out[4] = (unsigned char)300;
    out[5]=(signed char)200;
    out[6] = (short)70000;
    out[7]=-7/2;
    out[8]=-7%3;
    out[9]=-7>>1;
    out[10] = 7u - 9u > 0;
    out[11] = ~5;
    out[12] = !5;
    out[13] = 'a';
    out[14]=0x7fffffff;
    out[15] = 1 << 4 | 3;
}
