"""What is said of Mulan and MEKA files that are not as they should be.

Each case of the table: a name, how to make and read the input in an empty folder, and
the message, as a pattern that it matches from the file's name to the end.
"""

import gzip
import zlib
from collections.abc import Callable
from pathlib import Path

from labelrules.data import read_meka, read_mulan

HEAD = "@relation r\n@attribute a numeric\n@attribute c {red,blue}\n@attribute l {0,1}\n@data\n"
GOOD = HEAD + "1,red,0\n2,blue,1\n"
XML = '<labels>\n<label name="l"></label>\n</labels>\n'

Attempt = Callable[[Path], object]


def mulan(arff: str | bytes = GOOD, xml: str | bytes | None = XML, **options: object) -> Attempt:
    """Read t.arff, or what `named` says, with t.xml beside it."""
    named = str(options.pop("named", "t.arff"))

    def attempt(folder: Path) -> object:
        (folder / named).write_bytes(arff.encode() if isinstance(arff, str) else arff)
        if xml is not None:
            (folder / "t.xml").write_bytes(xml.encode() if isinstance(xml, str) else xml)
        return read_mulan(folder / named, **options)  # type: ignore[arg-type]

    return attempt


def rows(*lines: str) -> Attempt:
    """Read these rows, which begin on line 6."""
    return mulan(HEAD + "\n".join(lines) + "\n")


def header(line: str, **options: object) -> Attempt:
    """Read a file whose second line is the given one."""
    return mulan(f"@relation r\n{line}\n@attribute l {{0,1}}\n@data\n", **options)


def meka(relation: str) -> Attempt:
    """Read a MEKA file with this name of the relation."""

    def attempt(folder: Path) -> object:
        (folder / "t.arff").write_text(GOOD.replace("@relation r\n", relation))
        return read_meka(folder / "t.arff")

    return attempt


def two(first: str, second: str, read: Callable[..., object] = read_mulan) -> Attempt:
    """Join two files."""

    def attempt(folder: Path) -> object:
        (folder / "t-train.arff").write_text(first)
        (folder / "t-test.arff").write_text(second)
        (folder / "t.xml").write_text(XML)
        return read([folder / "t-train.arff", folder / "t-test.arff"])

    return attempt


def folder_instead(folder: Path) -> object:
    (folder / "t.arff").mkdir()
    return read_mulan(folder / "t.arff")


PACKED = gzip.compress(GOOD.encode() * 1000)
MANY = HEAD + "".join(f"{number},red,0\n" for number in range(5000))
LONG = gzip.compress(MANY.encode())
CUT = len(LONG) // 2
CUT_LINE = zlib.decompressobj(wbits=31).decompress(LONG[:CUT]).count(b"\n") + 1

FILES: dict[str, tuple[Attempt, str]] = {
    # --- files that cannot be read at all
    "no file": (
        lambda f: read_mulan(f / "t.arff"),
        r"t\.arff: there is no such file or folder",
    ),
    "no file, sequence": (
        lambda f: read_mulan([f / "t.arff", f / "u.arff"]),
        r"t\.arff: there is no such file or folder",
    ),
    "a folder": (folder_instead, r"t\.arff: this is a folder, or its folder is a file"),
    "empty": (mulan(""), r"t\.arff: the file is empty"),
    "blank": (mulan("\n% nothing\n\n"), r"t\.arff: the file is empty"),
    "gzip truncated": (
        mulan(LONG[:CUT], named="t.arff.gz"),
        rf"t\.arff\.gz, line {CUT_LINE}: the compressed file ends early: get it again",
    ),
    "gzip truncated, another encoding": (
        mulan(gzip.compress(GOOD.encode("utf-16"))[:-12], named="t.arff.gz", encoding="utf-16"),
        r"t\.arff\.gz: the compressed file ends early: get it again",
    ),
    "gzip without its sum": (
        mulan(gzip.compress(GOOD.replace("\n", "\r\n").encode())[:-8], named="t.arff.gz"),
        r"t\.arff\.gz, line 7: the compressed file ends early: get it again",
    ),
    "gzip followed by something": (
        mulan(gzip.compress(GOOD.encode()) + b"more", named="t.arff.gz"),
        r"t\.arff\.gz: the compressed file is damaged \(Not a gzipped file \(b'mo'\)\): "
        r"get it again",
    ),
    "gzip truncated in its first bytes": (
        mulan(PACKED[:5], named="t.arff.gz"),
        r"t\.arff\.gz: the compressed file ends early: get it again",
    ),
    "gzip damaged": (
        mulan(PACKED[:60] + b"\xff" * 9 + PACKED[69:], named="t.arff.gz"),
        r"t\.arff\.gz(, line \d+)?: the compressed file is damaged \(.*\): get it again",
    ),
    "gzip with a wrong sum": (
        mulan(PACKED[:-8] + bytes(4) + PACKED[-4:], named="t.arff.gz"),
        r"t\.arff\.gz: the compressed file is damaged \(CRC check failed .*\): get it again",
    ),
    "not gzip": (
        mulan(GOOD, named="t.arff.gz"),
        r"t\.arff\.gz: this is not a gzip file \(Not a gzipped file \(b'@r'\)\)",
    ),
    "gzip by content only": (
        mulan(PACKED),
        r"t\.arff: the file is gzip-compressed: its name must end in \.gz",
    ),
    "not UTF-8 in the header": (
        mulan(GOOD.replace("a numeric", "é numeric").encode("latin-1")),
        r't\.arff, line 2: this is not utf-8 text \(.*\): pass its encoding, such as encoding="latin-1"',
    ),
    "not UTF-8 in a row": (
        mulan(HEAD.encode() + b"1,red,0\n2,bl\xfce,1\n"),
        r"t\.arff, line 7: this is not utf-8 text \(.*\): pass its encoding, .*",
    ),
    "not the encoding given": (
        mulan(HEAD.encode() + b"1,red,0\n2,bl\xfce,1\n", encoding="ascii"),
        r"t\.arff, line 7: this is not ascii text \(.*\): pass its encoding, .*",
    ),
    "cut in the middle of a character": (
        mulan(GOOD.encode("utf-16")[:-1], encoding="utf-16"),
        r"t\.arff, line 7: this is not utf-16 text \(truncated data\): pass its encoding, .*",
    ),
    # --- the header
    "no @data": (
        mulan(HEAD.replace("@data\n", "")),
        r"t\.arff: there is no @data line, so no rows",
    ),
    "no attributes": (
        mulan("@relation r\n@data\n"),
        r"t\.arff: no @attribute is declared before @data",
    ),
    "no ARFF": (
        mulan("a,b,l\n1,2,0\n"),
        r"t\.arff, line 1: expected @relation, @attribute or @data, found 'a,b,l'",
    ),
    "unknown keyword": (
        header("@atribute a numeric"),
        r"t\.arff, line 2: expected @relation, @attribute or @data, found '@atribute a numeric'",
    ),
    "text after @data": (
        mulan(HEAD.replace("@data", "@data 1,red,0")),
        r"t\.arff, line 5: rows begin on the line after @data, but '1,red,0' follows it",
    ),
    "two relations": (
        header("@relation s"),
        r"t\.arff, line 2: @relation was already given in line 1",
    ),
    "text after the relation": (
        mulan(GOOD.replace("@relation r", "@relation 'r' s")),
        r"t\.arff, line 1: unexpected text 's' after the name of the relation",
    ),
    "attribute twice": (
        mulan(GOOD.replace("@attribute c", "@attribute a")),
        r"t\.arff, line 3: attribute 'a' was already declared in line 2: rename one of them",
    ),
    "attribute without a name": (
        header("@attribute"),
        r"t\.arff, line 2: an attribute has no name",
    ),
    "attribute with braces only": (
        header("@attribute {0,1}"),
        r"t\.arff, line 2: an attribute has no name",
    ),
    "attribute with an empty name": (
        header("@attribute '' numeric"),
        r"t\.arff, line 2: an attribute has an empty name: give it one",
    ),
    "attribute without a type": (
        header("@attribute a"),
        r"t\.arff, line 2: attribute 'a': the type is missing; declare it numeric or "
        r"\{its, categories\}",
    ),
    "unknown type": (
        header("@attribute a number"),
        r"t\.arff, line 2: attribute 'a': unknown type 'number'; declare it numeric or .*",
    ),
    "name with a blank": (
        header("@attribute my age numeric"),
        r"t\.arff, line 2: attribute 'my': unknown type 'age'; declare it numeric or .*",
    ),
    "text after the type": (
        header("@attribute a numeric [0,1]"),
        r"t\.arff, line 2: attribute 'a': unexpected text '\[0,1\]' after the type",
    ),
    "text after the categories": (
        header("@attribute a {x,y} z"),
        r"t\.arff, line 2: attribute 'a': unexpected text ' z' after the closing brace",
    ),
    "quote not closed in a name": (
        header("@attribute 'a numeric"),
        r"""t\.arff, line 2: the quote opened at "'a numeric" is not closed""",
    ),
    "quote not closed in a category": (
        header("@attribute a {'x,y}"),
        r"""t\.arff, line 2: attribute 'a': the quote opened at "'x,y}" is not closed""",
    ),
    "brace not closed": (
        header("@attribute a {x,y"),
        r"t\.arff, line 2: attribute 'a': the brace opened for the categories is not closed",
    ),
    "brace only": (
        header("@attribute a {"),
        r"t\.arff, line 2: attribute 'a': the brace opened for the categories is not closed",
    ),
    "brace in braces": (
        header("@attribute a {x,{y}}"),
        r"t\.arff, line 2: attribute 'a': unexpected brace at '\{y\}\}'; a value with braces must "
        r"be quoted",
    ),
    "category twice": (
        header("@attribute a {x,y,'x'}"),
        r"t\.arff, line 2: attribute 'a': the category 'x' is declared twice",
    ),
    "empty category": (
        header("@attribute a {x,,y}"),
        r"t\.arff, line 2: attribute 'a': a value is empty; a missing value is written \?, "
        r"an empty text ''",
    ),
    "category with a blank": (
        header("@attribute a {New York,Boston}"),
        r"t\.arff, line 2: attribute 'a': a comma or a closing brace is missing before "
        r"'York,Boston\}'; a category with blanks or braces must be quoted",
    ),
    "missing value as category": (
        header("@attribute a {x,?}"),
        r"t\.arff, line 2: attribute 'a': a category \? must be quoted: '\?'",
    ),
    "unknown escape": (
        header(r"@attribute 'C:\data' numeric"),
        r"t\.arff, line 2: the escape \\d has no meaning; a backslash is written \\\\",
    ),
    "escape of half a character": (
        header(r"@attribute '\ud800' numeric"),
        r"t\.arff, line 2: the escape \\ud800 has no meaning; .*",
    ),
    "string attribute": (
        header("@attribute title string"),
        r"t\.arff, line 2: attribute 'title' is of type string, which rules cannot use: "
        r"leave it out with ignore=\['title'\]",
    ),
    "date attribute": (
        header("@attribute day DATE 'yyyy-MM-dd'"),
        r"t\.arff, line 2: attribute 'day' is of type date, .*ignore=\['day'\]",
    ),
    "relational attribute": (
        header("@attribute bag relational"),
        r"t\.arff, line 2: attribute 'bag': a relational type, a table within a table, "
        r"cannot be read",
    ),
    "nothing to ignore": (
        mulan(ignore=["aa"]),
        r"t\.arff: there is no attribute 'aa' to ignore; did you mean 'a'\?",
    ),
    "ignored label": (
        mulan(ignore=["l"]),
        r"t\.arff: 'l' is a label and cannot be ignored",
    ),
    # --- labels
    "label with three categories": (
        mulan(GOOD.replace("{0,1}", "{0,1,2}")),
        r"t\.arff, line 4: label 'l' is declared '\{0, 1, 2\}'; a label is \{0,1\}, "
        r"\{false,true\} or numeric with the values 0 and 1",
    ),
    "label with other categories": (
        mulan(GOOD.replace("{0,1}", "{no,yes}")),
        r"t\.arff, line 4: label 'l' is declared '\{no, yes\}'; .*",
    ),
    "label with one category": (
        mulan(GOOD.replace("{0,1}", "{0}")),
        r"t\.arff, line 4: label 'l' is declared '\{0\}'; .*",
    ),
    "label as string": (
        mulan(GOOD.replace("{0,1}", "string")),
        r"t\.arff, line 4: label 'l' is declared string; .*",
    ),
    "missing label": (
        rows("1,red,?"),
        r"t\.arff, line 6: label 'l' is missing; a label must be known",
    ),
    "missing label, sparse": (
        rows("{2 ?}"),
        r"t\.arff, line 6: label 'l' is missing; a label must be known",
    ),
    "undeclared label value": (
        rows("1,red,2"),
        r"t\.arff, line 6: attribute 'l' has the undeclared value '2'; declared are '0', '1'",
    ),
    "numeric label between 0 and 1": (
        mulan(GOOD.replace("{0,1}", "numeric") + "3,red,0.5\n"),
        r"t\.arff, line 8: label 'l' has the value 0\.5; a label is 0 or 1",
    ),
    # --- rows
    "too few values": (
        rows("1,red,0", "1,red"),
        r"t\.arff, line 7: the row has 2 values but 3 attributes are declared",
    ),
    "too many values": (
        rows("1,red,0,1"),
        r"t\.arff, line 6: the row has 4 values but 3 attributes are declared",
    ),
    "comma at the end": (
        rows("1,red,0,"),
        r"t\.arff, line 6: a value is empty; a missing value is written \?, an empty text ''",
    ),
    "empty value": (rows("1,,0"), r"t\.arff, line 6: a value is empty; .*"),
    "value with a blank": (
        rows("1,light blue,0"),
        r"t\.arff, line 6: a comma is missing before 'blue,0'; a value with blanks must be quoted",
    ),
    "text after a quoted value": (
        rows("1,'red'x,0"),
        r"t\.arff, line 6: a comma is missing before 'x,0'; .*",
    ),
    "undeclared value": (
        rows("1,rde,0"),
        r"t\.arff, line 6: attribute 'c' has the undeclared value 'rde'; "
        r"declared are 'red', 'blue'; did you mean 'red'\?",
    ),
    "undeclared value of many": (
        mulan(HEAD.replace("{red,blue}", "{a,b,c,d,e,f,g}") + "1,x,0\n"),
        r"t\.arff, line 6: attribute 'c' has the undeclared value 'x'; "
        r"declared are 'a', 'b', 'c', 'd', 'e' and 2 more",
    ),
    "undeclared value of none": (
        mulan(HEAD.replace("{red,blue}", "{}") + "1,x,0\n"),
        r"t\.arff, line 6: attribute 'c' has the undeclared value 'x'; declared is none",
    ),
    "value in another case": (
        rows("1,Red,0"),
        r"t\.arff, line 6: attribute 'c' has the undeclared value 'Red'; .*",
    ),
    "no number": (
        rows("x,red,0"),
        r"t\.arff, line 6: attribute 'a' is numeric but has the value 'x'; "
        r"a missing value is written \?",
    ),
    "number with an underscore": (
        rows("1_000,red,0"),
        r"t\.arff, line 6: attribute 'a' is numeric but has the value '1_000'; .*",
    ),
    "number in other digits": (
        rows("\u0663,red,0"),
        r"t\.arff, line 6: attribute 'a' is numeric but has the value '\u0663'; .*",
    ),
    "NaN": (rows("NaN,red,0"), r"t\.arff, line 6: attribute 'a' is numeric but .* 'NaN'; .*"),
    "Infinity": (rows("inf,red,0"), r"t\.arff, line 6: attribute 'a' is numeric but .* 'inf'; .*"),
    "number too large": (
        rows("1,red,0", "-1e999,red,0"),
        r"t\.arff, line 7: attribute 'a' has the infinite value '-1e999'",
    ),
    "quote not closed in a row": (
        rows("1,'red,0"),
        r"""t\.arff, line 6: the quote opened at "'red,0" is not closed""",
    ),
    "brace in a row": (
        rows("1,re{d,0"),
        r"t\.arff, line 6: a comma is missing before '\{d,0'; a value with blanks must be quoted",
    ),
    "weight": (
        rows("1,red,0, {5}"),
        r"t\.arff, line 6: instance weights cannot be read: remove the \{\.\.\.\} after the row",
    ),
    "weight, sparse": (
        rows("{0 1}, {5}"),
        r"t\.arff, line 6: instance weights cannot be read: remove the \{\.\.\.\} after the row",
    ),
    "second @data": (
        rows("@data"),
        r"t\.arff, line 6: this is the second @data line",
    ),
    "attribute after @data": (
        rows("1,red,0", "@attribute z numeric"),
        r"t\.arff, line 7: @attribute after @data, where only rows are allowed",
    ),
    "category like a keyword": (
        mulan(HEAD.replace("a numeric", "a {@data}") + "@data,red,0\n@datum,red,0\n"),
        r"t\.arff, line 7: attribute 'a' has the undeclared value '@datum'; .*",
    ),
    # --- sparse rows
    "index twice": (
        rows("{0 1,2 1,0 1}"),
        r"t\.arff, line 6: the row lists attribute 0 \('a'\) twice",
    ),
    "index too large": (
        rows("{}", "{3 1}"),
        r"t\.arff, line 7: there is no attribute 3: they are numbered 0 to 2",
    ),
    "index negative": (
        rows("{-1 1}"),
        r"t\.arff, line 6: there is no attribute -1: they are numbered 0 to 2",
    ),
    "index huge": (
        rows("{99999999999999999999 1}"),
        r"t\.arff, line 6: there is no attribute 9{20}: they are numbered 0 to 2",
    ),
    "index no number": (rows("{a 1}"), r"t\.arff, line 6: 'a' is no index of an attribute"),
    "index missing": (rows("{? 1}"), r"t\.arff, line 6: '\?' is no index of an attribute"),
    "index without a value": (
        rows("{0 1,2}"),
        r"t\.arff, line 6: attribute 2 is listed without a value",
    ),
    "index and value in one": (
        rows("{'0'1}"),
        r"t\.arff, line 6: a blank is missing between an index and its value at '1\}'",
    ),
    "value missing in the only entry": (
        rows("{0}"),
        r"t\.arff, line 6: attribute 0 is listed without a value",
    ),
    "value missing after an empty row": (
        rows("{}", "{0}"),
        r"t\.arff, line 7: attribute 0 is listed without a value",
    ),
    "comma at the end, sparse": (rows("{0 1,}"), r"t\.arff, line 6: a value is empty; .*"),
    "comma missing, sparse": (
        rows("{0 1 2 1}"),
        r"t\.arff, line 6: a comma is missing before '2 1\}'; .*",
    ),
    "row not closed": (
        rows("{0 1,2 1"),
        r"t\.arff, line 6: the brace that opens the row is not closed",
    ),
    "row not closed and empty": (
        rows("{ % nothing"),
        r"t\.arff, line 6: the brace that opens the row is not closed",
    ),
    "text after a sparse row": (
        rows("{0 1} 5"),
        r"t\.arff, line 6: unexpected text ' 5' after the brace that closes the row",
    ),
    "undeclared value, sparse": (
        rows("{1 green}"),
        r"t\.arff, line 6: attribute 'c' has the undeclared value 'green'; .*",
    ),
    "no first category": (
        mulan(HEAD.replace("{red,blue}", "{}") + "{0 1}\n"),
        r"t\.arff, line 6: attribute 'c' declares no category, so a sparse row must list it "
        r"with \?",
    ),
    # --- whole numbers that would be rounded
    "rounded": (
        rows("1,red,0", "9007199254740993,red,0"),
        r"t\.arff, line 7: attribute 'a' has the whole number 9007199254740993, which a float64 "
        r"cannot hold exactly: declare its \{categories\}, scale it, or leave it out "
        r"\(ignore=\['a'\]\)",
    ),
    "rounded, quoted": (
        rows("'9007199254740993',red,0"),
        r"t\.arff, line 6: attribute 'a' has the whole number 9007199254740993, which .*",
    ),
    "rounded, sparse": (
        rows("{0 1}", "{0 -9007199254740993,2 1}"),
        r"t\.arff, line 7: attribute 'a' has the whole number -9007199254740993, which .*",
    ),
    # --- several files
    "attribute renamed": (
        two(GOOD, GOOD.replace("attribute c", "attribute d")),
        r"t-test\.arff, line 3: attribute 'c', here 'd', is declared differently in "
        r"t-train\.arff, line 3; files are joined only if their attributes are the same",
    ),
    "categories in another order": (
        two(GOOD, GOOD.replace("red,blue}", "blue,red}")),
        r"t-test\.arff, line 3: attribute 'c' is declared differently in t-train\.arff, line 3; .*",
    ),
    "attribute missing": (
        two(GOOD.replace("@data", "@attribute z numeric\n@data").partition("1,red")[0], GOOD),
        r"t-test\.arff: 3 attributes are declared here but 4 in t-train\.arff; .*",
    ),
    "error in the second file": (
        two(GOOD, GOOD + "x,red,0"),
        r"t-test\.arff, line 8: attribute 'a' is numeric but has the value 'x'; .*",
    ),
    "other labels in the second file": (
        two(
            GOOD.replace(" r", " 'r: -C -1'"),
            GOOD.replace(" r", " 'r: -C -2'"),
            read_meka,
        ),
        r"t-test\.arff, line 1: other attributes are labels here than in t-train\.arff",
    ),
    # --- the XML file
    "no XML": (
        mulan(xml=None),
        r"t\.arff: no XML file names its labels: looked for t\.xml; pass xml=, or use read_meka "
        r"if the relation name has -C",
    ),
    "no XML for a part": (
        mulan(xml=None, named="u-train.arff.gz", arff=gzip.compress(GOOD.encode())),
        r"u-train\.arff\.gz: no XML file names its labels: looked for u-train\.xml and u\.xml; .*",
    ),
    "XML given but missing": (
        lambda f: mulan()(f) and read_mulan(f / "t.arff", f / "elsewhere.xml"),
        r"elsewhere\.xml: there is no such file or folder",
    ),
    "XML malformed": (
        mulan(xml=XML.replace("</label>", "")),
        r"t\.xml, line 3: this is not valid XML: mismatched tag",
    ),
    "XML empty": (mulan(xml=""), r"t\.xml, line 1: this is not valid XML: no element found"),
    "XML is none": (
        mulan(xml="l\n"),
        r"t\.xml, line 1: this is not valid XML: syntax error",
    ),
    "XML cut": (mulan(xml=XML[:30]), r"t\.xml, line 2: this is not valid XML: unclosed token"),
    "XML with an undefined entity": (
        mulan(xml='<labels><label name="&l;"/></labels>'),
        r"t\.xml, line 1: this is not valid XML: undefined entity",
    ),
    "XML with a document type": (
        mulan(xml='<!DOCTYPE labels [<!ENTITY l "l">]>\n<labels><label name="&l;"/></labels>'),
        r"t\.xml, line 1: a document type \(DOCTYPE\) is not accepted: remove it",
    ),
    "XML in an unknown encoding": (
        mulan(xml=f'<?xml version="1.0" encoding="utf-99"?>{XML}'),
        r"t\.xml(, line 1)?: .*encoding.*",
    ),
    "XML not in its encoding": (
        mulan(xml=b'<labels><label name="\xe9"/></labels>'),
        r"t\.xml, line 1: this is not valid XML: not well-formed \(invalid token\)",
    ),
    "XML without labels": (mulan(xml="<labels/>"), r"t\.xml: the file names no label"),
    "XML of something else": (
        mulan(xml="<html><body/></html>"),
        r"t\.xml, line 1: unexpected element <html>; labels are listed as "
        r"<labels><label name=\.\.\./>",
    ),
    "XML with other elements": (
        mulan(xml='<labels>\n<lable name="l"/></labels>'),
        r"t\.xml, line 2: unexpected element <lable>; .*",
    ),
    "XML label without a name": (
        mulan(xml="<labels><label>l</label></labels>"),
        r"t\.xml, line 1: a <label> has no name",
    ),
    "XML label twice": (
        mulan(xml=XML.replace("</labels>", '<label name="l"/></labels>')),
        r"t\.xml, line 3: label 'l' was already named in line 2",
    ),
    "XML label that the ARFF lacks": (
        mulan(GOOD.replace("attribute l", "attribute label"), xml=XML.replace('"l"', '"lable"')),
        r"t\.xml, line 2: label 'lable' is not an attribute of t\.arff; did you mean 'label'\?",
    ),
    # --- MEKA
    "MEKA without a relation": (
        meka(""),
        r"t\.arff: the relation name '' has no -C option that counts the labels; with an XML file "
        r"use read_mulan",
    ),
    "MEKA without -C": (
        meka("@relation 'r: -T 5'\n"),
        r"t\.arff, line 1: the relation name 'r: -T 5' has no -C option .*",
    ),
    "MEKA with -C in a word": (
        meka("@relation 'r-C 1'\n"),
        r"t\.arff, line 1: the relation name 'r-C 1' has no -C option .*",
    ),
    "MEKA with -C 0": (
        meka("@relation 'r: -C 0'\n"),
        r"t\.arff, line 1: the relation name 'r: -C 0' has -C 0; it must be the number of labels, "
        r"negative if they come last",
    ),
    "MEKA with -C x": (
        meka("@relation 'r: -C x'\n"),
        r"t\.arff, line 1: the relation name 'r: -C x' has -C x; it must be the number .*",
    ),
    "MEKA with too many labels": (
        meka("@relation 'r: -C -4'\n"),
        r"t\.arff, line 1: the relation name 'r: -C -4' has -C -4 but only 3 attributes are "
        r"declared",
    ),
    "MEKA with two counts": (
        meka("@relation 'r: -C 1 -C 2'\n"),
        r"t\.arff, line 1: the relation name 'r: -C 1 -C 2' has several -C options: 1, 2",
    ),
    "MEKA label that is a feature": (
        meka("@relation 'r: -C -2'\n"),
        r"t\.arff, line 3: label 'c' is declared '\{red, blue\}'; .*",
    ),
}


OPTIONS: dict[str, tuple[Attempt, str]] = {
    "no path": (lambda f: read_mulan(None), "arff must be a path or a list of paths, not None"),  # type: ignore[arg-type]
    "a number": (lambda f: read_mulan([5]), r"arff must be a path or a list of paths, not \[5\]"),  # type: ignore[list-item]
    "no files": (lambda f: read_meka([]), "arff is an empty list: give the path of a file"),
    "ignore as text": (
        mulan(ignore="a"),
        r"ignore must be a list of names: ignore=\['a'\]",
    ),
    "unknown encoding": (
        mulan(encoding="utf-99"),
        'encoding=\'utf-99\' is no text encoding; use for instance "utf-8" or "latin-1"',
    ),
}
