"""Links of the pages lead to files of the repository, and to headings that are there.

Addresses elsewhere are not asked for: there may be no network.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "benchmarks").glob("**/*.md")),
    ROOT / "src" / "labelrules" / "kernels" / "README.md",
]
FENCE = re.compile(r"^(```+)[^\n]*\n.*?^\1$", re.MULTILINE | re.DOTALL)


def links(path: Path) -> list[str]:
    """What the links and pictures of a page lead to, in this repository."""
    text = FENCE.sub("", path.read_text("utf-8"))
    found = re.findall(r"\]\(([^)\s]+)\)", text)
    return [target for target in found if "://" not in target and not target.startswith("mailto:")]


def anchors(path: Path) -> list[str]:
    """The anchors of the headings of a page, as GitHub and MyST make them."""
    headings = re.findall(r"^#{1,4} (.*)$", FENCE.sub("", path.read_text("utf-8")), re.MULTILINE)
    plain = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower() for heading in headings]
    slugs = [re.sub(r"[^\w\- ]", "", heading).strip().replace(" ", "-") for heading in plain]
    return [
        f"{slug}-{before}" if (before := slugs[:number].count(slug)) else slug
        for number, slug in enumerate(slugs)
    ]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path):
    for target in links(path):
        name, _, anchor = target.partition("#")
        where = (path.parent / name) if name else path
        assert where.exists(), target
        assert where.resolve().is_relative_to(ROOT.resolve()), target
        if anchor:
            assert where.suffix == ".md", target
            assert anchor in anchors(where), f"{target}: there is {', '.join(anchors(where))}"


def test_every_page_is_in_a_list_of_contents():
    reached = set()
    for path in (ROOT / "docs").glob("*.md"):
        for block in re.findall(r"```{toctree}\n(.*?)```", path.read_text("utf-8"), re.DOTALL):
            lines = [line for line in block.splitlines() if line and not line.startswith(":")]
            reached |= {re.sub(r".*<(.*)>", r"\1", line) for line in lines}
    assert {path.stem for path in (ROOT / "docs").glob("*.md")} <= reached | {"index"}
