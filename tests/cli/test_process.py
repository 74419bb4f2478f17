"""The command line as a process of its own: signals, pipes, and what it imports."""

import os
import signal
import subprocess
import sys
from contextlib import redirect_stdout

import pytest

from extras import needs
from labelrules import load, load_model, parse, planted, save
from labelrules.cli import main
from labelrules.cli.commands import learn
from labelrules.data import write_csv
from labelrules.learners.scorecard.growth import CardGrowth
from shell import called, output

LABELRULES = [sys.executable, "-m", "labelrules"]


def test_the_list_of_commands_imports_none_of_them():
    program = (
        "import sys; from labelrules.cli import main; main(['--help']);"
        "print(*(name for name in sys.modules if name.startswith('labelrules.cli.commands.')), "
        "file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stderr.split() == []


def test_help_imports_nothing_heavy():
    program = (
        "import sys; from labelrules.cli import main; main(['--help']); main(['stats', '--help']);"
        "print(*({'numpy', 'scipy', 'sklearn', 'numba', 'rich'} & sys.modules.keys()), "
        "file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stderr.split() == []
    assert "Commands:" in done.stdout


class Interrupting:
    """News that interrupt a learner after some rules, as Ctrl-C would."""

    def __init__(self, after: int) -> None:
        self.left = after

    def __call__(self, news: object) -> None:
        self.left -= 1
        if self.left == 0:
            signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize("learner", ["separate-and-conquer", "binary-relevance"])
def test_ctrl_c_keeps_the_partial_model(learner, tmp_path, monkeypatch):
    from contextlib import nullcontext

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(learn, "shown_progress", lambda *given: nullcontext(Interrupting(2)))
    before = signal.getsignal(signal.SIGINT)
    done = called("learn", "magazines", "--learner", learner, "-o", "model.json")
    assert done.code == 130
    assert "learning ended early because it was interrupted" in done.err
    kept = load_model("model.json")
    assert output("show", "model.json") == done.out
    assert len(kept.theory_) > 0
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.skipif(os.name == "nt", reason="Windows sends no SIGINT to a process")
def test_ctrl_c_in_a_process(tmp_path):
    data, _ = planted(4000, noise=0.2, random_state=1)
    write_csv(data, tmp_path / "many.csv")
    with subprocess.Popen(
        [*LABELRULES, "learn", str(tmp_path / "many.csv"), "-v", "-o", str(tmp_path / "m.json"),
         "--set", "pruning=none", "--set", "max_conditions=8"],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stderr is not None
        first = process.stderr.readline()
        while not first.startswith("1 rule"):
            first = process.stderr.readline()
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()
        assert process.wait(timeout=120) == 130, first + rest
    assert len(load_model(tmp_path / "m.json").theory_) >= 1


def test_ctrl_c_is_ignored_where_somebody_has_chosen_so(monkeypatch):
    from contextlib import nullcontext

    expected = output("learn", "magazines")
    monkeypatch.setattr(learn, "shown_progress", lambda *given: nullcontext(Interrupting(2)))
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        done = called("learn", "magazines")
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
    assert done.code == 0, done.err
    assert done.out == expected


class Handed:
    """Something that loses an interrupt, as a function that the compiler calls does."""

    def __del__(self) -> None:
        signal.raise_signal(signal.SIGINT)


def lost(*given: object) -> None:
    del (handed := [Handed()])[0], handed
    raise RuntimeError("no compiled object yet for <Library 'grow' at 0x7f>")


def test_an_interrupt_that_the_compiler_loses(monkeypatch):
    """Numba tells of it by another error, after Python has complained of one that it ignores."""
    monkeypatch.setattr("labelrules.learners.SeparateAndConquer.fit", lost)
    complain = sys.unraisablehook
    done = called("learn", "magazines")
    assert done.code == 130
    assert done.err == ("labelrules: interrupted before there was a model: nothing is saved\n")
    assert sys.unraisablehook is complain


def test_ctrl_c_while_a_scorecard_grows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    grow = CardGrowth._grow

    def pressed(self: CardGrowth) -> bool:
        if len(self.conditions) == 3:
            monkeypatch.undo()
            monkeypatch.chdir(tmp_path)
            signal.raise_signal(signal.SIGINT)
        return grow(self)

    monkeypatch.setattr(CardGrowth, "_grow", pressed)
    cheap = ("--set", "literal_cost=0.05")
    done = called("learn", "magazines", "--learner", "scorecard", *cheap, "-o", "model.json")
    assert done.code == 130
    assert "it was interrupted; the scorecard has 2 conditions, and is not tuned" in done.err
    assert len(load_model("model.json").theory_) == 3


def test_the_package_is_a_program_too():
    """As light as the other one."""
    program = [sys.executable, "-X", "importtime", "-m", "labelrules", "--version"]
    done = subprocess.run(program, capture_output=True, text=True, check=True)
    assert done.stdout == output("--version")
    assert "numpy" not in done.stderr


def test_ctrl_c_before_anything_is_learned(monkeypatch):
    def interrupted(*given: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("labelrules.data.statistics", interrupted)
    done = called("stats", "magazines")
    assert (done.code, done.err) == (130, "labelrules: interrupted\n")


@pytest.mark.skipif(os.name == "nt", reason="pipes break otherwise on Windows")
def test_whoever_stops_reading_gets_no_complaint(tmp_path):
    write_csv(load("magazines"), tmp_path / "a.csv")
    head, _, rows = (tmp_path / "a.csv").read_text(encoding="utf-8").partition("\n")
    (tmp_path / "a.csv").write_text(f"{head}\n{rows * 4000}", encoding="utf-8")
    words = ["convert", "a.csv", "-", "--to", "csv"]
    with subprocess.Popen(
        [*LABELRULES, *words], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=120) == 141


EVERY = """
learn magazines
predict model.json magazines
evaluate model.json magazines
show model.json
show model.json --json
explain model.json magazines --row 3
compare model.json model.json
discover rules magazines
convert model.json - --to rules
convert model.json /dev/stdout --to rules
stats magazines
demo
completion bash
learn --help
--help
--version
"""


@pytest.mark.skipif(os.name == "nt", reason="pipes break otherwise on Windows")
@pytest.mark.parametrize("call", EVERY.strip().splitlines())
def test_every_command_tells_that_nobody_reads_on(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save(parse("not fashion <- sex = Male", load("magazines").schema), "model.json")
    program = f"import sys; from labelrules.cli import main; sys.exit(main({call.split()}))"
    if "/dev/stdout" in call:  # the descriptor itself, so in a process
        with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.close()
            assert process.wait(timeout=120) == 141
        return
    end, start = os.pipe()
    os.close(end)
    with open(start, "w", encoding="utf-8") as closed, redirect_stdout(closed):
        assert main(call.split()) == 141


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no device that is full")
@pytest.mark.parametrize("call", [*EVERY.strip().splitlines(), "report model.json magazines -o -"])
def test_a_full_disk_is_blamed_on_the_standard_output(call, tmp_path, monkeypatch, capsys):
    if call.startswith("report"):
        needs("starlette")
        needs("uvicorn")
    monkeypatch.chdir(tmp_path)
    save(parse("not fashion <- sex = Male", load("magazines").schema), "model.json")
    call = call.replace("/dev/stdout", "/dev/full")
    with open("/dev/full", "w", encoding="utf-8") as full, redirect_stdout(full):
        assert main(call.split()) == 1
    where = "/dev/full" if "/dev/full" in call else "standard output"
    assert f"labelrules: {where}: cannot write: there is no space left" in capsys.readouterr().err


@pytest.mark.skipif(os.name == "nt", reason="Windows has no limit for files")
@pytest.mark.parametrize("buffering", [{}, {"PYTHONUNBUFFERED": "1"}], ids=["buffered", "not"])
def test_a_result_that_does_not_fit_is_not_cut_short_in_silence(buffering, tmp_path):
    """Without a buffer, Python writes what fits and says nothing of the rest."""
    import resource

    def with_little_space():
        resource.setrlimit(resource.RLIMIT_FSIZE, (9_000, 9_000))

    env = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    save(parse("not fashion <- sex = Male", load("magazines").schema), tmp_path / "model.json")
    words = ["show", str(tmp_path / "model.json"), "--style", "html"]
    with open(tmp_path / "out.html", "wb") as target:
        done = subprocess.run(
            [*LABELRULES, *words], stdout=target, stderr=subprocess.PIPE, text=True,
            env={**env, **buffering}, preexec_fn=with_little_space, check=False,
        )  # fmt: skip
    assert (tmp_path / "out.html").stat().st_size == 9_000
    assert done.stderr == "labelrules: standard output: cannot write: File too large\n"
    assert done.returncode == 1


def test_a_closed_standard_output_is_named(monkeypatch, capsys):
    """Shells close it by ``>&-``; Python has None in its place then."""
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", None)
        assert main(["stats", "magazines"]) == 1
    assert capsys.readouterr().err == (
        "labelrules: cannot write: the standard output is closed; give it a file, or >/dev/null\n"
    )
