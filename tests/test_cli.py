"""The command line."""

from typer.testing import CliRunner

from goldens import golden
from labelrules import __version__, load, rule_text
from labelrules.cli import app

READERS = load("magazines")


def run(*arguments):
    result = CliRunner().invoke(app, list(arguments), env={"COLUMNS": "120"})
    assert result.exit_code == 0, result.output
    return result.output


def test_demo_shows_readers_rules_and_one_explanation():
    output = run("demo")
    assert "It gets 56 of 56 labels right." in output
    for label_set in load("magazines").label_sets():
        assert (", ".join(label_set) or "-") in output
    assert (
        "1  not quality (4/0), not fashion (4/0), not sports (4/0) <- education = Primary" in output
    )
    assert "fashion  present  rule 8: not quality, fashion, not sports <- true" in output


def test_the_demo_learns_the_chapters_list():
    output = " ".join(run("demo").split())
    for rule in golden("magazines-multi").with_evidence(READERS, READERS.Y):
        assert rule_text(rule, READERS.schema, evidence=True) in output


def test_version():
    assert run("--version") == f"labelrules {__version__}\n"
