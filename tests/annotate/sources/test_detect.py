"""What a file is: encodings and formats that are recognised, and files that are refused at the door."""

import gzip
import io
import zipfile

import pytest

from annotate.sources.detect import Detected, detect
from annotate.sources.errors import SourceError

QUESTIONS = "id,question\n1,Où est né Molière ?\n2,L'été est-il une saison ?\n"
CHINESE = "编号,问题\n1,长城在哪个国家？\n2,水在零度结冰吗？\n"


def detected(data: bytes, name: str = "items.csv") -> Detected:
    return detect(io.BytesIO(data), name)


@pytest.mark.parametrize(
    ("text", "codec", "expected"),
    [
        (QUESTIONS, "utf-8", "utf-8"),
        (QUESTIONS, "utf-8-sig", "utf-8"),
        (QUESTIONS, "utf-16", "utf-16-le"),
        (QUESTIONS, "utf-16-le", "utf-16-le"),
        (QUESTIONS, "utf-16-be", "utf-16-be"),
        (QUESTIONS, "utf-32", "utf-32-le"),
        (QUESTIONS, "cp1252", "cp1252"),
        (QUESTIONS, "latin-1", "cp1252"),  # equal bytes for these letters; cp1252 is the larger of the two
        (CHINESE, "gb18030", "gb18030"),
        (CHINESE, "utf-8", "utf-8"),
        ("id,q\n1,plain\n", "ascii", "utf-8"),
        ("id,q\n1,“quoted” for 5 €\n", "cp1252", "cp1252"),
    ],
)
def test_encodings_are_recognised(text, codec, expected):
    assert detected(text.encode(codec)).encoding == expected


def test_a_byte_that_windows_1252_lacks_makes_it_latin_1_with_a_warning():
    found = detected(QUESTIONS.encode("latin-1") + b"3,a \x81 b\n")
    assert found.encoding == "latin-1"
    assert "guess" in found.encoding_note


def test_letters_late_in_a_long_file_still_decide_the_encoding():
    plain = "".join(f"{n},plain words\n" for n in range(40_000))
    assert detected(("id,q\n" + plain + "x,水是液体吗\n").encode("gb18030")).encoding == "gb18030"
    assert detected(("id,q\n" + plain + "x,café crème\n").encode("cp1252")).encoding == "cp1252"
    assert detected(("id,q\n" + plain + "x,café crème\n").encode()).encoding == "utf-8"


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ('{"id": 1}\n{"id": 2}\n', "items.jsonl", "jsonl"),
        ('{"id": 1}\n{"id": 2}\n', "items.json", "jsonl"),
        ('{"id": 1}\n{"id": 2}\n', "items.txt", "jsonl"),
        ('[{"id": 1}]', "items.json", "json"),
        ('[{"id": 1}]', "items.csv", "json"),
        ('[\n {"id": 1}\n]', "items", "json"),
        ('{"1": {"q": "a"}, "2": {"q": "b"}}', "items.json", "json"),
        ('{\n  "1": {"q": "a"}\n}', "items", "json"),
        ('{"id": 1, "q": broken}\n{"id": 2}\n', "items.jsonl", "jsonl"),
        ("id,q\n1,a\n", "items.csv", "csv"),
        ("id;q\n1;a\n", "items.csv", "csv"),
        ("id\tq\n1\ta\n", "items.tsv", "tsv"),
        ("id\tq\n1\ta\n", "items.csv", "tsv"),
        ("[note],q\n1,a\n", "items.csv", "csv"),
        ("id\tq\n1\ta\n", "items", "tsv"),
    ],
)
def test_formats_are_recognised_by_content_first_and_name_second(text, name, expected):
    assert detected(text.encode(), name).format == expected


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("id;q\n1;a, b, and c\n2;d, e\n", ";"),
        ("id,q\n1,a; b\n2,c; d\n", ","),
        ('id,q\n1,"a, b"\n2,"c\nd"\n', ","),
        ("id|q\n1|a, b\n2|c\n", "|"),
        ("question\nIs it so, then?\nNo?\n", ","),
    ],
)
def test_the_delimiter_is_the_one_that_makes_rows_equally_wide(text, delimiter):
    assert detected(text.encode()).delimiter == delimiter


def test_one_bad_row_does_not_change_the_delimiter():
    rows = "".join(f"{n},question {n}; or not\n" for n in range(50))
    assert detected(("id,q\n" + rows + "51,too,wide\n").encode()).delimiter == ","


@pytest.mark.parametrize(
    ("text", "has_header"),
    [
        ("id,question\n1,Is it?\n", True),
        (",question,label\n0,Is it?,yes\n", True),  # pandas leaves the name of its index empty
        ("1,Is it?\n2,Was it?\n", False),
        ("Is it?,yes\nWas it?,no\n", False),
    ],
)
def test_a_header_is_told_from_data(text, has_header):
    assert detected(text.encode()).has_header is has_header


def test_quotes_in_a_tsv_are_ordinary_when_they_do_not_pair():
    text = 'id\tq\n1\t"Life" is a film\n2\t6" is 15 cm\n3\t"So he said\n'
    found = detected(text.encode(), "items.tsv")
    assert (found.delimiter, found.quoting) == ("\t", False)


def test_backslashes_before_quotes_are_recognised_as_escapes():
    found = detected(b'"name","glyph"\n"quote","\\""\n"comma",","\n')
    assert found.backslash_escapes


@pytest.mark.parametrize(("text", "newline"), [("a,b\n1,2\n", "\n"), ("a,b\r\n1,2\r\n", "\r\n"), ("a,b\r1,2\r", "\r")])
def test_line_ends_are_recognised(text, newline):
    assert detected(text.encode()).newline == newline


def zipped(name: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(name, "id,q\n1,a\n")
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (zipped("items.csv"), "ZIP archive"),
        (zipped("[Content_Types].xml"), "Excel"),
        (gzip.compress(b"id,q\n1,a\n", mtime=0), "gzip"),
        (b"%PDF-1.7\n...", "PDF"),
        (b"PAR1\x00\x01", "Parquet"),
        (bytes(range(256)) * 4, "binary"),
        (b"\x7fELF\x02\x01\x01" + bytes(40), "binary"),
        (b"", "empty"),
        (b"\xef\xbb\xbf", "empty"),
        (b" \n\r\n\t\n", "empty"),
    ],
)
def test_what_is_no_text_is_refused_whatever_its_name(data, said):
    with pytest.raises(SourceError, match=said):
        detected(data, "items.csv")


def test_options_survive_storage_and_unknown_ones_are_refused():
    found = detected(b"id;q\r\n1;a\r\n")
    assert Detected.from_json(found.to_json()) == found
    for change in ({"delimiter": "xx"}, {"encoding": "rot13"}, {"format": "xml"}, {"newline": ""}):
        with pytest.raises(SourceError, match="is not one of"):
            Detected.from_json({**found.to_json(), **change})
