struct P {
    int x;
    int y;
    __device__ P(int a, int b) : x(a), y(b) {
    }
    __device__ P operator+(const P& o) const {
        return P(x + o.x, y + o.y);
    }
    __device__ void scale(int k) {
        x *= k;
        y *= k;
    }
};
__device__ P operator*(P a, int k) {
    return P(a.x * k, a.y * k);
}
extern "C" __global__ void k(int* out, const int* in, int n) {
    P a(1, 2);
    P b = a + P(10, 20);
    b.scale(3);
    P c = b * 2;
    a = c;
    out[0] = a.x;
    out[1] = b.y;
    out[2] = c.y;
    int2 v = make_int2(3, 4);
    v = make_int2(v.y, v.x);
    out[3] = v.x;
    out[4] = v.y;
    int2 w = {5, 6};
    w.x += v.x;
    out[5] = w.x;
    ((int2*)out)[4] = w;
    out[10] = ((int2*)out)[4].y;
    int4 q = *(int4*)(out + 4);
    out[12] = q.x + q.w;
}
