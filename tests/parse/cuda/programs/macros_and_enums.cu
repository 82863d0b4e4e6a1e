#define SQ(x) ((x) * (x))
#define FOR(i, n) for (int i = 0; i < (n); ++i)
#define PASTE(a, b) a##b
#if defined(FOO) && FOO > 3
#error no
#elif 1 + 1 == 2
#define VAL 17
#endif
enum Kind {
    A, B = 5, C
};
enum class E : unsigned char {
    X = 250, Y
};
constexpr int W = 4 * SQ(2);
static const int TAB[4] = {3, 1, 4, 1};
extern "C" __global__ void k(int* out, const int* in, int n) {
    FOR(i, 4) out[i] = SQ(i + 1);
    out[PASTE(4, )] = VAL;
    out[5] = C + B;
    out[6] = (int)E::Y;
    out[7] = W;
    int buf[W];
    FOR(i, W) buf[i] = i * i;
    int s = 0;
    FOR(i, W) s += buf[i];
    out[8] = s;
    FOR(i, 4) out[9] = out[9] * 10 + TAB[i];
}
