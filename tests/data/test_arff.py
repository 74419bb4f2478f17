"""ARFF text: what is read."""

import gzip

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import strategies
from arff_files import file, read
from labelrules.data import DataError, Dataset, Feature
from labelrules.data.files.arff.header import read_word, written

NAN = float("nan")


def dense(data: Dataset) -> list[list[float]]:
    return [data.column(index).tolist() for index in range(data.schema.n_features)]


# --- the header


def test_keywords_in_any_case_comments_blank_lines_and_indentation() -> None:
    data = read(
        "% a comment\n\n  @RELATION  r\n\t@Attribute\ta\tREAL % in metres\n"
        "@aTTRIBUTE b Integer\n  % another\n@attribute c NUMERIC\n@attribute l {0,1}%\n"
        "@DATA % here\n1,2,3,1\n"
    )
    assert data.schema.features == (Feature("a"), Feature("b"), Feature("c"))
    assert dense(data) == [[1], [2], [3]]
    assert data.Y.tolist() == [[1]]


@pytest.mark.parametrize(
    ("declared", "name"),
    [
        ("age", "age"),
        ("'age'", "age"),
        ('"age"', "age"),
        (r"'Stellar\'s Jay'", "Stellar's Jay"),
        ('"Stellar\'s Jay"', "Stellar's Jay"),
        (r'"say \"so\""', 'say "so"'),
        (r"'back\\slash'", r"back\slash"),
        (r"'100\%'", "100%"),
        (r"'tab\tnewline\nreturn\r'", "tab\tnewline\nreturn\r"),
        (r"'\u001E'", "\x1e"),
        ("'{a, b}'", "{a, b}"),
        # unquoted names mean themselves: these two are in delicious
        (r"TAG_dise\~no", r"TAG_dise\~no"),
        (r"TAG_m\'usica", r"TAG_m\'usica"),
        ("TAG_c#", "TAG_c#"),
        ("100%", "100%"),
        ("%", "%"),
        ("?", "?"),
        ("a,b", "a,b"),
        ("it's", "it's"),
        ("numeric", "numeric"),
        ("日本語", "日本語"),
    ],
)
def test_names(declared: str, name: str) -> None:
    content = f"@relation r\n@attribute {declared} numeric\n@attribute l {{0,1}}\n@data\n1,0\n"
    assert read(content).schema.feature_names == (name,)


@pytest.mark.parametrize(
    ("declared", "categories"),
    [
        ("{a,b}", ("a", "b")),
        ("{ a , b }", ("a", "b")),
        ("{'New York',\"b\"}", ("New York", "b")),
        (r"{'it\'s','}',','}", ("it's", "}", ",")),
        ("{'?',''}", ("?", "")),
        (r"{don't,a\b,50%}", ("don't", r"a\b", "50%")),
        ("{1.0,1,01}", ("1.0", "1", "01")),
        ("{}", ()),
    ],
)
def test_categories(declared: str, categories: tuple[str, ...]) -> None:
    assert read(file(a=declared)).schema.features == (Feature("a", categories),)


def test_a_brace_may_follow_a_name_at_once() -> None:
    content = "@relation r\n@attribute a{x,y}\n@attribute 'l'{0,1}\n@data\ny,1\n"
    assert read(content).schema.features == (Feature("a", ("x", "y")),)


def test_without_a_relation_and_without_rows() -> None:
    data = read("@attribute a numeric\n@attribute l {0,1}\n@data")
    assert (data.n_rows, data.schema.n_features, data.is_sparse) == (0, 1, False)


# --- the text


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", ["", "\n", "\n\n"])
def test_line_ends(end: str, last: str) -> None:
    content = (file("1,0", "2,1").rstrip("\n") + last).replace("\n", end)
    assert dense(read(content)) == [[1, 2]]


@pytest.mark.parametrize("encoding", ["utf-8", "UTF8", "utf-8-sig", "utf-16", "latin-1", "cp1252"])
def test_encodings(encoding: str) -> None:
    content = file("é,0", "ü,1", a="{é,ü}").encode(encoding)
    data = read(content, encoding=encoding)
    assert data.schema.features == (Feature("a", ("é", "ü")),)
    assert dense(data) == [[0, 1]]


def test_a_byte_order_mark_is_no_text() -> None:
    assert dense(read(b"\xef\xbb\xbf" + file("1,0").encode())) == [[1]]


def test_gzip_by_name() -> None:
    assert dense(read(gzip.compress(file("1,0").encode()), name="t.arff.GZ")) == [[1]]


def test_gzip_of_several_members() -> None:
    parts = file("1,0", "2,1").encode().partition(b"@data")
    content = gzip.compress(parts[0]) + gzip.compress(parts[1] + parts[2])
    assert dense(read(content, name="t.gz")) == [[1, 2]]


# --- rows


@pytest.mark.parametrize(
    ("word", "number"),
    [
        ("1", 1),
        ("-1.5", -1.5),
        ("+2", 2),
        ("1e3", 1000),
        ("1E-3", 0.001),
        (".5", 0.5),
        ("5.", 5),
        ("007", 7),
        ("'3'", 3),
        ("5e-324", 5e-324),
        ("1.7976931348623157e308", 1.7976931348623157e308),
        ("0.1000000000000000055511151231257827", 0.1),
        ("1e-999", 0),
        ("?", NAN),
    ],
)
def test_numbers(word: str, number: float) -> None:
    for content in (file(f"{word},1"), file(f"{{0 {word},1 1}}")):
        assert np.array_equal(read(content).column("a"), [number], equal_nan=True)


def test_a_quoted_question_mark_is_a_category_and_an_unquoted_one_is_missing() -> None:
    data = read(file("'?',0", "?,0", "'',0", "x,0", a="{x,'?',''}"))
    assert np.array_equal(data.column("a"), [1, NAN, 2, 0], equal_nan=True)


def test_what_a_sparse_row_does_not_list_is_zero_or_the_first_category() -> None:
    content = (
        "@relation r\n@attribute n numeric\n@attribute c {red,blue}\n@attribute l {0,1}\n"
        "@attribute m {1,0}\n@data\n{}\n{ 0 2.5 , 1 blue,2 1, 3 0}\n{3 1}\n"
    )
    data = read(content, ("l", "m"))
    assert data.is_sparse
    assert dense(data) == [[0, 2.5, 0], [0, 1, 0]]
    assert data.Y.tolist() == [[0, 1], [1, 0], [0, 1]]
    assert data.X.nnz == 2


def test_sparse_entries_in_any_order_and_stored_zeros() -> None:
    data = read(file("{1 1,0 3}", "{0 0}", "{0 -0}"))
    assert dense(data) == [[3, 0, 0]]
    assert data.Y.tolist() == [[1], [0], [0]]
    assert data.X.nnz == 1


def test_dense_and_sparse_rows_in_one_file_make_sparse_data() -> None:
    data = read(file("4,1", "{0 5}", "0,1"))
    assert data.is_sparse
    assert dense(data) == [[4, 5, 0]]
    assert data.Y.tolist() == [[1], [0], [1]]


def test_comments_between_and_after_rows() -> None:
    data = read(file("% 9,1", "", "1,0 % one", " 2 , 1 ", "  ", "\t3,0", "x% y".replace("x", "")))
    assert dense(data) == [[1, 2, 3]]


@pytest.mark.parametrize(
    ("declared", "words", "expected"),
    [
        ("{0,1}", ["0", "1"], [0, 1]),
        ("{1,0}", ["0", "1"], [0, 1]),
        ("{'0','1'}", ["'0'", "1"], [0, 1]),
        ("{false,true}", ["false", "true"], [0, 1]),
        ("{TRUE,False}", ["False", "TRUE"], [0, 1]),
        ("numeric", ["0", "1", "1.0", "0e5"], [0, 1, 1, 0]),
    ],
)
def test_labels(declared: str, words: list[str], expected: list[int]) -> None:
    content = file(*[f"0,{word}" for word in words], l=declared)
    assert read(content).Y.ravel().tolist() == expected
    sparse_content = file(*[f"{{1 {word}}}" for word in words], l=declared)
    assert read(sparse_content).Y.ravel().tolist() == expected


def test_labels_anywhere_keep_the_order_of_their_columns() -> None:
    content = (
        "@relation r\n@attribute z {0,1}\n@attribute a numeric\n@attribute y {0,1}\n"
        "@attribute b numeric\n@attribute x {0,1}\n@data\n1,5,0,6,1\n"
    )
    data = read(content, ("x", "y", "z"))
    assert data.schema.labels == ("z", "y", "x")
    assert data.schema.feature_names == ("a", "b")
    assert data.Y.tolist() == [[1, 0, 1]]
    assert dense(data) == [[5], [6]]


def test_ignored_attributes_are_not_read() -> None:
    content = (
        "@relation r\n@attribute id string\n@attribute when date 'yyyy-MM-dd'\n"
        "@attribute n numeric\n@attribute a numeric\n@attribute l {0,1}\n@data\n"
        '\'a, "b"\',"2001-04-03",wrong,1,0\nx,?,?,2,1\n'
    )
    data = read(content, ignore=["id", "when", "n"])
    assert data.schema.feature_names == ("a",)
    assert dense(data) == [[1, 2]]
    sparse_content = content.partition("@data")[0] + "@data\n{0 'a b',2 wrong,3 7}\n"
    assert dense(read(sparse_content, ignore=["id", "when", "n"])) == [[7]]


def test_a_feature_without_categories_is_always_missing() -> None:
    assert np.isnan(read(file("?,0", a="{}")).column("a")).all()
    assert np.isnan(read(file("{0 ?}", "{1 1,0 ?}", a="{}")).column("a")).all()


def test_loaded_arrays_are_compact_and_frozen() -> None:
    data = read(file("{0 3}", "{1 1}"))
    arrays = [data.X.data, data.X.indices, data.X.indptr, data.Y]
    assert [array.dtype.name for array in arrays] == ["float64", "int32", "int32", "int8"]
    assert not any(array.flags.writeable for array in arrays)
    table = read(file("3,0"))
    assert table.X.flags.f_contiguous
    assert not table.X.flags.writeable


# --- words


@given(strategies.texts())
def test_a_written_text_reads_back(text: str) -> None:
    assert read_word(f" {written(text)} ,", 0) == (text, len(written(text)) + 2)


# --- blocks and encodings


@given(st.data())
def test_rows_that_cross_blocks(data: st.DataObject) -> None:
    """Lines longer than a block, blocks that end anywhere, with every line end."""
    rows = data.draw(st.lists(st.integers(-999, 999), max_size=9))
    end = data.draw(st.sampled_from(["\n", "\r\n"]))
    content = file(*[f"{row},1" for row in rows]).replace("\n", end)
    found = read(content, block_size=data.draw(st.integers(1, 40)))
    assert found.column("a").tolist() == rows


def test_an_unknown_encoding_is_refused() -> None:
    for encoding in ("utf-99", "base64", "\0", 5):
        with pytest.raises(DataError, match="is no text encoding; use for instance"):
            read(file("1,0"), encoding=encoding)  # type: ignore[arg-type]
