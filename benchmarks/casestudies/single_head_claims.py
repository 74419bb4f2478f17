"""What the chapter says in its first study, examined statement by statement."""

from collections.abc import Iterator
from math import comb

from casestudies.chapter import (
    LARGEST_PER_LABEL,
    RULES,
    SHOWN_LABELS,
    USUAL_SIZES,
)
from casestudies.claims import (
    Claim,
    claim,
    share_text,
    unexamined,
)
from casestudies.single_heads import (
    LEARNERS,
    SingleHeadModels,
    SingleHeadStudy,
)
from labelrules._checks import counted
from labelrules.rules import Rule, parse_rule

OURS = ("BR", "SBR", "Single")
"""The three learners that the chapter compares."""

OTHER_PRUNING = (
    "The chapter used Weka's JRip, and for Single a step of RIPPER for each label and rule. Ours "
    "grows by F and rejects a rule, and with it the label, when it is wrong as often as right on "
    "rows held out, so lists are shorter."
)
OTHER_ROWS = (
    "The chapter does not say from which rows its models were learned; with other rows held out "
    "for pruning, RIPPER finds other rules."
)


def claims_on_single_heads(study: SingleHeadStudy) -> Iterator[Claim]:
    """All statements of the first study, in the chapter's order."""
    for name, examine in (
        ("yeast", _yeast),
        ("medical", _medical),
        ("enron", _enron),
    ):
        if name in study.models:
            yield from examine(study.models[name])
        else:
            label = SHOWN_LABELS[name]
            yield unexamined(1, f"{label} of {name}", "rules of the figure", f"{name} is not there")
    yield _sizes(study)
    yield _per_label(study)
    yield _used(study)
    yield from _report(study)
    yield from _dependencies(study)
    yield _layers(study)
    yield _genbase(study)


# ---------------------------------------------------------------- rules of the figure


def _yeast(models: SingleHeadModels) -> Iterator[Claim]:
    br, sbr = (_both(models.rules_for(name, "Class4")) for name in ("BR", "SBR"))
    yield claim(
        1,
        "Class4 of yeast: size",
        "The rule set of SBR for Class4 is much more compact and less complex than that of BR: "
        "3 rules with 7 conditions, and 5 with 17.",
        f"SBR has {counted(sbr[0], 'rule')} with {counted(sbr[1], 'condition')} in its second "
        f"layer, BR {br[0]} with {br[1]}.",
        [sbr[0] < br[0], sbr[1] < br[1]],
        OTHER_ROWS,
    )
    wanted = _label_rules(models, "yeast", "SBR")
    found = [text for text in wanted if _has(models, "SBR", text)]
    yield claim(
        1,
        "Class4 of yeast: label-dependent rules",
        f"SBR predicts Class4 from other labels alone by {_quoted(wanted)}.",
        f"Ours has {len(found)} of these {len(wanted)} rules to the letter.",
        [text in found for text in wanted],
        OTHER_ROWS,
    )
    rules = models.rules_for("Single", "Class4")
    with_class3 = sum(_tests(models, rule, "Class3") for rule in rules)
    yield claim(
        1,
        "Class4 of yeast: Single",
        "Single shows that Class3 is an important class for expressing Class4: 2 of its 3 rules "
        "test it.",
        f"{with_class3} of {counted(len(rules), 'rule')} of Single for Class4 test Class3; of the "
        f"library's default {_share_of(models, 'Single, default', 'Class4', 'Class3')}.",
        [
            with_class3 > 0,
            2 * with_class3 >= max(1, len(rules)),
        ] if rules else [False],
        "Our rules for one label compete with those for all others, and the first rule for Class4 "
        "comes before Class3 is predicted; only labels that earlier rules have written can be "
        "tested. " + OTHER_PRUNING,
    )  # fmt: skip


def _medical(models: SingleHeadModels) -> Iterator[Claim]:
    wanted = RULES["medical"]["SBR"]
    found = [_has(models, "SBR", text) for text in wanted]
    yield claim(
        1,
        "Cough of medical: SBR",
        "The model of SBR reads very well: a cough without pneumonia, pulmonary collapse or "
        f"asthma, or coughing, is a Cough; or a mild asthma: {_quoted(wanted)}.",
        f"Ours has {sum(found)} of these {len(wanted)} rules to the letter.",
        found,
        "The missing rule, if it is the last one, covers few rows: pruning removed it. "
        + OTHER_ROWS,
    )
    rules = models.rules_for("Single", "Cough")
    words = [not rule.body.on_labels for rule in rules]
    shared = sum(_has(models, "Single", text) for text in RULES["medical"]["Single"])
    yield claim(
        1,
        "Cough of medical: Single",
        "Single is quite similar to BR, since rules on words were more powerful than those on "
        "labels; only its last rule tests a label.",
        f"{sum(words)} of {counted(len(rules), 'rule')} of Single for Cough test words only; "
        f"{shared} of the chapter's {len(RULES['medical']['Single'])} rules to the letter.",
        [2 * sum(words) > len(rules), bool(words) and not words[-1]],
        "That words decide is seen; a last rule on a label is not. " + OTHER_PRUNING,
    )


def _enron(models: SingleHeadModels) -> Iterator[Claim]:
    sbr, single = (models.rules_for(name, "Joke") for name in ("SBR", "Single"))
    by_personal = [any(_tests(models, one, "Personal") for one in rules) for rules in (sbr, single)]
    words = ", ".join(
        f"{name} {'does' if yes else 'does not' if rules else 'has no rule for Joke'}"
        for name, rules, yes in zip(("SBR", "Single"), (sbr, single), by_personal, strict=True)
    )
    yield claim(
        1,
        "Joke of enron",
        "SBR and Single predict Joke from Personal together with words, which the hierarchy of "
        "topics explains.",
        f"Predicting Joke from Personal: {words}.",
        by_personal,
        f"{_n_rows(models, 'Joke')} rows have Joke, few for rules that are to hold on rows held "
        "out, too.",
    )


def _n_rows(models: SingleHeadModels, label: str) -> int:
    """How many rows have a label."""
    return int((models.data.Y[:, models.data.schema.label_index[label]] == 1).sum())


def _both(rules: list[Rule]) -> tuple[int, int]:
    return len(rules), sum(len(rule.body) for rule in rules)


def _tests(models: SingleHeadModels, rule: Rule, label: str) -> bool:
    """Whether a rule tests the presence of a label."""
    place = models.data.schema.label_index[label]
    return any(one.column == place and one.value == 1 for one in rule.body.on_labels)


def _share_of(models: SingleHeadModels, learner: str, label: str, tested: str) -> str:
    rules = models.rules_for(learner, label)
    return f"{sum(_tests(models, rule, tested) for rule in rules)} of {len(rules)}"


def _label_rules(models: SingleHeadModels, name: str, learner: str) -> list[str]:
    """The chapter's rules that test labels only."""
    names = set(models.data.schema.labels)
    return [
        text
        for text in RULES[name][learner]
        if all(part.removeprefix("not ") in names for part in text.partition(" <- ")[2].split(", "))
    ]


def _has(models: SingleHeadModels, learner: str, text: str) -> bool:
    """Whether a model has a rule of the chapter, whatever the order of its conditions."""
    wanted = parse_rule(text, models.data.schema)
    return any(
        rule.head == wanted.head and set(rule.body) == set(wanted.body)
        for rule in models.layer(learner)
    )


def _quoted(texts: "list[str] | tuple[str, ...]") -> str:
    return "; ".join(texts)


# ---------------------------------------------------------------- sizes and explanations


def _sizes(study: SingleHeadStudy) -> Claim:
    chapter = (
        "Between 50 and 100 rules for yeast and medical; for enron between 76 (BR) and 340 "
        "(Single)."
    )
    sizes = study.sizes(USUAL_SIZES)
    if not sizes:
        return unexamined(1, "sizes of models", chapter, "none of the three sets is there")
    parts, texts = [], []
    for name in dict.fromkeys(one for one, _, _ in sizes):
        low, high = USUAL_SIZES[name]
        counts = {learner: size.rules for one, learner, size in sizes if one == name}
        parts += [low <= counts[learner] <= high for learner in OURS]
        texts.append(f"{name}: " + ", ".join(f"{learner} {counts[learner]}" for learner in OURS))
    return claim(1, "sizes of models", chapter, "; ".join(texts) + ".", parts, OTHER_PRUNING)


def _per_label(study: SingleHeadStudy) -> Claim:
    chapter = (
        f"Even the largest model, that of Single for enron, has {LARGEST_PER_LABEL} rules per "
        "label on average."
    )
    sizes = [one for one in study.sizes(["enron"]) if one[1] in OURS]
    if not sizes:
        return unexamined(1, "rules per label", chapter, "enron is not there")
    _, learner, size = max(sizes, key=lambda one: one[2].per_label)
    text = f"The largest for enron is that of {learner}: {size.per_label:.1f} rules per label."
    parts = [size.per_label <= LARGEST_PER_LABEL]
    return claim(1, "rules per label", chapter, text, parts, "Our lists are longer.")


def _used(study: SingleHeadStudy) -> Claim:
    sizes = study.sizes(study.models)
    shares = [size.used / size.rules for _, _, size in sizes if size.rules]
    text = (
        f"Of the rules of a model, {share_text(min(shares), 1)} to {share_text(max(shares), 1)} "
        f"write a label of a row, {max(size.used for _, _, size in sizes):.1f} rules at most "
        "(means over the rows, of all models)."
    )
    return claim(
        1,
        "rules behind one prediction",
        "Only a fraction of the rules is necessary to comprehend the prediction for an instance.",
        text,
        [max(shares) < 0.5],
        "In the smallest models a good part of the rules fires.",
    )


def _report(study: SingleHeadStudy) -> Iterator[Claim]:
    chapter = "The report on a cough for one month is classified as Cough by all three rule sets."
    if not study.report:
        yield unexamined(1, "the report", chapter, "medical is not there")
        return
    found = {name: study.report[name] for name in LEARNERS}
    texts = ", ".join(f"{name} {'yes' if one.predicted else 'no'}" for name, one in found.items())
    yield claim(
        1,
        "the report",
        chapter,
        f"Classified as Cough: {texts}.",
        [bool(found[name].predicted) for name in OURS],
        OTHER_ROWS,
    )
    rules = [one.rule for one in found.values()]
    rows = [one.rows for one in found.values() if one.rows is not None]
    counts = [len(one.right) + len(one.wrong) for one in rows]
    yield claim(
        1,
        "rules and training rows behind it",
        "The rules responsible for a prediction, and the training examples responsible for these, "
        "can be identified.",
        f"{sum(rule is not None for rule in rules)} of {len(rules)} explanations name the rule, "
        f"and {len(rows)} of them its training rows, {min(counts, default=0)} to "
        f"{max(counts, default=0)} of them.",
        [None not in rules, len(rows) == len(rules)],
        "A label that no rule writes is absent by default.",
    )


# ---------------------------------------------------------------- dependencies


def _dependencies(study: SingleHeadStudy) -> Iterator[Claim]:
    for name, topic, chapter, examine in (
        ("emotions", "dependencies in emotions",
         "SBR found a fully label-dependent rule that predicts happy-pleased from quiet-still.",
         _emotions),
        ("scene", "dependencies in scene",
         "Many local dependencies, which also depend on instance features.", _scene),
        ("yeast", "dependencies in yeast",
         "A label depends on its preceding and the two succeeding labels.", _neighbours),
        ("enron", "dependencies in enron",
         "The hierarchy shows in vertical and horizontal patterns that begin at parent labels.",
         _parents),
    ):  # fmt: skip
        if name in study.models:
            yield examine(study.models[name], topic, chapter)
        else:
            yield unexamined(1, topic, chapter, f"{name} is not there")


def _emotions(models: SingleHeadModels, topic: str, chapter: str) -> Claim:
    found = [one for one in models.edges if one.predicted.startswith("happy-pleased")]
    by_quiet = [one for one in found if one.tested.startswith("quiet-still")]
    tested = ", ".join(one.tested for one in found) or "no other label"
    kind = "a rule on labels only" if any(one.n_full for one in by_quiet) else "none on labels only"
    return claim(
        1, topic, chapter,
        f"{counted(len(models.edges), 'dependency').replace('dependencys', 'dependencies')}; "
        f"happy-pleased is predicted from {tested}; of quiet-still {kind}.",
        [bool(by_quiet), any(one.n_full for one in by_quiet)], OTHER_ROWS,
    )  # fmt: skip


def _scene(models: SingleHeadModels, topic: str, chapter: str) -> Claim:
    graph = models.graph
    text = (
        f"{len(models.edges)} of {models.data.schema.n_labels * (models.data.schema.n_labels - 1)} "
        f"pairs of labels; {counted(graph.n_partial, 'rule')} on labels and features, "
        f"{graph.n_full} on labels only."
    )
    parts = [graph.n_partial > 0, graph.n_partial > graph.n_full]
    return claim(1, topic, chapter, text, parts, OTHER_ROWS)


def _neighbours(models: SingleHeadModels, topic: str, chapter: str) -> Claim:
    place, n = models.data.schema.label_index, models.data.schema.n_labels
    steps = [place[one.tested] - place[one.predicted] for one in models.edges]
    near = {step: steps.count(step) / (n - abs(step)) for step in (-2, -1, 1, 2)}
    n_far = sum(abs(step) > 2 for step in steps)
    far = n_far / (2 * comb(n - 2, 2))
    text = "; ".join(f"{step:+d}: {share:.0%}" for step, share in near.items())
    return claim(
        1,
        topic,
        chapter,
        "By the number of steps from a label to the one that predicts it, the share of pairs with "
        f"a dependency: {text}; further away: {far:.0%}.",
        [near[step] > 2 * far for step in (-1, 1, 2)],
        "Other rules were found.",
    )


def _parents(models: SingleHeadModels, topic: str, chapter: str) -> Claim:
    counts: dict[str, int] = {}
    for one in models.edges:
        counts[one.tested] = counts.get(one.tested, 0) + 1
    order = sorted(counts, key=lambda name: -counts[name])
    mean = len(models.edges) / models.data.schema.n_labels
    shown = ", ".join(f"{name} predicts {counts[name]}" for name in order[:3]) or "there is none"
    group = [one for one in models.edges if one.tested[:2] == one.predicted[:2] == "A."]
    stands_out = bool(order) and counts[order[0]] >= 4 * mean
    return claim(
        1,
        topic,
        chapter,
        f"A label predicts {mean:.1f} others on average; {shown}. "
        f"{len(group)} of {len(models.edges)} dependencies are within group A.",
        [stands_out, any(parent is not None for parent in models.data.schema.parents)],
        "Lines that begin at single labels are seen. That these labels are parents cannot be seen: "
        "the file holds no hierarchy, only groups of labels by the first letter of their names.",
    )


def _layers(study: SingleHeadStudy) -> Claim:
    shares = {}
    for learner in ("SBR", "Single", "Single, default"):
        sizes = [size for _, one, size in study.sizes(study.models) if one == learner]
        n_rules = sum(size.rules for size in sizes)
        shares[learner] = sum(size.full + size.partial for size in sizes) / max(1, n_rules)
    text = ", ".join(f"{learner} {share:.0%}" for learner, share in shares.items())
    return claim(
        1,
        "layers and labels as conditions",
        "A layered learner such as SBR proved to be particularly effective at inducing rules with "
        "labels as conditions.",
        f"Share of rules that test labels, over all sets: {text}.",
        [shares["SBR"] > 2 * max(shares["Single"], shares["Single, default"])],
        "On these sets features say as much as other labels do.",
    )


def _genbase(study: SingleHeadStudy) -> Claim:
    chapter = (
        "genbase has only very weak label dependencies, which can hardly be exploited to improve "
        "the predictive performance."
    )
    if "genbase" not in study.models:
        return unexamined(1, "dependencies in genbase", chapter, "genbase is not there")
    graph = study.models["genbase"].graph
    table = study.quality.table("micro F1")
    row = table.values[table.datasets.index("genbase")]
    br, sbr = (row[table.learners.index(name)] for name in ("BR", "SBR"))
    n_dependent = graph.n_full + graph.n_partial
    return claim(
        1,
        "dependencies in genbase",
        chapter,
        f"{n_dependent} of {counted(graph.n_rules, 'rule')} of the second layer test labels; "
        f"micro F1 is {br:.3f} with BR and {sbr:.3f} with SBR.",
        [n_dependent <= 0.1 * graph.n_rules, sbr - br <= 0.01],
        "Other rules were found.",
    )
