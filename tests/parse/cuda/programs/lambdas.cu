extern "C" __global__ void k(int *out, const int *in, int n) {
    auto add = [&](int x) {
        return x + n;
    };
    int c = 0;
    auto inc = [&c](int d) {
        c += d;
        if (c > 5) return;
        c += 100;
    };
    inc(2);
    inc(50);
    out[0] = add(4);
    out[1] = c;
    auto pick = [=](int a, int b) -> int {
        if (a < b) return a;
        return b;
    };
    out[2] = pick(3, 9);
    out[3] = pick(9, 3);
    int later = 5;
    auto copied = [=](int x) {
        return x + later;
    };
    auto shared = [&](int x) {
        return x + later;
    };
    later = 50;
    out[4] = copied(1);
    out[5] = shared(1);
}
