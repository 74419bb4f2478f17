"""Wrong calls: what is said, and what the shell is told."""

import re
import shlex
from pathlib import Path

import pytest

from extras import needs
from labelrules.cli.commands.learn import learner_classes
from shell import called, output

FILES = {
    "a.csv": "age,sex,quality\n36,Female,1\n,Male,0\n50,Male,1\n",
    "again.csv": "sex,age,quality\nMale,36,1\n",
    "wider.csv": "sex,age,quality,extra\nMale,36,1,1\n",
    "torn.csv": 'age,quality\n"36,1\n',
    "semicolons.csv": "age;quality\n36;1\n",
    "empty.json": "{}",
    "newer.json": '{"format": "labelrules", "version": 99, "theory": {}}',
    "half.json": '{"format": "labelrules", "ver',
    "rules.txt": "quality <- sex = Male\n",
    "typo.txt": "qualty <- sex = Male\n",
    "noend": "x",
    "no-rows.csv": "education,marital,sex,children,quality,tabloid,fashion,sports\n",
    "plain.arff": "@relation r\n@attribute a numeric\n@attribute b {0,1}\n@data\n1,0\n2,1\n",
    "bad.arff": "@relation r\n@attribute a numeric\n@attribute b {0,1}\n@data\nx,0\n",
    "unsigned.json": """{"format": "labelrules", "version": 1,
        "schema": {"features": [], "labels": ["a"], "parents": []},
        "theory": {"kind": "decision list", "rules": []}}""",
    "set.txt": "in any order:\nquality <- sex = Male\n",
    "unknown.csv": "qualty,x\n",
    "clash.json": '{"quality": "sex"}',
    "wide.csv": "old,new\nquality,x,y\n",
    "twice.csv": "quality,x\nquality,y\n",
    "number.json": '{"quality": 3}',
    "bad.xml": '<labels><label name="b"/></labels>',
    "torn.toml": "data = [",
    "none.toml": 'data = ["magazines"]\n',
    "typo.toml": 'data = ["magazines"]\nlearnrs = {}\nlearners = {a = "ripper"}\n',
    "learner.toml": 'data = ["magazines"]\nlearners = {a = "riper"}\n',
    "setting.toml": """data = ["magazines"]
        learners = {a = {learner = "separate-and-conquer", settings = {beam_widht = 2}}}""",
    "dotted.toml": """data = ["magazines"]
        learners = {a = "sklearn.tree.DecisionTreeClasifier"}""",
    "module.toml": 'data = ["magazines"]\nlearners = {a = "sklearn.tre.Tree"}\n',
    "package.toml": 'data = ["magazines"]\nlearners = {a = "pickle.Unpickler"}\n',
    "both.toml": 'data = ["magazines"]\nlearners = {a = {learner = "ripper", pipeline = []}}\n',
    "data.toml": 'data = ["magazins"]\nlearners = {a = "ripper"}\n',
    "twice.toml": 'data = ["magazines", "magazines"]\nlearners = {a = "ripper"}\n',
    "given.toml": """data = ["a.csv"]
        split = "given"
        learners = {a = "ripper"}""",
    "split.toml": 'data = ["magazines"]\nsplit = "halves"\nlearners = {a = "ripper"}\n',
    "measure.toml": 'data = ["magazines"]\nmeasures = "mikro"\nlearners = {a = "ripper"}\n',
    "test.toml": """data = ["magazines"]
        learners = {a = "ripper"}
        statistics = {tests = ["friedmann"]}""",
}

USAGE = """
lern magazines | there is no command 'lern'; did you mean 'learn'?
--verson | there is no option --verson; did you mean '--version'?
learn | missing argument DATA: a file (.arff, .csv, .parquet)
stats a.csv magazines | several inputs must be files, but magazines is the name of a data set
stats a.csv plain.arff | plain.arff is arff, but a.csv is csv
stats a.csv openml:yeast | several inputs must be files, but openml:yeast is the name of a data set
stats - a.csv - --labels quality | only one of the inputs can be - for standard input
learn a.csv again.csv --labels quality -o again.csv | again.csv is an input of this command
predict model.json a.csv again.csv -o again.csv | again.csv is an input of this command
convert a.csv again.csv again.csv --labels quality | again.csv is an input of this command
convert a.csv again.csv x.json --labels quality | a.csv is data, which cannot be converted to json
convert rules.txt typo.txt x.json | several files are data, which cannot be converted to json
compare model.json model.json --data a.csv --data - | name a file, not -
convert a.csv | missing argument SOURCE
learn magazines --ouput m2.json | there is no option --ouput; did you mean '--output'?
learn magazines -x | there is no option -x
learn magazines -o --json | --output: the value is missing: --json is an option
stats magazines --json=3 | option --json takes no value
completion | missing argument SHELL: bash, zsh, fish
learn magazines --author Ada | --author and --notes are for the file of the model: give --output
show model.json --about --style latex | --about takes no --style
show rules.txt --about | rules.txt is not JSON
show model.json --about --summary | --about takes no --summary
learn --settings --learner riper | there is no learner 'riper'; did you mean 'ripper'?
learn magazines -l associative-classifier --set productive=maybe | must be true or false, not
discover rules magazines --set max_head=x | --set max_head: must be a whole number, not 'x'
learn magazines --set min_gain=x | --set min_gain: must be a number, not 'x'
learn magazines --set operators=<=,, | --set operators: a name is empty: give names
learn magazines --set smoothing=laplaec | did you mean 'laplace'?
learn magazines --heads multi | there is no option --heads; write --set heads=VALUE
learn magazines --set heads | write NAME=VALUE, not 'heads'
learn magazines --set heads=mutli | a number of labels, not 'mutli'; did you mean 'multi'?
learn magazines --set haeds=multi | has no parameter 'haeds'; did you mean 'heads'?
learn magazines --set beam_width=0 | beam_width must be a whole number of at least 1, not 0
learn magazines --set beam_width=x | --set beam_width: must be a whole number, not 'x'
learn magazines --set measure=x | --set: there is no formula 'x'
learn magazines --set random_state=x | --set random_state: must be a whole number, not 'x'
learn magazines --set random_state=-1 | random_state: must be at least 0, not -1
learn magazines -l associative-classifier --set bins=widht | did you mean 'width'?
learn magazines -l associative-classifier --set n_bins=none | n_bins: must be a whole number, not
discover constraints magazines --set alpha=x | alpha must be a number between 0 and 1, not 'x'
discover subgroups magazines --set n_permutations=[1] | must be a whole number, not '[1]'
learn magazines --set beam_width=1 --set beam_width=2 | --set beam_width is given twice
learn magazines --set size_bonus=much | write kln(A), root(A) or peak(SIZE, FACTOR, N_LABELS)
learn magazines --set size_bonus=kln(x) | --set size_bonus: kln: takes numbers, not 'x'
learn magazines --set required=[1 | --set required: [1 is not valid JSON
learn magazines --set measure=f1e300 | the parameter of 'f' is 1e+300, which is too large
evaluate model.json magazines -m 'linear-cost(1e308)' | 'linear-cost' is 1e+308, which is too large
learn magazines --learner riper | there is no learner 'riper'; did you mean 'ripper'?
learn magazines --learner ripper | use --learner binary-relevance --set base=ripper
learn magazines -l binary-relevance --set base=rippr | --set base: there is no learner 'rippr'
learn magazines -l binary-relevance --set base.n_folds=3 | choose the base, too, as
learn magazines -l scorecard --set base.n_folds=3 | --set base.n_folds: scorecard has no base
learn magazines -l binary-relevance --set base=ripper --set base.n_fold=3 | did you mean 'n_folds'?
learn magazines -l lazy-associative-classifier -o m2.json | cannot be stored, because it mines rules
frontier magazines --sizes 5,x | --sizes: must be a whole number of at least 1, not 'x'
frontier magazines --sizes , | --sizes: a name is empty
frontier magazines --learners ripr | --learners: there is no learner 'ripr'; did you mean 'ripper'?
frontier magazines --learners ripper | --learners: Ripper has no parameter max_literals
frontier magazines -m mikro-F1 | --measure: measure: there is no formula
frontier magazines --folds 1 | --folds: must be a whole number of at least 2, not '1'
frontier magazines -o picture.jpg | --output: a picture is a file .svg, .png, .pdf, not picture.jpg
frontier magazines -o - | --output: a picture is a file .svg, .png, .pdf, not -
frontier magazines -o nowhere/a.svg | nowhere/a.svg: cannot write: there is no folder 'nowhere'
frontier a.csv --labels quality --csv a.csv | --csv: a.csv is an input of this command
experiment | missing argument PLAN: a file (.toml) with learners, data sets, measures and a split
experiment learner.toml --jobs 0 | --jobs: must be a whole number of at least 1, not '0'
experiment learner.toml --csv learner.toml | --csv: learner.toml is an input of this command
experiment learner.toml --allow '' | --allow: the value is empty: give a name
learn magazines --labels quality | --labels does not apply to a data set by name
learn a.csv --labels quality --xml bad.xml | --xml does not apply to csv
learn a.csv --labels quality -o a.csv | a.csv is an input of this command; choose another name
learn a.csv --labels quality -o b.csv | b.csv is a name for data; name a .json file
learn a.csv --labels quality -o nowhere/m.json | there is no folder 'nowhere'
learn a.csv --labels quality -o . | is a folder; name a file
learn a.csv --labels quality --delimiter ;; | --delimiter: must be one character, or tab, not ';;'
learn a.csv --labels quality --encoding utf-99 | there is no encoding 'utf-99' of text
learn a.csv --labels quality --encoding hex | there is no encoding 'hex' of text
learn a.csv --labels quality --encoding rot13 | there is no encoding 'rot13' of text
learn a.csv --labels quality --encoding idna | there is no encoding 'idna' of text
learn a.csv --labels quality --encoding undefined | there is no encoding 'undefined' of text
learn yeast --part tset | there is no part 'tset'; did you mean 'test'?
learn noend | noend: cannot tell the format from the file extension '': give --format, one of arff
learn noend --format cvs | there is no format 'cvs'; did you mean 'csv'?
learn . | rules.txt: cannot tell the format from the file extension
learn . -o m2.json | rules.txt: cannot tell the format from the file extension
predict model.json a.csv -o a.csv | a.csv is an input of this command
predict model.json plain.arff -o plain.arff | plain.arff is an input of this command
predict model.json bad.arff -o bad.xml | bad.xml is an input of this command
predict model.json bad-train.arff -o bad.xml | bad.xml is an input of this command
predict model.json | missing argument DATA: a file (.arff, .csv, .parquet)
predict a.csv model.json | a.csv is a data file: give the model first, then the data
predict model.json magazines --as setz | there is no form 'setz'; did you mean 'sets'?
predict - - | only one of the inputs can be - for standard input
evaluate model.json magazines -m f1/mikro | did you mean 'micro'?
evaluate model.json magazines --measure | option --measure needs a value
show a.csv | a.csv is a data file, but a model is needed here
show rules.txt | give their data by --data
show model.json --label qality | there is no label 'qality'; did you mean 'quality'?
show model.json --style unicod | there is no style 'unicod'; did you mean 'unicode'?
explain model.json magazines --row -1 | --row: must be a whole number of at least 0, not '-1'
explain model.json magazines --row x | --row: must be a whole number of at least 0, not 'x'
explain model.json magazines --label qality | there is no label 'qality'; did you mean 'quality'?
explain model.json magazines --fixed sx | there is no feature 'sx'; did you mean 'sex'?
explain model.json magazines --row 1 --row 2 --style html | --style html shows one row
explain model.json magazines --style sentences --json | --json takes no --style
explain model.json magazines --json --details | --json shows all details anyway: leave --details out
explain model.json magazines --style html --details | --style html shows all details anyway
compare model.json | missing argument SECOND: a model or theory
compare model.json model.json --data - | name a file, not -
compare model.json model.json - | name a file, not -
compare model.json model.json magazines --data magazines | DATA and --data are the same
compare model.json model.json magazines --rows x | --rows: must be a whole number of at least 0
learn magazines --first 2 | --first says how many rules of --keep to keep: give --keep, too
learn magazines --keep model.json --first 0 | --first: must be a whole number of at least 1
learn magazines --keep model.json --first 99 | --first: model.json has only 4 rules, not 99
learn magazines --keep a.csv | a.csv is a data file, but a model is needed here
learn magazines -l scorecard --keep model.json | scorecard cannot go on from rules; these can: separ
learn magazines --keep '' | --keep: the value is empty: give a name
learn magazines --keep model.json -o model.json | model.json is an input of this command
learn magazines --cv 1 | --cv: must be a whole number of at least 2, not '1'
learn - --keep - | only one of the inputs can be - for standard input
show model.json --count - | --count: the data are read more than once, so name a file, not -
show model.json --names '' | --names: the value is empty: give a name
discover | missing argument WHAT: itemsets, rules
discover ruls magazines | there is no search 'ruls'; did you mean 'rules'?
discover rules | missing argument DATA: a file (.arff, .csv, .parquet)
discover rules magazines --set min_suport=1 | did you mean 'min_support'?
discover rules magazines --min-support 0.1 | write --set min_support=VALUE
discover subgroups magazines --set measure=lk | measure must be 'wracc', 'kl' or 'phi', not 'lk'
discover subgroups magazines --set target=-1 | target must be the name of a label
discover subgroups magazines --first 0 | --first: must be a whole number of at least 1, not '0'
convert model.json x.foo | cannot tell the format from the file extension '.foo': give --to
convert model.json x.csv | model.json is a model, which cannot be converted to csv
convert a.csv x.json | a.csv is data, which cannot be converted to json
convert model.json x.py --table t | --table is for SQL only, not for python
convert model.json x.sql --table '' | --table: the value is empty: give a name
convert model.json x.sql --key '' | --key: the value is empty: give a name
convert model.json x.sql --dialect '' | --dialect: the value is empty: give a name
learn '' | DATA: the value is empty: give a name
show '' | MODEL: the value is empty: give a name
show model.json --data '' | --data: the value is empty: give a name
learn magazines --test '' | --test: the value is empty: give a name
learn magazines -o '' | --output: the value is empty: give a name
stats a.csv --labels 'quality,' | --labels: a name is empty: give names separated by commas
convert model.json x.sql --dialect sqlit | not 'sqlit'; did you mean 'sqlite'?
convert model.json model.json | TARGET: model.json is an input of this command
convert a.csv - --to arff --labels quality | arff is written to files only: give the name of a file
show model.json --style html --label quality | --label needs --style plain, unicode, ascii
show model.json --style latex --summary | --summary takes no --style
show model.json --by label --json | --json takes no --by
show model.json --by label --style latex | --by is for reading, and for --style html, not for latex
show model.json --by label --label quality | --label lists the rules that mention a label
show model.json --by labels | there is no order 'labels'; did you mean 'label'?
show model.json --by table | --by table is for rule sets that give points: use --by label
show model.json --by table --style html | --by table is for rule sets that give points
explain model.json magazines --label '' | --label: a name is empty: give names
completion tcsh | there is no shell 'tcsh'; there are bash, zsh, fish
demo now | unexpected argument 'now'
"""

FAILURES = """
learn magazins | there is no file magazins; did you mean 'magazines'?
learn a.cvs | there is no file a.cvs; did you mean 'a.csv'?
learn nofile.arff | there is no file nofile.arff
learn a.csv | which columns are labels? Pass --labels
learn a.csv --labels qualty | there is no column 'qualty'; did you mean 'quality'?
learn semicolons.csv --labels quality | 'age;quality'; perhaps pass --delimiter ';'
predict model.json semicolons.csv | there is no column 'education': the header is one cell
learn torn.csv --labels quality | a quote is opened but never closed
learn plain.arff | no XML file names its labels: looked for plain.xml; pass --xml
learn plain.arff --format meka | has no -C option that counts the labels
learn bad.arff | bad.arff, line 5
learn magazines --part train | magazines is not divided into parts: leave --part out
learn openml:nothing | fetch has no data set 'nothing'
predict model.json a.csv | the data have no column 'education', a feature of the model
predict nofile.json magazines | nofile.json: there is no such file or folder
predict empty.json magazines | empty.json: $.format: must be "labelrules"
predict newer.json magazines | this labelrules reads versions up to 1: install a newer one
predict half.json magazines | half.json: line 1, column 26: not valid JSON
predict typo.txt magazines | there is no label 'qualty'; did you mean 'quality'?
predict rules.txt magazines --as probabilities | holds rules alone
evaluate model.json unlabelled.csv | the data have no column 'quality', a label of the model
evaluate model.json no-rows.csv | the data have no rows, so there is nothing to compare with
explain model.json no-rows.csv | the data have no rows, so there is nothing to explain
explain model.json magazines --row 14 | there is no row 14: the data have 14, counted from 0
frontier magazines --folds 15 | 15 folds (n_folds) need as many rows, but the data have 14
experiment nothing.toml | nothing.toml: there is no such file or folder
experiment torn.toml | torn.toml: not valid TOML: Invalid value
experiment none.toml | none.toml: $: "learners" is missing
experiment typo.toml | typo.toml: $: there is no field 'learnrs'; did you mean 'learners'?
experiment learner.toml | learner.toml: $.learners.a: there is no learner 'riper'; did you mean
experiment setting.toml | has no parameter 'beam_widht'; did you mean 'beam_width'?
experiment dotted.toml | did you mean 'DecisionTreeClassifier'?
experiment module.toml | sklearn.tre.Tree cannot be imported: No module named 'sklearn.tre'
experiment package.toml | if you trust this plan, write --allow pickle
experiment both.toml | both.toml: $.learners.a: give either "learner" or "pipeline"
experiment data.toml | there is no file magazins; did you mean 'magazines'?
experiment twice.toml | twice.toml: $.data[1]: a data set is called 'magazines' already: give
experiment given.toml | a.csv is not divided: give the rows for testing by "test"
experiment split.toml | split must be a number of folds, a share of rows to hold out, or a splitter
experiment measure.toml | measure: there is no formula 'mikro'
experiment test.toml | $.statistics.tests[0]: 'friedmann' is not possible here; did you mean 'fried
compare model.json other.json | have different features or labels
show unsigned.json --about | unsigned.json: nothing is known of how it came about
learn magazines --cv 15 | 15 folds (n_folds) need as many rows, but the data have 14
learn magazines --keep typo.txt | typo.txt: line 1, column 1: there is no label 'qualty'
learn magazines --keep set.txt | set.txt: only the rules of a decision list can be kept, not those
show set.txt --data magazines --count magazines | rules of this RuleSet vote, so no rule alone
show model.json --count unlabelled.csv | the data have no column 'quality', a label of the model
show model.json --names nofile.csv | nofile.csv: there is no such file or folder
show model.json --names unknown.csv | unknown.csv: there is no feature or label 'qualty' to rename;
show model.json --names clash.json | 'sex' and 'quality' would both be called 'sex'
show model.json --names wide.csv | wide.csv: line 2: expected an old name, a comma and a new name
show model.json --names twice.csv | twice.csv: line 2: 'quality' is renamed twice
show model.json --names number.json | number.json: the new name of 'quality' must be text, not 3
show model.json --names half.json | half.json: line 1, column 26: not valid JSON
convert model.json x.json --names unknown.csv | did you mean 'quality'?
convert magazines x.csv --names unknown.csv | did you mean 'quality'?
stats torn.csv --labels quality | torn.csv
stats a.csv torn.csv --labels quality | torn.csv, line 1: there is no column 'sex' as in a.csv
stats again.csv a.csv semicolons.csv --labels quality | there is no column 'sex' as in again.csv
stats a.csv wider.csv --labels quality | wider.csv, line 1: column 'extra' is not in a.csv
stats a.csv nofile.csv --labels quality | there is no file nofile.csv
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("wrong")
    for name, text in FILES.items():
        Path(place, name).write_text(text, encoding="utf-8")
    readers = "education,marital,sex,children\nPrimary,Single,Male,No\n"
    Path(place, "unlabelled.csv").write_text(readers, encoding="utf-8")
    output("learn", "magazines", "-o", str(place / "model.json"))
    words = ["--labels", "quality", "-o", str(place / "other.json")]
    output("learn", str(place / "a.csv"), *words)
    return place


def cases(table):
    return [tuple(line.split(" | ")) for line in table.strip().splitlines()]


@pytest.mark.parametrize(
    ("code", "call", "message"),
    [(2, *case) for case in cases(USAGE)] + [(1, *case) for case in cases(FAILURES)],
)
def test_wrong_calls_say_what_is_wrong_and_change_no_file(code, call, message, folder, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.delenv("LABELRULES_DATA", raising=False)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    done = called(*shlex.split(call, posix=True))
    assert (done.code, done.out) == (code, "")
    assert message in done.err
    assert done.err.startswith("labelrules: ")
    assert "Traceback" not in done.err
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def words_of(document: str) -> list[tuple[str, str]]:
    """The parameters that take certain words, and the words, as a docstring names them."""
    parameters, _, _ = document.partition("Attributes\n")
    found = re.findall(r'^    (\w+) : (.*"[a-z].*)$', parameters, re.MULTILINE)
    return [(name, word) for name, kinds in found for word in re.findall(r'"([a-z -]{4,})"', kinds)]


@pytest.mark.parametrize("learner", learner_classes())
def test_typos_among_the_words_of_settings_get_a_suggestion(learner, folder, monkeypatch):
    monkeypatch.chdir(folder)
    data = ["a.csv", "--labels", "quality"] if learner == "ripper" else ["magazines"]
    for name, word in words_of(learner_classes()[learner].__doc__):
        typo = word[:-2] + word[:-3:-1]
        done = called("learn", *data, "--learner", learner, "--set", f"{name}={typo}")
        assert (done.code, f"did you mean '{word}'?" in done.err) == (2, True), done.err


def test_there_are_many_of_them():
    assert len(cases(USAGE)) + len(cases(FAILURES)) >= 80


def test_usage_errors_name_the_help(folder, monkeypatch):
    monkeypatch.chdir(folder)
    assert called("show").err.endswith("see labelrules show --help\n")
    assert called("shw").err.endswith("see labelrules --help\n")


def test_standard_input_is_called_so_in_errors(folder, monkeypatch):
    monkeypatch.chdir(folder)
    done = called("stats", "-", "--labels", "b", stdin="a,b\n1,2\n")
    assert (done.code, "labelrules: standard input, line 2" in done.err) == (1, True)
    done = called("learn", "-", "--format", "arff", stdin=FILES["plain.arff"])
    assert (done.code, done.err) == (
        1,
        "labelrules: standard input: no XML file names its labels: pass --xml, or --format meka if "
        "the relation name has -C\n",
    )
    done = called("learn", "-", "--format", "arff", "--xml", "bad.xml", stdin=FILES["bad.arff"])
    assert (done.code, "labelrules: standard input, line 5" in done.err) == (1, True)
    for words in (["stats", "-", "--labels", "b"], ["predict", "model.json", "-"]):
        needs("pyarrow")
        done = called(*words, "--format", "parquet", stdin="a,b\n1,2\n")
        assert done.err.startswith("labelrules: standard input: this is not a sound Parquet file")
    done = called("show", "-", stdin="{")
    assert (done.code, "labelrules: standard input: line 1" in done.err) == (1, True)


def test_the_encoding_of_models_is_not_to_be_chosen(folder, tmp_path):
    path = tmp_path / "latin.json"
    path.write_bytes('{"format": "ä"}'.encode("latin-1"))
    done = called("show", str(path))
    assert done.code == 1
    assert done.err.endswith("(invalid continuation byte): save it as UTF-8\n")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (["a.arff"], ["a.arff.gz"]),
        (["a.arff"], ["a.ARFF"]),
        (["a-train.arff"], ["a-train.arff.gz"]),
        (["b.arff"], ["c.csv", "b.arff.gz"]),
    ],
)
def test_files_beside_the_table_are_not_lost(first, second, tmp_path, monkeypatch):
    """ARFF files of two names may share an XML file; it stays that of the first."""
    monkeypatch.chdir(tmp_path)
    output("convert", "magazines", first[0])
    source = first[0]
    if len(second) == 2:
        Path("c.csv").write_text("x,y\n1,0\n2,1\n", encoding="utf-8")
        source = "c.csv"
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    words = ["--labels", "y"] if source == "c.csv" else []
    done = called("convert", source, second[-1], *words)
    assert done.code == 2
    assert "belongs to other data; choose another name" in done.err
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("value", ["required={}", "operators={}", "size_bonus=kln({})"])
def test_deep_brackets_get_a_short_message(value):
    done = called("learn", "magazines", "--set", value.format("[" * 50_000))
    assert (done.code, len(done.err) < 400) == (2, True)
    assert "nested too deeply" in done.err or "takes numbers" in done.err


def test_long_lines_are_not_quoted_as_a_whole(tmp_path):
    (tmp_path / "rules.txt").write_text("quality <- sex = Male, " + "x" * 700_000)
    done = called("predict", str(tmp_path / "rules.txt"), "magazines")
    assert (done.code, len(done.err) < 800) == (1, True)
    assert "line 1, column 24: there is no feature or label 'xxx" in done.err
    _, line, mark = done.err.splitlines()
    assert line[mark.index("^") :].startswith("xxx")
    (tmp_path / "rules.txt").write_text("quality <- " + "sex = Male, " * 60_000 + "age = 3")
    _, line, mark = called("predict", str(tmp_path / "rules.txt"), "magazines").err.splitlines()
    assert line[mark.index("^") :] == "age = 3"
    done = called("learn", "magazines", "--set", "required=[" + "x" * 700_000)
    assert (done.code, len(done.err) < 400) == (2, True)
