// Counting rows by the codes of their columns on a GPU; README.md of the kernels has the encodings.
//
// Sets of rows are words of 32 rows each, a row a bit. Rows are padded to whole stretches of 128,
// whose bits are 0, so that 16 codes can be read at once. All sums are whole numbers: they come in
// any order. Each kernel has a twin in NumPy, tests/twins/gpu_kernels.py.

typedef unsigned char byte;
typedef unsigned short wide;
typedef unsigned int word;
typedef unsigned long long sum;
typedef long long place;

const sum MISSING = ~0ULL;

__device__ inline place first_thread() { return (place)blockIdx.x * blockDim.x + threadIdx.x; }
__device__ inline place all_threads() { return (place)gridDim.x * blockDim.x; }

// Adds up a number over the threads of a warp; the first thread has the sum.
__device__ inline sum of_warp(sum own)
{
    for (int step = 16; step; step >>= 1) own += __shfl_down_sync(~0u, own, step);
    return own;
}

__device__ inline void add_of_warp(sum *total, sum own)
{
    own = of_warp(own);
    if (threadIdx.x % 32 == 0 && own) atomicAdd(total, own);
}

// Two counts in one number, as everywhere in the kernels: rows, and those of them that are positive.
__device__ inline sum two_counts(word rows, word positive)
{
    return ((sum)__popc(rows) << 32) + __popc(rows & positive);
}

extern "C" {

// ---- Bins ----------------------------------------------------------------------------------

// Numbers as integers of the same order: missing values come last, 0.0 and -0.0 are equal.
__global__ void order_keys(const double *values, place n_rows, sum *keys)
{
    for (place row = first_thread(); row < n_rows; row += all_threads()) {
        double value = values[row] == 0.0 ? 0.0 : values[row];
        sum bits = (sum)__double_as_longlong(value);
        keys[row] = value != value ? MISSING : bits >> 63 ? ~bits : bits | (1ULL << 63);
    }
}

// Of sorted keys, how many are missing, and how often a greater one follows.
__global__ void count_rises(const sum *keys, place n_rows, sum *found)
{
    sum missing = 0, rises = 0;
    for (place row = first_thread(); row < n_rows; row += all_threads()) {
        sum key = keys[row], next = row + 1 < n_rows ? keys[row + 1] : MISSING;
        missing += key == MISSING;
        rises += next != MISSING && next > key;
    }
    add_of_warp(found, missing);
    add_of_warp(found + 1, rises);
}

// The places that a greater key follows, in any order.
__global__ void list_rises(const sum *keys, place n_rows, sum *n_found, place *places)
{
    for (place row = first_thread(); row + 1 < n_rows; row += all_threads())
        if (keys[row + 1] != MISSING && keys[row + 1] > keys[row])
            places[atomicAdd(n_found, 1ULL)] = row;
}

// For some places the key there, and the least greater one; the same again if there is none.
__global__ void keys_around(const sum *keys, place n_known, const place *places, int n_places,
                            sum *low, sum *high)
{
    int number = (int)first_thread();
    if (number >= n_places) return;
    place first = places[number], last = n_known;
    sum key = keys[first];
    while (first < last) {
        place middle = (first + last) >> 1;
        if (keys[middle] <= key) first = middle + 1;
        else last = middle;
    }
    low[number] = key;
    high[number] = first < n_known ? keys[first] : key;
}

__device__ inline sum mixed(sum bits)
{
    bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9ULL;
    bits = (bits ^ bits >> 27) * 0x94D049BB133111EBULL;
    return bits ^ bits >> 31;
}

// The sum of a column's cells, each mixed with its row; see data/fingerprints.py.
__global__ void mix_cells(const double *values, place n_rows, sum *total)
{
    sum own = 0;
    for (place row = first_thread(); row < n_rows; row += all_threads()) {
        double value = values[row] + 0.0; // so that -0.0 is 0.0
        sum bits = value != value ? 0x7FF8000000000000ULL : (sum)__double_as_longlong(value);
        sum step = (sum)(row + 1) * 0x9E3779B97F4A7C15ULL;
        own += mixed(bits + step) - mixed(step);
    }
    add_of_warp(total, own);
}

#define ENCODE(CODE)                                                                               \
    /* The bin of each number: how many cuts are below it. */                                      \
    __global__ void encode_numbers_##CODE(const double *values, place n_rows, const double *cuts,  \
                                          int n_cuts, int missing, CODE *codes)                    \
    {                                                                                              \
        for (place row = first_thread(); row < n_rows; row += all_threads()) {                     \
            double value = values[row];                                                            \
            int first = 0, last = n_cuts;                                                          \
            while (first < last) {                                                                 \
                int middle = (first + last) >> 1;                                                  \
                if (cuts[middle] < value) first = middle + 1;                                      \
                else last = middle;                                                                \
            }                                                                                      \
            codes[row] = (CODE)(value != value ? missing : first);                                 \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    /* The number of each category. */                                                             \
    __global__ void encode_categories_##CODE(const double *values, place n_rows, int missing,      \
                                             CODE *codes)                                          \
    {                                                                                              \
        for (place row = first_thread(); row < n_rows; row += all_threads())                       \
            codes[row] = (CODE)(values[row] != values[row] ? missing : (int)values[row]);          \
    }

ENCODE(byte)
ENCODE(wide)

// ---- Sets of rows --------------------------------------------------------------------------

// The rows in which a cell has a value; a thread for each row, also of the padding.
__global__ void pack(const signed char *cells, place n_rows, place stride, int value, word *found,
                     place n_words)
{
    for (place row = first_thread(); row < 32 * n_words; row += all_threads()) {
        word bits = __ballot_sync(~0u, row < n_rows && cells[row * stride] == value);
        if (row % 32 == 0) found[row / 32] = bits;
    }
}

// The rows of one set that are in another one, or that are not.
__global__ void common(const word *rows, const word *others, int without, word *found, place n_words)
{
    word flip = without ? ~0u : 0u;
    for (place at = first_thread(); at < n_words; at += all_threads())
        found[at] = rows[at] & (others[at] ^ flip);
}

#define NARROW(CODE)                                                                               \
    /* The rows of a set whose code is from `low` to `high`, or is not if `outside`. A missing     \
       value satisfies nothing. */                                                                 \
    __global__ void narrow_##CODE(const word *rows, const CODE *codes, int low, int high,          \
                                  int outside, int missing, word *found, place n_words)            \
    {                                                                                              \
        for (place row = first_thread(); row < 32 * n_words; row += all_threads()) {               \
            word before = rows[row / 32]; /* the same for all threads of a warp */                 \
            bool holds = false;                                                                    \
            if (before >> (row % 32) & 1) {                                                        \
                int code = codes[row];                                                             \
                holds = ((code >= low && code <= high) != (outside != 0)) && code != missing;      \
            }                                                                                      \
            word bits = __ballot_sync(~0u, holds);                                                 \
            if (row % 32 == 0) found[row / 32] = bits;                                             \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    /* The least code above a code in some rows, but for missing values. */                        \
    __global__ void next_code_##CODE(const word *rows, const CODE *codes, int code, int missing,   \
                                     sum *least, place n_words)                                    \
    {                                                                                              \
        int own = missing;                                                                         \
        for (place row = first_thread(); row < 32 * n_words; row += all_threads())                 \
            if (rows[row / 32] >> (row % 32) & 1 && codes[row] > code && codes[row] != missing)    \
                own = min(own, (int)codes[row]);                                                   \
        for (int step = 16; step; step >>= 1)                                                      \
            own = min(own, __shfl_down_sync(~0u, own, step));                                      \
        if (threadIdx.x % 32 == 0 && own < missing) atomicMin(least, (sum)own);                    \
    }

NARROW(byte)
NARROW(wide)

// Write a label in some rows, all of which are unset.
__global__ void write_rows(const word *rows, int value, word *unset, word *ones, place n_words)
{
    for (place at = first_thread(); at < n_words; at += all_threads()) {
        unset[at] &= ~rows[at];
        if (value) ones[at] |= rows[at];
    }
}

// The rows known to have no label, those of which it is known whether they have one, and those in
// which some label is written as present. Planes are labels by words.
__global__ void mark_rows(const word *known, const word *truth, const word *ones, int n_labels,
                          word *none, word *decided, word *found, place n_words)
{
    for (place at = first_thread(); at < n_words; at += all_threads()) {
        word absent = ~0u, present = 0, written = 0;
        for (int label = 0; label < n_labels; label++) {
            place own = label * n_words + at;
            absent &= known[own] & ~truth[own];
            present |= truth[own];
            written |= ones[own];
        }
        none[at] = absent;
        decided[at] = absent | present;
        found[at] = written;
    }
}

// ---- Counts --------------------------------------------------------------------------------

__global__ void count_common(const word *rows, const word *others, sum *total, place n_words)
{
    sum own = 0;
    for (place at = first_thread(); at < n_words; at += all_threads())
        own += __popc(rows[at] & others[at]);
    add_of_warp(total, own);
}

// Rows, and positive ones, by what is written of each of some labels: unset, absent, present.
// `counted` and `positive` are planes of the labels (`plane` words each), or the same for all (0).
__global__ void count_states(const word *rows, const word *counted, const word *positive,
                             place plane, const word *unset, const word *ones, const int *labels,
                             sum *found, place n_words)
{
    place label = labels[blockIdx.y];
    const word *own = unset + label * n_words, *written = ones + label * n_words;
    counted += label * plane;
    positive += label * plane;
    sum by_state[3] = {0, 0, 0};
    for (place at = first_thread(); at < n_words; at += all_threads()) {
        word inside = rows[at] & counted[at];
        if (!inside) continue;
        word true_rows = positive[at], open = own[at], one = written[at];
        by_state[0] += two_counts(inside & open, true_rows);
        by_state[1] += two_counts(inside & ~open & ~one, true_rows);
        by_state[2] += two_counts(inside & one, true_rows);
    }
    for (int state = 0; state < 3; state++)
        add_of_warp(found + 3 * blockIdx.y + state, by_state[state]);
}

// Rows, and positive ones, by the codes of some columns. A block counts a stretch of rows in a few
// columns. Each of the 32 threads of a warp has cells of its own, all in its own bank of the shared
// memory, so threads never wait for each other: not for equal codes, nor for banks. A cell has two
// counts of 16 bits, so a stretch has less than 32 * 65,536 rows. The cells of a column are at most
// 256. What limits it is how many instructions a code takes: two for its cell, and one to add.
// GROUP, how many columns, is given by the compiler: fewer where there is little shared memory.
const int CELLS = 256, LANES = 32;
const int CELL_BYTES = 4 * LANES;

// Adds to the cells of sixteen codes; nothing for rows that are not counted.
__device__ inline void add_sixteen(byte *cells, word lane, uint4 codes, const word *added)
{
    const word four[4] = {codes.x, codes.y, codes.z, codes.w};
    const word places = 255 * CELL_BYTES;
#pragma unroll
    for (int row = 0; row < 16; row++) {
        // the code times CELL_BYTES, by one shift
        int right = 8 * (row % 4) - 7;
        word place = right < 0 ? four[row / 4] << -right : four[row / 4] >> right;
        atomicAdd((word *)(cells + ((place & places) | lane)), added[row]);
    }
}

__global__ void __launch_bounds__(1024) count_codes_byte(
    const byte *const *columns, place n_padded, int n_columns, const place *start, const word *rows,
    const word *positive, place stretch, sum *table)
{
    extern __shared__ word cells[]; // columns of the group by codes by lanes
    int first = blockIdx.x * GROUP, n_own = min(GROUP, n_columns - first);
    for (int at = threadIdx.x; at < n_own * CELLS * LANES; at += blockDim.x) cells[at] = 0;
    __syncthreads();
    word lane = 4 * (threadIdx.x % LANES);
    const wide *row_bits = (const wide *)rows, *positive_bits = (const wide *)positive;
    place end = min((blockIdx.y + 1) * stretch, n_padded) / 16;
    for (place at = blockIdx.y * stretch / 16 + threadIdx.x; at < end; at += blockDim.x) {
        word inside = row_bits[at];
        if (!inside) continue;
        uint4 read[GROUP];
#pragma unroll
        for (int own = 0; own < GROUP; own++)
            if (own < n_own)
                read[own] = __ldcs((const uint4 *)columns[first + own] + at);
        word both = inside | (positive_bits[at] & inside) << 16, added[16];
#pragma unroll
        for (int row = 0; row < 16; row++) added[row] = both >> row & 0x10001;
#pragma unroll
        for (int own = 0; own < GROUP; own++)
            if (own < n_own)
                add_sixteen((byte *)(cells + own * CELLS * LANES), lane, read[own], added);
    }
    __syncthreads();
    for (int at = threadIdx.x; at < n_own * CELLS; at += blockDim.x) {
        sum total = 0;
        for (int lane = 0; lane < LANES; lane++) { // not all threads in the same bank at once
            word both = cells[at * LANES + (lane + threadIdx.x) % LANES];
            total += ((sum)(both & 65535) << 32) + (both >> 16);
        }
        if (total) atomicAdd(table + start[first + at / CELLS] + at % CELLS, total);
    }
}

// The same for codes of two bytes, whose cells do not fit into shared memory.
__global__ void count_codes_wide(const wide *const *columns, place n_padded, int n_columns,
                                 const place *start, const word *rows, const word *positive,
                                 place stretch, sum *table)
{
    const wide *codes = columns[blockIdx.x];
    sum *cells = table + start[blockIdx.x];
    place end = min((blockIdx.y + 1) * stretch, n_padded);
    for (place row = blockIdx.y * stretch + threadIdx.x; row < end; row += blockDim.x)
        if (rows[row / 32] >> (row % 32) & 1)
            atomicAdd(cells + codes[row], (1ULL << 32) + (positive[row / 32] >> (row % 32) & 1));
}
}
