"""What the outcomes say: tables, ranks, sentences and pictures."""

from pathlib import Path
from statistics import fmean

from parts.tables import header, row

from labelrules.lab import critical_difference_svg
from peers.catalog import FORESTS, OURS, PEERS, SETS, SETTINGS, Peer
from peers.ranking import QUALITIES, Outcomes, is_done, ranks, tests_of, together

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "benchmarks" / "README.md"
FIGURES = ROOT / "benchmarks" / "figures" / "peers.md"
PICTURES = ROOT / "docs" / "_static"
BEGIN, END = "<!-- peers -->", "<!-- end of peers -->"


def report(found: Outcomes) -> str:
    """Everything in Markdown."""
    parts = [
        summary(found), not_finished(found), rank_table(found), tests(found), sentences(found),
        by_set(found),
    ]  # fmt: skip
    return "\n\n".join(part for part in parts if part)


def brief(found: Outcomes) -> str:
    """A row for each learner, the best by mean rank first: what the page of benchmarks has."""
    learners = ranked(found)
    rank = together(found, learners, SETS) if len(learners) > 1 else {}
    lines = [header("learner", "together", "sets", "micro-F1", "subset acc.", "literals",
                    "fit: CPU s")]  # fmt: skip
    for cells in sorted(_rows(summary(found)), key=lambda one: rank.get(one[0], float("inf"))):
        learner, _, sets, micro, _, subset, _, literals, time, _ = cells
        if not any(peer.name == learner and peer.group == SETTINGS for peer in PEERS):
            place = f"{rank[learner]:.2f}" if learner in rank else ""
            lines.append(row(learner, place, sets, micro, subset, literals, time))
    return "\n".join(lines)


def _rows(table: str) -> list[list[str]]:
    """The cells of a table in Markdown, without its header."""
    return [
        [cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]
    ]


def begun(found: Outcomes, peers: tuple[Peer, ...] = PEERS) -> list[Peer]:
    """The learners that were tried on all data sets, with or without a result."""
    return [peer for peer in peers if all((peer.name, name) in found for name in SETS)]


def ranked(found: Outcomes) -> list[str]:
    """The learners of rules and trees that are ranked; further settings and forests are not."""
    return [peer.name for peer in begun(found) if peer.is_ranked]


def finished(found: Outcomes, learner: str) -> list[str]:
    """The data sets with a result."""
    return [name for name in SETS if is_done(found, learner, name)]


def mean(found: Outcomes, learner: str, measure: str, sets: list[str]) -> float:
    return fmean(float(found[learner, name][measure]) for name in sets)


def amount(found: Outcomes, learner: str, measure: str, sets: list[str]) -> float:
    return sum(float(found[learner, name][measure]) for name in sets)


def summary(found: Outcomes) -> str:
    """A row for each learner: means of qualities, sums of sizes and times."""
    lines = [header(
        "learner", "version", "sets", "micro-F1", "example-F1", "subset acc.", "rules", "literals",
        "fit: CPU s", "predict: CPU s",
    )]  # fmt: skip
    for peer in begun(found):
        sets = finished(found, peer.name)
        count = f"{len(sets)} of {len(SETS)}"
        if not sets:
            lines.append(row(peer.name, "", count, *[""] * 7))
            continue
        qualities = [f"{mean(found, peer.name, one, sets):.3f}" for one in QUALITIES]
        sizes = [f"{amount(found, peer.name, one, sets):,.0f}" for one in ("rules", "literals")]
        times = [
            f"{amount(found, peer.name, one, sets):,.1f}"
            for one in ("fit_seconds", "predict_seconds")
        ]
        program = f"{peer.program} {found[peer.name, sets[0]]['version']}"
        lines.append(row(peer.name, program, count, *qualities, *sizes, *times))
    return "\n".join(lines)


def not_finished(found: Outcomes) -> str:
    """Fits without a result, with the reason."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for peer in begun(found):
        for name in SETS:
            one = found[peer.name, name]
            if one["status"] != "done":
                reason = f"{one['status']}: {one['message']}"
                reasons.setdefault((peer.name, reason), []).append(name)
    if not reasons:
        return "Every fit was finished."
    lines = ["Not finished:", ""]
    lines += [f"- {who} on {', '.join(sets)} ({why})" for (who, why), sets in reasons.items()]
    return "\n".join(lines)


def rank_table(found: Outcomes) -> str:
    """Average ranks by each measure, and of three of them together."""
    learners = ranked(found)
    if len(learners) < 2:
        return ""
    by_measure = [ranks(found, learners, SETS, one) for one in (*QUALITIES, "literals")]
    lines = [header("learner", "together", "micro-F1", "example-F1", "subset acc.", "literals")]
    for learner, value in together(found, learners, SETS).items():
        cells = [f"{one[learner]:.2f}" for one in by_measure]
        lines.append(row(learner, f"{value:.2f}", *cells))
    return "\n".join(lines)


def tests(found: Outcomes) -> str:
    """What Friedman's and Nemenyi's test say of the mean ranks, in a sentence or two."""
    learners = ranked(found)
    if len(learners) < 3:
        return ""
    friedman, nemenyi = tests_of(found, learners, SETS)
    best = nemenyi.ranks.order[0]
    worse = [pair.worse for pair in nemenyi.pairs if pair.better == best and pair.significant]
    behind = (
        f"{best} differs significantly from {listed(worse)}"
        if worse
        else (f"{best} differs significantly from none")
    )
    verb = "differ" if friedman.significant else "do not differ"
    return (
        f"By Friedman's test on the mean ranks of each set the {len(learners)} learners {verb} "
        f"(chi-square {friedman.statistic:.1f}, p {friedman.p:.2g}); Nemenyi's critical difference "
        f"is {nemenyi.critical_difference:.2f} ranks of them (alpha = {nemenyi.alpha:g}), and "
        f"{behind}."
    )


def listed(names: list[str]) -> str:
    """Names in a sentence.

    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def sentences(found: Outcomes) -> str:
    """Plainly: who is best, and how far it is to mlrl-boomer and to forests."""
    learners = ranked(found)
    own = [peer.name for peer in begun(found) if peer.group == OURS]
    if len(learners) < 2 or not own:
        return ""
    order = together(found, learners, SETS)
    best, ours = next(iter(order)), next(one for one in order if one in own)
    others = [one for one in order if one not in own]
    lines = [
        f"{best} has the best mean rank for micro-F1, subset accuracy and literals together, "
        f"{order[best]:.2f}."
    ]
    if others:
        lines[0] += (
            f" The best of ours is {ours} ({order[ours]:.2f}), the best of the others {others[0]} "
            f"({order[others[0]]:.2f})."
        )
        alone = together(found, [ours, *others], SETS)
        next_one = next(one for one in alone if one != ours)
        lines.append(
            f"Ranked with the others only, {ours} has {alone[ours]:.2f} and {next_one} "
            f"{alone[next_one]:.2f}."
        )
    predictor = max(own, key=lambda one: mean(found, one, "micro_f1", finished(found, one)))
    boomers = [peer.name for peer in begun(found) if peer.program == "mlrl-boomer"]
    forests = [peer.name for peer in begun(found) if peer.group == FORESTS]
    for one in dict.fromkeys([ours, predictor]):
        lines += [distance(found, one, other) for other in boomers + forests]
    return "\n".join(f"- {line}" for line in lines if line)


def distance(found: Outcomes, ours: str, other: str) -> str:
    """How one learner compares with another one on the sets that both have finished."""
    sets = [name for name in finished(found, ours) if is_done(found, other, name)]
    if not sets:
        return ""
    mine, theirs = (amount(found, one, "literals", sets) for one in (ours, other))
    size = f"with {mine:,.0f} literals against {theirs:,.0f}"
    text = f"{ours} and {other}: {compared(found, ours, other, sets)}, {size}."
    empty = [name for name in sets if found[other, name]["rules"] <= 2]
    rest = [name for name in sets if name not in empty]
    if empty and rest:
        text += (
            f" Without {listed(empty)}, where {other} learns at most two rules: "
            f"{compared(found, ours, other, rest)}."
        )
    return text


def compared(found: Outcomes, ours: str, other: str, sets: list[str]) -> str:
    """Means of both, their differences, and on how many sets ours is better."""
    words = []
    for measure, noun in (("micro_f1", "micro-F1"), ("subset", "subset accuracy")):
        mine, theirs = (mean(found, one, measure, sets) for one in (ours, other))
        n_better = sum(found[ours, name][measure] > found[other, name][measure] for name in sets)
        words.append(
            f"{noun} {mine:.3f} against {theirs:.3f} ({mine - theirs:+.3f}; better on {n_better} "
            f"of {len(sets)} sets)"
        )
    return listed(words)


def by_set(found: Outcomes) -> str:
    """Micro-F1, subset accuracy and literals of each set."""
    lines = ["Micro-F1 / subset accuracy / literals, set by set:", "", header("learner", *SETS)]
    for peer in begun(found):
        if peer.group == SETTINGS:
            continue
        lines.append(row(peer.name, *(cell(found[peer.name, name]) for name in SETS)))
    return "\n".join(lines)


def cell(outcome: dict[str, object]) -> str:
    """An outcome in a cell."""
    if outcome["status"] != "done":
        return str(outcome["status"])
    return f"{outcome['micro_f1']:.3f} / {outcome['subset']:.3f} / {outcome['literals']:,}"


def write(found: Outcomes) -> None:
    """Put the report beside the page of benchmarks, its table into it, and draw the pictures."""
    for path, content in ((README, brief(found)), (FIGURES, report(found))):
        before, _, rest = path.read_text(encoding="utf-8").partition(BEGIN)
        _, _, after = rest.partition(END)
        if not after:
            raise SystemExit(f"{path} has no marks {BEGIN} and {END}")
        path.write_text(f"{before}{BEGIN}\n\n{content}\n\n{END}{after}", encoding="utf-8")
    learners = ranked(found)
    picture = critical_difference_svg(tests_of(found, learners, SETS)[1])
    (PICTURES / "peers-ranks.svg").write_text(f"{picture}\n", encoding="utf-8")
    draw(found, PICTURES / "peers-frontier.png")


def complete(found: Outcomes) -> list[Peer]:
    """The learners with a result on every set."""
    return [peer for peer in begun(found) if len(finished(found, peer.name)) == len(SETS)]


def draw(found: Outcomes, path: Path) -> None:
    """Micro-F1 and subset accuracy against literals, of learners with all results."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(13, 5.2), sharex=True)
    names = [*SETS]
    for ax, measure, title in zip(
        axes, ("micro_f1", "subset"), ("micro-F1", "subset accuracy"), strict=True
    ):
        shades = plt.get_cmap("tab20").colors
        ax.set_prop_cycle(color=[*shades[::2], *shades[1::2]])
        for kind, points in curves(found).items():
            x = [amount(found, one, "literals", names) for one in points]
            y = [mean(found, one, measure, names) for one in points]
            ax.plot(x, y, "o-", label=kind)
        drawn = {one for points in curves(found).values() for one in points}
        for number, peer in enumerate(complete(found)):
            if peer.name in drawn or peer.group == SETTINGS:
                continue
            x = amount(found, peer.name, "literals", names)
            y = mean(found, peer.name, measure, names)
            ax.plot([x], [y], MARKERS[number % len(MARKERS)], ls="", label=peer.name)
        ax.set(title=title, xscale="log", xlabel="literals, nine data sets together")
        ax.grid(alpha=0.3)
    axes[1].legend(fontsize=8, loc="center left", bbox_to_anchor=(1.01, 0.5))
    figure.tight_layout()
    figure.savefig(path, dpi=90)


MARKERS = "svD^<>PX*"


def curves(found: Outcomes) -> dict[str, list[str]]:
    """Learners that are there with several settings, by size."""
    kinds: dict[str, list[str]] = {}
    for peer in complete(found):
        kinds.setdefault(peer.name.partition(", ")[0], []).append(peer.name)
    bounded = {peer.name.partition(", ")[0] for peer in PEERS if peer.group == SETTINGS}
    found_curves = {kind: names for kind, names in kinds.items() if kind in bounded}
    for names in found_curves.values():
        names.sort(key=lambda one: amount(found, one, "literals", [*SETS]))
    return found_curves
