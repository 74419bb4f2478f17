"""One numbering: every number of a rule, wherever it is shown, is that of the list of rules."""

import re
from html import unescape
from urllib.parse import parse_qsl

import pytest

from labelrules import edit, explain, parse
from labelrules.inspection import findings
from labelrules.inspection.summaries import places_of
from workbench_site import RULES, client_of, clinic_parts, post, site_of

FLAT = (
    RULES
    + "infection <- temperature > 39\nhay_fever, * <- age <= 12\nneuropathy <- region = West\n"
)
LAYERED = f"""
layer 1:
{RULES}
layer 2:
infection <- pneumonia
infection <- pneumonia, flu
flu <- flu
not hypertension <- not infection, age <= 30
if no label was found:
hypertension <- age > 70
neuropathy <- region = West
hypertension <- age > 80
"""
MOST_ROWS = 12
"""Pages of rows that are looked at."""


@pytest.fixture(params=[FLAT, LAYERED], ids=["list", "layers"])
def site(request):
    training, validation, test = clinic_parts()
    theory = parse(request.param, training.schema)
    return site_of(edit(theory, training, validation=validation, test=test))


@pytest.fixture
def client(site):
    client = client_of(site)
    assert post(client, site, op="disable", number=2).status_code == 303
    return client


def numbered(site) -> dict[int, str]:
    return {one.number: one.text for one in site.state.editor.rules}


def crawled(client) -> dict[str, str]:
    """The HTML of every page that links lead to, of rows the first."""
    pages, waiting, n_rows = {}, ["/", "/?view=label", "/compare", "/history"], 0
    for path in waiting:
        path = path.partition("#")[0]
        is_row = path.startswith("/rows/")
        if path in pages or (is_row and n_rows == MOST_ROWS):
            continue
        n_rows += is_row
        answer = client.get(path)
        pages[path] = answer.text
        if answer.status_code == 200 and answer.headers["content-type"].startswith("text/html"):
            links = re.findall(r'(?:href)="(/[^"]*)"', answer.text)
            waiting += [unescape(one) for one in links if not one.startswith(("/static", "/api/"))]
    return pages


def without_tags(html: str) -> str:
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", "", html)))


MENTION = re.compile(
    r"\b[Rr]ule (\d+)(?: (?:predicts|would predict) (?:present|absent))?:? (?=(.{1,400}))"
)
LINK = re.compile(r'<a [^>]*href="/rules/(\d+)[^"]*"[^>]*>(.*?)</a>(?:\s*<code>(.*?)</code>)?')


def wrong_mentions(page: str, texts: dict[int, str]) -> tuple[int, list[str]]:
    """How many numbers stand beside the text of a rule, and those that are wrong there."""
    n_right, wrong = 0, []
    for found in MENTION.finditer(without_tags(page)):
        beside = [text for text in texts.values() if found[2].startswith(text)]
        if beside:
            is_right = texts.get(int(found[1])) == max(beside, key=len)
            n_right += is_right
            wrong += [] if is_right else [f"{found[1]}: {found[2][:60]}"]
    for number, shown, code in LINK.findall(page):
        words = without_tags(shown).strip(" ←→")
        named = re.match(r"(?:rule )?(\d+)(?:  ?(.*))?$", words)
        if named is None:
            continue
        text = without_tags(code).strip() or (named[2] or "").removesuffix("…").strip()
        is_right = named[1] == number and texts[int(number)].startswith(text)
        n_right += is_right and bool(text)
        wrong += [] if is_right else [f"link to {number}: {words}"]
    return n_right, wrong


def test_every_number_on_every_page_stands_beside_its_rule(site, client):
    post(client, site, op="add", rule="hay_fever <- age > 95", at=5)
    texts, pages = numbered(site), crawled(client)
    pages["report"] = client.get("/export/report.html").text
    n_right = {}
    for path, page in pages.items():
        n_right[path.partition("?")[0]], wrong = wrong_mentions(page, texts)
        assert not wrong, (path, wrong)
    for path in ("/flow", "/compare", "report"):
        assert n_right[path], path
    assert sum(n > 0 for path, n in n_right.items() if path.startswith("/rows/")) > 3


PLACE = re.compile(
    r"\brule(s?) (\d+(?:, \d+)*(?: and \d+)?)( of layer \d+| for rows [a-z ]+label)?"
)


def in_numbers_of_the_list(site, text: str) -> str:
    """A text about the theory alone, in which the rules have the numbers of the list."""
    editor = site.state.editor
    bare = editor.theory.numbered(None)
    enabled = [one.number for one in editor.rules if not one.disabled]
    number_of = dict(zip(map(str, places_of(bare)), enabled, strict=True))

    def replaced(found: re.Match[str]) -> str:
        each = [str(number_of[f"rule {n}{found[3] or ''}"]) for n in re.findall(r"\d+", found[2])]
        pieces = re.split(r"\d+", found[2])
        listed = "".join(a + b for a, b in zip(pieces, [*each, ""], strict=True))
        return f"rule{found[1]} {listed}"

    small = re.sub(r"\bRule(?=s? \d)", "rule", text)
    return PLACE.sub(replaced, small)


def test_sentences_of_the_interface_have_the_numbers_of_the_list(site, client):
    editor = site.state.editor
    bare = editor.theory.numbered(None)
    n_numbers = 0
    for row in range(40):
        found = client.get(f"/api/rows/{row}").json()["labels"]
        expected = explain(bare, editor.data.take([row]), 0, counterfactuals="given", limit=2000)
        for one in expected:
            sentence = in_numbers_of_the_list(site, one.sentence())
            assert re.sub(r"\bRule(?= \d)", "rule", found[one.label]["sentence"]) == sentence
            n_numbers += "rule 3" in sentence or "rule 5" in sentence
    assert n_numbers > 3
    found = client.get("/api/findings").json()["findings"]
    expected = findings(bare, editor.data)
    assert [one["sentence"][0].lower() + one["sentence"][1:] for one in found] == [
        (text := in_numbers_of_the_list(site, one.sentence))[0].lower() + text[1:]
        for one in expected
    ]
    fixes = [None if one.fix is None else in_numbers_of_the_list(site, str(one.fix))
             for one in expected]  # fmt: skip
    shown = [one["fix"] for one in found]
    assert [one and one.partition(" to place")[0] for one in shown] == [
        one and one.partition(" to place")[0] for one in fixes
    ]


def test_fixes_change_the_rule_that_their_finding_names(site, client):
    texts = numbered(site)
    page = client.get("/findings").text
    cards = re.findall(r'<div class="card finding">(.*?)\n</div>', page, re.DOTALL)
    seen = set()
    for card in cards:
        preview = re.search(r'href="/preview\?([^"]*)"', card)
        if preview is None:
            continue
        named = re.search(r"(remove|replace|move) rule (\d+)", without_tags(card).lower())
        fields = dict(parse_qsl(unescape(preview[1])))
        assert (fields["op"], fields["number"]) == named.groups()
        number = int(fields["number"])
        assert post(client, site, **fields).status_code == 303
        after = numbered(site)
        if fields["op"] == "remove":
            assert sorted([*after.values(), texts[number]]) == sorted(texts.values())
        elif fields["op"] == "move":
            assert after[int(fields["to"])] == texts[number]
        else:
            assert after == {**texts, number: fields["rule"]}
        post(client, site, op="undo")
        seen.add(fields["op"])
    assert seen >= {"remove", "replace"}
