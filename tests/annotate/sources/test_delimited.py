"""CSV and TSV as spreadsheets and scripts write them."""

import csv
import io

import pytest

from annotate.sources.records import Limits

from .files import read, refusal, values


def csv_bytes(*rows: list[str]) -> bytes:
    buffer = io.StringIO(newline="")
    csv.writer(buffer).writerows(rows)
    return buffer.getvalue().encode()


def test_every_value_is_text_and_ids_stay_as_they_are():
    data = b"id,n,empty\n007,1234567890123456789,\n1.0,1e5,NaN\n"
    assert values(data, "x.csv", has_header=True) == [
        {"id": "007", "n": "1234567890123456789", "empty": ""},
        {"id": "1.0", "n": "1e5", "empty": "NaN"},
    ]


def test_a_byte_order_mark_is_no_part_of_the_first_column():
    for codec in ("utf-8-sig", "utf-16", "utf-32"):
        assert list(values("id,q\n1,a\n".encode(codec), "x.csv")[0]) == ["id", "q"]


def test_quoted_line_ends_quotes_and_delimiters_are_text():
    text = 'say "hi",\nthen\r\ngo\r'
    assert values(csv_bytes(["id", "q"], ["1", text]), "x.csv") == [{"id": "1", "q": text}]


def test_records_know_the_line_where_they_begin():
    data = b'id,q\n\n1,"a\nb"\n,\n2,c\n'
    assert [(r.number, r.line) for r in read(data, "x.csv")] == [(1, 3), (2, 6)]


def test_line_separators_of_unicode_are_text():
    assert values("id,q\n1,a\u2028b\u0085c\n".encode(), "x.csv") == [{"id": "1", "q": "a\u2028b\u0085c"}]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_all_line_ends_are_read(newline):
    assert values(newline.join(["id,q", "1,a", "2,b", ""]).encode(), "x.csv") == [
        {"id": "1", "q": "a"},
        {"id": "2", "q": "b"},
    ]


def test_an_item_of_one_megabyte_is_read():
    text = "ä" * 500_000
    assert values(csv_bytes(["id", "q"], ["1", text]), "x.csv") == [{"id": "1", "q": text}]


def test_an_item_above_the_limit_is_refused_with_its_line():
    data = csv_bytes(["id", "q"], ["1", "a"], ["2", "x" * 2_000_001])
    error = refusal(data, "x.csv")
    assert error.line == 3
    assert "more than 2,000,000 bytes" in error.message
    together = csv_bytes(["id", "q", "r"], ["1", "é" * 300, "é" * 300])  # 1,201 bytes in two cells of 600
    assert refusal(together, "x.csv", limits=Limits(max_item_bytes=1000)).row == 1


def test_an_unbalanced_quote_is_named_by_the_line_where_it_opens():
    rows = b"".join(b'%d,"fine"\n' % n for n in range(2, 40))
    error = refusal(b"id,q\n" + rows + b'40,"not closed\n' + rows, "x.csv")
    assert error.line == 40  # the header, then 38 rows
    assert "unbalanced quote" in error.message


def test_a_quote_open_to_the_end_of_the_file_is_refused():
    error = refusal(b'id,q\n1,a\n2,"b\n3,c\n', "x.csv")
    assert (error.line, "unbalanced quote" in error.message) == (3, True)


def test_a_quote_open_over_more_than_an_item_is_refused():
    error = refusal(b'id,q\n1,"a\n' + b"2,b\n" * 600_000, "x.csv")
    assert error.line == 2
    assert "close an open quote" in error.message


@pytest.mark.parametrize(("row", "said"), [(b"2,b,c,d", "4 cells"), (b"2,b", "2 cells")])
def test_a_row_of_another_width_is_refused_with_row_and_line(row, said):
    error = refusal(b'id,q,r\n1,"a\na",b\n' + row + b"\n", "x.csv", delimiter=",")
    assert (error.line, error.row) == (4, 2)
    assert said in error.message
    assert "header has 3" in error.message


def test_two_columns_of_one_name_are_refused():
    error = refusal(b"id,q,q\n1,a,b\n", "x.csv")
    assert (error.line, error.field) == (1, "q")
    assert "columns 2 and 3" in error.message


def test_a_column_without_a_name_gets_a_number():
    assert values(b",q\n0,a\n", "x.csv") == [{"column_1": "0", "q": "a"}]


def test_a_file_without_header_has_numbered_columns():
    assert values(b"1,Is it?\n2,Was it?\n", "x.csv") == [
        {"column_1": "1", "column_2": "Is it?"},
        {"column_1": "2", "column_2": "Was it?"},
    ]


def test_a_header_alone_is_refused():
    assert "no records" in refusal(b"id,q\n", "x.csv").message


def test_rows_without_content_are_passed_over():
    assert len(read(b"id,q\n1,a\n,\n\n  \n2,b\n,\n", "x.csv")) == 2


def test_nul_is_refused_with_its_place():
    error = refusal(b"id,q\n1,a\n2,b\x00c\n", "x.csv")
    assert (error.line, error.column) == (3, 4)


def test_quotes_can_be_declared_ordinary():
    data = b'id\tq\n1\t"Life" is a film\n'
    assert values(data, "x.tsv", quoting=False) == [{"id": "1", "q": '"Life" is a film'}]


def test_a_carriage_return_outside_quotes_is_refused():
    assert refusal(b"id,q\n1,a\rb\n2,c\n", "x.csv").line == 2


def test_a_wrong_encoding_can_be_put_right_by_hand():
    data = "id,q\n1,Привет\n".encode("cp1251")
    assert values(data, "x.csv", encoding="cp1251") == [{"id": "1", "q": "Привет"}]
