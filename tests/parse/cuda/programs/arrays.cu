extern "C" __global__ void k(int *out, const int *in, int n) {
    __shared__ int tile[4][5];
    int (*pt)[5] = tile;
    for (int i = 0; i < 4; i++) for (int j = 0; j < 5; j++) tile[i][j] = i * 10 + j;
    out[0] = pt[2][3];
    out[1] = *(*(tile + 1) + 2);
    int* flat = &tile[0][0];
    out[2] = flat[7];
    out[3] = sizeof(tile);
    out[4] = &tile[2][1] - &tile[0][0];
    int loc[3] = {1, 2};
    loc[2] += loc[1];
    out[5] = loc[2];
    int m2[2][2] = {{1, 2}, {3, 4}};
    out[6] = m2[1][0];
    char bytes[4];
    bytes[0] = 1;
    bytes[1] = 2;
    out[7] = bytes[0] + bytes[1];
}
