"""RIPPER in plain Python, from its description: one row, one condition and one rule at a time.

Columns are lists of numbers, nan for a missing value. A condition is (column, sign, value), with
the signs "<=", ">=" and "=". A rule is a list of conditions. Rows are numbers, and count as much as
their weights say.
"""

from itertools import pairwise
from math import isnan, log2

from labelrules.data.codes.thresholds import simplest_between

WORD = 2**64 - 1


class Table:
    """Columns, the class of each row, and the settings."""

    def __init__(self, columns, is_nominal, classes, *, seed=0, n_passes=2, n_folds=3,
                 min_coverage=2, pruning=True, check_error=True, weights=None):  # fmt: skip
        self.columns, self.is_nominal, self.classes = columns, is_nominal, classes
        self.n_passes, self.n_folds, self.least = n_passes, n_folds, min_coverage
        self.pruning, self.check_error = pruning, check_error
        self.weights = [1] * len(classes) if weights is None else weights
        self.draws = numbers(seed)
        self.order = sorted(range(len(classes)), key=lambda row: (self.key(row), self.weights[row]))

    def count(self, rows):
        return sum(self.weights[row] for row in rows)

    # ------------------------------------------------------------ chance

    def key(self, row):
        """The sum over the columns of the rank of the value times a number for the column."""
        total, drawn = 0, numbers(5)
        for column in self.columns:
            values = known(column)
            rank = values.index(column[row]) if column[row] in values else len(values)
            total += rank * next(drawn)
        # As a number of 64 bits with a sign.
        return (total + 2**63) % 2**64 - 2**63

    def divided(self, rows):
        """Rows for growing, rows for pruning: dealt out to folds, class by class, shuffled."""
        drawn = [next(self.draws) for _ in self.classes]
        dealt = []
        for one in self.ranked:
            shuffled = [row for row in self.order if row in rows and self.classes[row] == one]
            for i in range(len(shuffled) - 1, 0, -1):
                j = drawn.pop(0) % (i + 1)
                shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
            dealt += shuffled
        folded = [row for k in range(self.n_folds) for row in dealt[k :: self.n_folds]]
        n_growing = len(folded) * (self.n_folds - 1) // self.n_folds
        return set(folded[:n_growing]), set(folded[n_growing:])

    # ------------------------------------------------------------ the list

    def learn(self):
        """The rules as (class, conditions), and the default class."""
        rows = set(range(len(self.classes)))
        self.ranked = sorted(set(self.classes), key=lambda one: (self.size(one, rows), -one))
        found = []
        for one in self.ranked[:-1]:
            rules = OneClass(self, one, rows).learn()
            found += [(one, rule) for rule in rules]
            rows = rows - self.covered_by_any(rules, rows)
        default = max(reversed(self.ranked), key=lambda one: self.size(one, rows))
        return [(one, self.written(rule)) for one, rule in found], default

    def size(self, one, rows):
        return self.count(row for row in rows if self.classes[row] == one)

    def written(self, rule):
        """Conditions as they are printed, without those that a later one on the column implies."""
        kept = []
        for place, (j, sign, value) in enumerate(rule):
            if any(later[:2] == (j, sign) for later in rule[place + 1 :]):
                continue
            values = known(self.columns[j])
            at = values.index(value)
            if sign == "<=":
                kept.append((j, "<=", simplest_between(value, values[at + 1])))
            elif sign == ">=":
                kept.append((j, ">", simplest_between(values[at - 1], value)))
            else:
                kept.append((j, "=", value))
        return kept

    # ------------------------------------------------------------ conditions

    def holds(self, condition, row):
        j, sign, value = condition
        x = self.columns[j][row]
        return {"<=": x <= value, ">=": x >= value, "=": x == value}[sign]

    def covered(self, rule, rows):
        return {row for row in rows if all(self.holds(condition, row) for condition in rule)}

    def covered_by_any(self, rules, rows):
        return set().union(*(self.covered(rule, rows) for rule in rules))

    def conditions(self, rows):
        for j, column in enumerate(self.columns):
            values = known([column[row] for row in rows])
            if self.is_nominal[j]:
                yield from ((j, "=", value) for value in values)
                continue
            for low, high in pairwise(values):
                yield (j, "<=", low)
                yield (j, ">=", high)

    @property
    def n_possible(self):
        n_possible = 0
        for column, nominal in zip(self.columns, self.is_nominal, strict=True):
            n_values = len(known(column))
            if not nominal:
                n_possible += 2 * max(0, n_values - 1)
            elif n_values > 1 or any(map(isnan, column)):
                n_possible += n_values
        return n_possible


class OneClass:
    """The rules of one class against the others, on the rows that are left."""

    def __init__(self, table, target, rows):
        self.table, self.rows = table, rows
        self.positive = {row for row in rows if table.classes[row] == target}
        self.count = table.count

    def learn(self):
        table = self.table
        rules = self.build([])
        if table.pruning and table.n_passes == 0:
            rules = self.leave_out(rules)
        for _ in range(table.n_passes if table.pruning else 0):
            rules = self.leave_out(self.build(self.optimise(rules)))
        return rules

    def build(self, rules):
        left = self.rows - self.table.covered_by_any(rules, self.rows)
        length = shortest = 0
        while left & self.positive:
            rule = self.new_rule(left)
            length += self.rule_bits(rule)
            length += self.data_bits([*rules, rule]) - self.data_bits(rules)
            shortest = min(shortest, length)
            covered = self.table.covered(rule, left)
            if length > shortest + 64 or not covered & self.positive or self.is_wrong(covered):
                break
            rules = [*rules, rule]
            left = left - covered
        return rules

    def new_rule(self, left):
        if not self.table.pruning:
            return self.grown([], left)
        growing, pruning = self.table.divided(left)
        return self.pruned(self.grown([], growing), pruning, self.accuracy)

    def optimise(self, rules):
        rules, left = list(rules), self.rows
        for place, old in enumerate(rules):
            if not left & self.positive:
                break
            if self.table.covered(old, left):
                growing, pruning = self.table.divided(left)
                pruning = pruning - self.table.covered_by_any(rules[place + 1 :], pruning)
                longer = self.grown(old, self.table.covered(old, growing))
                other = self.grown([], growing)
                variants = [old]
                variants += [self.pruned(one, pruning, self.rightness) for one in (longer, other)]
                lists = [[*rules[:place], one, *rules[place + 1 :]] for one in variants]
                lengths = [self.length(one, place) for one in lists]
                rules = lists[lengths.index(min(lengths))]
            left = left - self.table.covered(rules[place], left)
        return rules

    def leave_out(self, rules):
        gone, _ = self.superfluous(rules, range(len(rules) - 1, -1, -1))
        return [rule for place, rule in enumerate(rules) if place not in gone]

    # ------------------------------------------------------------ rules

    def grown(self, rule, rows):
        while rows - self.positive:
            p, t = self.count(rows & self.positive), self.count(rows)
            base = log2(p + 1) - log2(t + 1)

            def merit(condition, rows=rows, base=base):
                covered = self.table.covered([condition], rows)
                p, t = self.count(covered & self.positive), self.count(covered)
                return p * (log2(p + 1) - log2(t + 1) - base), p

            offered = list(self.table.conditions(rows))
            best = max(offered, key=merit, default=None)
            if best is None or merit(best)[0] <= 0 or merit(best)[1] < self.table.least:
                break
            rule = [*rule, best]
            rows = self.table.covered([best], rows)
        return rule

    def pruned(self, rule, rows, worth):
        if not rows:
            return rule
        best, kept = (self.count(rows & self.positive) + 1) / (self.count(rows) + 2), 0
        for n in range(1, len(rule) + 1):
            value = worth(self.table.covered(rule[:n], rows), rows)
            if value > best:
                best, kept = value, n
        return rule[:kept]

    def accuracy(self, covered, rows):
        return (self.count(covered & self.positive) + 1) / (self.count(covered) + 2)

    def rightness(self, covered, rows):
        right = self.count(covered & self.positive) + self.count(rows - covered - self.positive)
        return right / self.count(rows)

    def is_wrong(self, covered):
        return self.table.check_error and 2 * self.count(covered & self.positive) <= self.count(
            covered
        )

    # ------------------------------------------------------------ bits

    def fired(self, rules):
        """The rows on which each rule fires, those before it having taken theirs."""
        found, left = [], self.rows
        for rule in rules:
            found.append(self.table.covered(rule, left))
            left = left - found[-1]
        return found

    def length(self, rules, place):
        gone, saved = self.superfluous(rules, range(place + 1, len(rules)))
        covered = self.fired(rules)
        kept = set().union(*(covered[at] for at in range(len(rules)) if at not in gone))
        return round(self.exception_bits(kept) + self.rule_bits(rules[place]) - saved, 9)

    def superfluous(self, rules, places):
        covered, gone, cost = self.fired(rules), set(), 0
        for place in places:
            kept = [at for at in range(len(rules)) if at not in gone]
            with_it = set().union(*(covered[at] for at in kept))
            bits = self.exception_bits(with_it) - self.exception_bits(with_it - covered[place])
            own = bits + self.rule_bits(rules[place])
            if round(own, 9) >= 0 or self.is_wrong(covered[place]):
                gone.add(place)
                cost += own
        return gone, cost

    def data_bits(self, rules):
        return self.exception_bits(self.table.covered_by_any(rules, self.rows))

    def exception_bits(self, covered):
        """Which covered rows are wrong, which others are missed; in the larger part as expected."""
        others = self.rows - covered
        n_covered, n_others = self.count(covered), self.count(others)
        n_wrong = self.count(covered - self.positive)
        n_missed = self.count(others & self.positive)
        n_rows, n_errors = self.count(self.rows), n_wrong + n_missed
        share = self.count(self.positive) / n_rows
        expected_wrong = n_wrong / n_covered if covered else 0
        expected_missed = n_missed / n_others if others else 0
        if n_covered > n_others:
            if share * n_errors < n_covered:
                expected_wrong = share * n_errors / n_covered
        elif (1 - share) * n_errors < n_others:
            expected_missed = (1 - share) * n_errors / n_others
        return (
            log2(n_rows + 1)
            + subset_bits(n_covered, n_wrong, expected_wrong)
            + subset_bits(n_others, n_missed, expected_missed)
        )

    def rule_bits(self, rule):
        """Half of what it takes to tell how many conditions there are, and which."""
        k, n = len(rule), self.table.n_possible
        if k == 0:
            return 0
        size = log2(k) + (2 * log2(log2(k)) if k > 1 else 0)
        return 0.5 * (size + subset_bits(n, k, k / n))


def subset_bits(n, k, p):
    bits = -k * log2(p) if k else 0
    return bits - (n - k) * log2(1 - p) if n > k and p < 1 else bits


def known(values):
    return sorted({value for value in values if not isnan(value)})


def numbers(state):
    """SplitMix64, without its last bit."""
    while True:
        state = (state + 0x9E3779B97F4A7C15) & WORD
        z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & WORD
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & WORD
        yield (z ^ (z >> 31)) >> 1
