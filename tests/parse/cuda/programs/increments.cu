extern "C" __global__ void k(int *out, const int *in, int n) {
    int i = 3;
    out[i++] = i;
    out[i] = i--;
    out[0] = ++i + 2;
    out[1] = i++;
    out[2] = i;
    int *p = out + 5;
    *p++ = 7;
    *p = 8;
    p += 2;
    p[-1] = 9;
    *--p = 10;
    out[11] = p > out;
    out[12] = *(in + 2);
    out[13] = 2[in];
}
