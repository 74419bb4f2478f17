"""The command line."""

from goldens import golden
from labelrules import __version__, load, theory_text
from labelrules.cli import main
from labelrules.cli.app import COMMANDS

READERS = load("magazines")


def run(capsys, *arguments):
    code = main(arguments)
    done = capsys.readouterr()
    assert code == 0, done.err
    return done.out


def test_demo_shows_readers_rules_and_one_explanation(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    output = run(capsys, "demo")
    assert "It gets 56 of 56 labels right." in output
    for label_set in READERS.label_sets():
        assert (", ".join(label_set) or "-") in output
    assert "1  not quality, not fashion, not sports <- education = Primary (4/0)" in output
    assert "fashion  present  rule 8: not quality, fashion, not sports <- true" in output
    words = " ".join(output.split())
    theory = golden("magazines-multi").with_evidence(READERS, READERS.Y)
    for line in theory_text(theory, evidence=True).splitlines():
        assert line in words


def test_demo_goes_on_with_the_clinic(capsys):
    output = run(capsys, "demo")
    clinic = output[output.index("A clinic:") : output.index("With a table of your own")]
    assert "1,000 invented patients" in clinic
    for line in ('"vomiting", ill_for > 2 days', '"aches", temperature > 38.4'):
        assert line in clinic
    assert "Why patient 22 gets these diagnoses\n\nflu\n    because" in clinic
    assert len(clinic.splitlines()) <= 40
    assert max(map(len, clinic.splitlines())) <= 90


def test_demo_says_how_to_read_rules_and_how_to_go_on(capsys):
    output = run(capsys, "demo")
    assert output.startswith("Rules for rows that may have several labels")
    for line in output[output.index("With a table of your own") :].splitlines():
        name, _, words = line.strip().partition(" ")
        assert name != "labelrules" or words.split()[0] in {*COMMANDS, "--help"}
    assert max(map(len, output.splitlines())) <= 90


def test_version(capsys):
    assert run(capsys, "--version") == f"labelrules {__version__}\n"
