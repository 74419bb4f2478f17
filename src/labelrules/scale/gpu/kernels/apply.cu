// Applying rules to rows on a GPU; README.md of the kernels has the encodings.
//
// Sets of rows are words of 32 rows each, a row a bit. A condition on a feature (an atom) becomes a
// set of rows; a thread then applies all rules to the 32 rows of a word, by a few ANDs each. The
// words of the atoms, and of what is written and present of each label, are planes: sets by words.
// Each kernel has a twin in NumPy, tests/twins/gpu_apply.py.

typedef unsigned char byte;
typedef unsigned int word;
typedef unsigned long long sum;
typedef long long place;

// The operators of atoms, as `RuleTable` numbers them.
const int AT_MOST = 0, ABOVE = 1, EQUALS = 2, DIFFERS = 3;

// The greatest whole number up to which float64 holds all of them.
const place LARGEST_EXACT = 1LL << 53;

__device__ inline place first_thread() { return (place)blockIdx.x * blockDim.x + threadIdx.x; }
__device__ inline place all_threads() { return (place)gridDim.x * blockDim.x; }

__device__ inline bool holds(const word *rows, place row) { return rows[row >> 5] >> (row & 31) & 1; }

// The rows of a word that exist.
__device__ inline word existing(place at, place n_rows)
{
    place left = n_rows - 32 * at;
    return left >= 32 ? ~0u : (1u << left) - 1;
}

__device__ inline double whole(place number, bool &unfit)
{
    unfit |= number > LARGEST_EXACT || number < -LARGEST_EXACT;
    return (double)number;
}

// A number of a column in the type that the column has; `unfit` if no table may hold it.
__device__ inline double number_at(const byte *cell, int type, bool &unfit)
{
    switch (type) {
    case 0: return *(const double *)cell;
    case 1: return (double)*(const float *)cell;
    case 2: return (double)*(const signed char *)cell;
    case 3: return (double)*(const short *)cell;
    case 4: return (double)*(const int *)cell;
    case 5: return whole(*(const place *)cell, unfit);
    case 6: return (double)*(const byte *)cell;
    case 7: return (double)*(const unsigned short *)cell;
    case 8: return (double)*(const unsigned int *)cell;
    default: {
        sum number = *(const sum *)cell;
        unfit |= number > (sum)LARGEST_EXACT;
        return (double)number;
    }
    }
}

// Whether a number satisfies an atom. NaN, a missing value, satisfies none.
__device__ inline bool satisfies(double x, int how, double value, const byte *members, place n_members)
{
    switch (how) {
    case AT_MOST: return x <= value;
    case ABOVE: return x > value;
    case EQUALS: return x == value;
    case DIFFERS: return x != value && x == x;
    default: return x >= 0 && x < (double)n_members && members[(place)x];
    }
}

extern "C" {

// ---- Conditions ----------------------------------------------------------------------------

// The rows that satisfy each atom. Atoms stand column by column; a column is read once. `unfit`
// becomes 1 if some number is infinite, or whole and too large to be held exactly.
__global__ void test_atoms(const sum *columns, const place *strides, const int *types, int n_columns,
                           const place *atoms_of, const signed char *operators, const double *values,
                           const place *member_start, const byte *member, place n_rows, word *found,
                           place n_words, int *unfit)
{
    for (int column = blockIdx.y; column < n_columns; column += gridDim.y) {
        const byte *cells = (const byte *)columns[column];
        place stride = strides[column];
        int type = types[column];
        place first = atoms_of[column], last = atoms_of[column + 1];
        for (place row = first_thread(); row < 32 * n_words; row += all_threads()) {
            bool is_row = row < n_rows, is_unfit = false; // the rows of a warp are those of a word
            double x = is_row ? number_at(cells + row * stride, type, is_unfit) : 0.0;
            if (is_unfit || (x - x != 0.0 && x == x)) *unfit = 1;
            for (place atom = first; atom < last; atom++) {
                place start = member_start[atom];
                bool good = is_row && satisfies(x, operators[atom], values[atom], member + start,
                                                member_start[atom + 1] - start);
                word bits = __ballot_sync(~0u, good);
                if ((row & 31) == 0) found[atom * n_words + (row >> 5)] = bits;
            }
        }
    }
}

// ---- Boards --------------------------------------------------------------------------------

// From cells, rows by labels, to what is written of each label, and present.
__global__ void pack_cells(const signed char *cells, place n_rows, int n_labels, word *written,
                           word *present, place n_words)
{
    for (place row = first_thread(); row < 32 * n_words; row += all_threads())
        for (int label = 0; label < n_labels; label++) {
            int cell = row < n_rows ? cells[row * n_labels + label] : -1;
            word known = __ballot_sync(~0u, cell >= 0), one = __ballot_sync(~0u, cell == 1);
            if ((row & 31) == 0) {
                written[label * n_words + (row >> 5)] = known;
                present[label * n_words + (row >> 5)] = one;
            }
        }
}

// The way back; what is not written is -1.
__global__ void unpack_cells(const word *written, const word *present, place n_rows, int n_labels,
                             signed char *cells, place n_words)
{
    for (place row = first_thread(); row < n_rows; row += all_threads())
        for (int label = 0; label < n_labels; label++) {
            place own = label * n_words;
            cells[row * n_labels + label] =
                holds(written + own, row) ? (signed char)holds(present + own, row) : -1;
        }
}

// ---- Rules ---------------------------------------------------------------------------------

// The rows of a word that satisfy the body of a rule.
__device__ inline word cover(word covered, int rule, const int *look_start, const int *look_label,
                             const signed char *look_value, const int *atom_start, const int *atom,
                             const word *atoms, const word *written, const word *present, place at,
                             place n_words)
{
    for (int i = look_start[rule]; i < look_start[rule + 1]; i++) {
        place own = look_label[i] * n_words + at;
        covered &= look_value[i] ? present[own] : written[own] & ~present[own];
    }
    for (int i = atom_start[rule]; covered && i < atom_start[rule + 1]; i++)
        covered &= atoms[atom[i] * n_words + at];
    return covered;
}

// Note the number of a rule for the rows of a word.
__device__ inline void mark(int *numbers, place stride, word rows, place at, int rule)
{
    for (; rows; rows &= rows - 1) numbers[(32 * at + __ffs(rows) - 1) * stride] = rule;
}

// Apply a list to boards as planes, in place; a thread for each word. `seen_...` are the planes on
// which conditions on labels are tested, perhaps the same. `writer` (cells) and `stopped` (rows)
// receive the numbers of rules unless they are null.
__global__ void run_list(int n_rules, const int *look_start, const int *look_label,
                         const signed char *look_value, const int *atom_start, const int *atom,
                         const int *head_start, const int *head_label, const signed char *head_value,
                         const byte *stops, const word *atoms, word *written, word *present,
                         const word *seen_written, const word *seen_present, int n_labels,
                         place n_rows, place n_words, int *writer, int *stopped)
{
    for (place at = first_thread(); at < n_words; at += all_threads()) {
        word active = existing(at, n_rows);
        for (int rule = 0; rule < n_rules && active; rule++) {
            word covered = active, open = 0;
            int first = head_start[rule], last = head_start[rule + 1];
            if (!stops[rule]) { // rows in which the head is written already need no test
                for (int i = first; i < last; i++) open |= ~written[head_label[i] * n_words + at];
                covered &= open;
            }
            covered = cover(covered, rule, look_start, look_label, look_value, atom_start, atom,
                            atoms, seen_written, seen_present, at, n_words);
            if (!covered) continue;
            for (int i = first; i < last; i++) {
                place own = head_label[i] * n_words + at;
                word fresh = covered & ~written[own];
                written[own] |= fresh;
                if (head_value[i]) present[own] |= fresh;
                if (writer) mark(writer + head_label[i], n_labels, fresh, at, rule);
            }
            if (!stops[rule]) continue;
            active &= ~covered;
            if (stopped) mark(stopped, 1, covered, at, rule);
        }
    }
}

// The rows that each rule of a set covers.
__global__ void cover_rows(int n_rules, const int *look_start, const int *look_label,
                           const signed char *look_value, const int *atom_start, const int *atom,
                           const word *atoms, const word *written, const word *present, place n_rows,
                           word *covered, place n_words)
{
    for (place at = first_thread(); at < n_words; at += all_threads())
        for (int rule = 0; rule < n_rules; rule++)
            covered[rule * n_words + at] =
                cover(existing(at, n_rows), rule, look_start, look_label, look_value, atom_start,
                      atom, atoms, written, present, at, n_words);
}

// The points of each cell, rows by labels: votes for presence less those for absence. The votes of a
// label stand from `vote_start[label]` on; `cells` are decided by their points where they are open
// and have votes, unless `cells` is null.
__global__ void count_votes(const int *vote_start, const int *vote_rule, const signed char *vote_value,
                            const int *vote_number, const word *covered, int n_labels, place n_rows,
                            place n_words, place *points, signed char *cells)
{
    for (int label = blockIdx.y; label < n_labels; label += gridDim.y)
        for (place row = first_thread(); row < n_rows; row += all_threads()) {
            int votes[2] = {0, 0};
            for (int i = vote_start[label]; i < vote_start[label + 1]; i++)
                if (holds(covered + vote_rule[i] * n_words, row)) {
                    if (vote_value[i]) votes[1] += vote_number[i];
                    else votes[0] += vote_number[i];
                }
            place own = row * n_labels + label, absent = votes[0], present = votes[1];
            points[own] = present - absent;
            if (cells && cells[own] < 0 && absent + present > 0) cells[own] = present > absent;
        }
}

// Decide the open labels of a row together: by their points, or a usual label set.
__global__ void decide_rows(const place *points, const place *set_start, const place *set_label,
                            const place *bonus, int n_sets, int at_least_one, int n_labels,
                            place n_rows, signed char *cells)
{
    for (place row = first_thread(); row < n_rows; row += all_threads()) {
        const place *own = points + row * n_labels;
        place best = 0;
        int top = 0, winner = -1;
        for (int label = 0; label < n_labels; label++) {
            if (own[label] > 0) best += own[label];
            if (own[label] > own[top]) top = label;
        }
        bool only_top = best == 0 && at_least_one && n_labels;
        if (only_top) best = own[top];
        for (int number = 0; number < n_sets; number++) {
            place total = bonus[number];
            for (place i = set_start[number]; i < set_start[number + 1]; i++)
                total += own[set_label[i]];
            if (total > best || (total == best && winner < 0)) winner = number, best = total;
        }
        place next = winner < 0 ? 0 : set_start[winner], end = winner < 0 ? 0 : set_start[winner + 1];
        for (int label = 0; label < n_labels; label++) { // the labels of a set rise
            bool is_member = next < end && set_label[next] == label;
            next += is_member;
            bool chosen = winner >= 0 ? is_member : own[label] > 0 || (only_top && label == top);
            signed char *cell = cells + row * n_labels + label;
            if (*cell < 0) *cell = chosen;
        }
    }
}
}
