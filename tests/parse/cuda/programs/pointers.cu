extern "C" __global__ void k(int *out, const int *in, int n) {
    int a[4];
    int* p = a;
    int* q = p;
    for (int i = 0; i < 4; i++) *q++ = i + 1;
    int x = 3;
    int* r = &x;
    if (n > 5) r = a + 1;
    *r += 40;
    out[0] = x;
    out[1] = a[1];
    int& ref = a[2];
    ref = 9;
    out[2] = a[2];
    int i = 1;
    int& ri = a[i];
    i = 3;
    ri = 70;
    out[3] = a[1];
    out[4] = a[3];
    union {
        int i;
        unsigned char b[4];
    } u;
    u.i = 0x01020304;
    out[5] = u.i;
    int y = 5;
    y = y++ + 2;
    int v;
    v = 4, x = 7;
    out[6] = v + x;
}
