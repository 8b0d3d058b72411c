"""When two short answers are one answer: by meaning where it is clear, else by spelling."""

from datetime import date
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotate.answers.equivalence import is_blank, text_key
from annotate.answers.meaning import KINDS, member_key, short_answer_key
from annotate.answers.meaning.lists import split_typed
from annotate.answers.meaning.number_words import chinese_number, number_in_words
from annotate.answers.meaning.numbers import number_text, read_number
from annotate.answers.meaning.spelling import plain_text, spelled
from tests.processor_time import processor_time


def same(one: str, other: str, unit: str = "") -> bool:
    return short_answer_key(one, unit) == short_answer_key(other, unit)


@pytest.mark.parametrize(
    "written",
    [
        *(
            "17 July 1994",
            "July 17, 1994",
            "17th of July, 1994",
            "the 17th of July 1994",
            "Jul. 17, 1994",
            "17-Jul-1994",
        ),
        *(
            "1994-07-17",
            "1994/7/17",
            "17.07.1994",
            "07/17/1994",
            "on 17 July 1994",
            "Sunday, 17 July 1994",
            "17 JULY 1994.",
        ),
        *(
            "1994年7月17日",
            "一九九四年七月十七日",
            "１９９４年７月１７日",
            "١٧ يوليو ١٩٩٤",
            "17 जुलाई 1994",
            "17 juillet 1994",
        ),
        *("17 de julio de 1994", "17. Juli 1994", "\u200f17 July\u00a01994", "“17 July 1994”"),
    ],
)
def test_a_day_has_many_forms(written):
    assert short_answer_key(written) == "date:1994-07-17"


@pytest.mark.parametrize(
    ("written", "reading"),
    [
        ("05/08/2003", "5 August 2003"),  # day first or month first
        ("05/08/2003", "8 May 2003"),
        ("08.05.2003", "8 May 2003"),
        ("7 June '98", "7 June 1998"),  # of which century
        ("7/6/98", "7 June 1998"),
        ("Monday, 17 July 1994", "17 July 1994"),  # it was a Sunday
        ("31 April 2003", "30 April 2003"),  # no such day
        ("2010-11", "November 2010"),  # or the season 2010/11
        ("2010-11", "2010 to 2011"),
        ("May", "May 2003"),
        ("9:15", "9:15 am"),  # or in the evening, or a running time
        ("10:15", "10:15 am"),  # the same with two digits
        ("12:00", "midnight"),
        ("02:05:13", "2:05:13 am"),  # or a marathon
        ("3y 2m", "3 years 2 minutes"),  # or months
        ("11st", "11"),  # or a weight
        ("11 st", "11th"),
        ("7 M", "7 metres"),  # or millions
        ("7G", "7 grams"),
        ("300 K", "300,000"),  # or kelvin
        ("7 MM", "7 mm"),
        ("- 7", "-7"),  # or a line of a list
        ("— 7", "minus 7"),  # or a line of speech
        ("- $7", "-$7"),
        ("A B", "B"),
        ("the A", "A"),
        ("5↉", "50/3"),
        ("62:12", "1:02:12"),
        ("1,234", "1.234"),
        ("1998,2004", "1998, 2004"),
        ("007", "7"),
        ("twenty twenty", "2020"),
        ("7 pounds", "£7"),  # money or weight
        ("$7", "US$7"),  # whose dollars
        ("36 Years ago (1986)", "36 years"),
        ("36 Years ago (1986)", "1986"),
        ("6 years (2 terms)", "6 years"),
        ("A major", "major"),
        ("the One", "1"),
        ("x²", "x2"),
        ("10⁶", "106"),
        ("½", "12"),
        ("7½", "71/2"),
    ],
)
def test_what_can_be_read_in_two_ways_equals_neither(written, reading):
    assert not same(written, reading)
    assert same(written, f" {written.upper()} ")


def test_a_day_and_month_that_are_the_same_number_leave_no_doubt():
    assert same("06/06/2003", "6 June 2003")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("730 days", "two years"),  # twice 365
        ("8,760 hours", "1 year"),  # 365 days of 24
        ("1 year, 6 months", "18 months"),
        ("a year and a half", "18 months"),
        ("2½ years", "30 months"),
        ("half an hour", "1800 seconds"),
        ("3 fortnights", "42 days"),
        ("1h 30m", "90 minutes"),
        ("2:30 hours", "150 min"),
        ("45:10 minutes", "2,710 seconds"),
        ("11years and 2 months", "134 months"),
        ("a 36-month period", "three years"),
        ("18个月", "1.5 years"),
        ("三年", "3 years"),
        ("aged 40", "40-year-old"),
        ("aged 40 years", "40 y/o"),
        ("at the age of forty", "40 years old"),
    ],
)
def test_durations_are_counted_in_months_and_seconds(one, other):
    assert same(one, other)
    assert short_answer_key(one).startswith("duration:")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("31 days", "1 month"),
        ("52 weeks", "1 year"),
        ("366 days", "1 year"),
        ("12 months and 1 year", "2 years"),
        ("5 m", "5 minutes"),
        ("over 3 years", "3 years"),
        ("3 years ago", "3 years"),
        ("5th century", "5 centuries"),
        ("third year", "three years"),
        ("the 5th day", "5 days"),
        ("third decade", "30 years"),
        ("second hour", "2 hours"),
    ],
)
def test_what_is_not_the_same_time(one, other):
    assert not same(one, other)


@pytest.mark.parametrize(
    ("written", "number"),
    [
        ("4,321", "4321"),
        ("4 321", "4321"),
        ("4\u202f321", "4321"),
        ("4'321", "4321"),
        ("4.321", "4.321"),
        ("4,32", "4.32"),
        ("0,500", "0.5"),
        ("4.321.000", "4321000"),
        ("4.321,5", "4321.5"),
        ("12,34,567", "1234567"),  # as in India
        ("-4", "-4"),
        ("−4", "-4"),
        ("minus four", "-4"),
        ("4.50", "4.5"),
        ("4½", "4.5"),
        ("4 1/2", "4.5"),
        ("٤٣٢١", "4321"),
        ("४३२१", "4321"),
        ("４３２１", "4321"),
        ("four thousand three hundred and twenty-one", "4321"),
        ("twelve hundred", "1200"),
        ("a dozen", "12"),
        ("2.5 million", "2500000"),
        ("two and a half million", "2500000"),
        ("half a million", "500000"),
        ("3 crore", "30000000"),
        ("7k", "7000"),
        ("4.2×10^3", "4200"),
        ("4.2e3", "4200"),
        ("twenty-second", "22"),
        ("the 22nd", "22"),
        ("四千三百二十一", "4321"),
        ("3.2亿", "320000000"),
        ("第三", "3"),
        ("in 1815", "1815"),
    ],
)
def test_numbers_with_the_separators_of_any_country(written, number):
    assert short_answer_key(written) == f"number:{number}"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("-$4.2 billion", "−$4,200,000,000"),
        ("$-4.2bn", "minus 4.2 billion dollars"),
        ("€7.00", "7 EUR"),
        ("7 million US dollars", "US$7m"),
        ("¥700", "¥ 700"),
        ("7 %", "seven percent"),
        ("٧٪", "7 per cent"),
        ("7 km", "seven kilometres"),
        ("7km²", "7 square kilometres"),
        ("three times", "3 times"),
        ("more than 7", "> 7"),
        ("~ 7 seconds", "about 7 seconds"),
        ("7+", "at least 7"),
        ("7-9", "from 7 to 9"),
        ("7–9 years", "between 7 years and 9 years"),
        ("$7-9", "$7 to $9"),
        ("7-9%", "7% to 9%"),
        ("March 2003 – June 2003", "from March 2003 until June 2003"),
        ("1998-present", "from 1998 to now"),
        ("midnight", "12 am"),
        ("5:30 p.m.", "17:30"),
        ("44 BCE", "44 B.C."),
        ("the 1980s", "1980's"),
        ("19th century", "nineteenth century"),
        ("2 June 2003, 17:45", "June 2, 2003 at 5:45 pm"),
        ("2003-06-02T10:45", "2 June 2003, 10:45 am"),
        ("10:45 h", "10:45 a.m."),
        ("third season", "the 3rd season"),
        ("first place", "1st place"),
        ("third year", "3rd year"),
        ("7km-9km", "7 to 9 km"),
        ("5pm-7pm", "from 5 pm to 7 pm"),
        ("£7M", "7 million pounds sterling"),
        ("7 M euros", "€7,000,000"),
        ("1998—2004", "from 1998 to 2004"),
        ("3⅟8 km", "3.125 km"),
    ],
)
def test_the_same_quantity_has_one_key(one, other):
    assert same(one, other)
    assert short_answer_key(one).startswith(tuple(f"{kind}:" for kind in KINDS))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("7%", "0.07"),
        ("7%", "7 percentage points"),
        ("7 km", "7 miles"),
        ("$7", "€7"),
        ("$7", "7"),
        ("3-1", "1-3"),  # a score
        ("7-9", "7, 9"),
        ("7", "7.01"),  # no tolerance in votes
        ("1815", "1816"),
        ("44 BC", "44 AD"),
        ("almost 7", "about 7"),
        ("5 am", "5 pm"),
        ("No", "Norway"),
        ("third season", "three seasons"),
        ("first time", "one time"),
        ("2nd place", "2 places"),
        ("5 pounds sterling", "£-5"),
        ("Jon Smith", "John Smith"),
    ],
)
def test_different_answers_have_different_keys(one, other):
    assert not same(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Oslo, Lima and Rome", "Rome; Oslo; Lima"),
        ("red, green, and blue", "green & blue & red"),
        ("1999, 2005", "2005 and 1999"),
        ("1999,2005,2006", "2006, 2005, 1999"),
        ("Site 41/3 and Site 41/4", "Site 41/4, Site 41/3"),
        ("4220 m|13,845 ft", "13,845 ft; 4220 m"),
        ("two goals and one year", "12 months, 2 goals"),
        ("March 5, 2012 and April 6, 2013", "6 April 2013; 5 March 2012"),
        ("北京、上海", "上海, 北京"),
    ],
)
def test_the_members_of_a_list_come_in_any_order(one, other):
    assert same(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Oslo, Lima", "Oslo"),
        ("Oslo, Oslo, Lima", "Oslo, Lima"),
        ("March 5, 2012 and April 6, 2013", "March 5, 2013 and April 6, 2012"),
        ("Smith (Oslo, 1912) and Jones", "Smith (Oslo) and Jones, 1912"),
        ("Oslo or Lima", "Lima or Oslo"),
        ("1,352,642,280", "1, 352, 642, 280"),
    ],
)
def test_lists_with_other_members_are_other_answers(one, other):
    assert not same(one, other)


def test_a_paragraph_is_no_list():
    first = "He won the first race because the others had not trained for it at all that year"
    second = "and then she lost the next one because of the weather and a horse that was lame"
    assert not same(f"{first}, {second}.", f"{second}, {first}.")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The Titanic", "titanic"),
        ("Málaga", "MALAGA"),
        ("“Apple Inc.”", "apple inc"),
        ("Yes!", "true"),
        ("नहीं", "no"),
        ("Not Sure", "I don't know"),
    ],
)
def test_words_fold(one, other):
    assert same(one, other)


@pytest.mark.parametrize("mark", ["\ufe0f", "\u034f", "\u2063", "\u00ad", "\u200b", "\u200f", "\u2069", "\U000e0100"])
def test_marks_that_nobody_sees_do_not_count(mark):
    assert same(f"Os{mark}lo", "Oslo")
    assert same(f"1{mark},500", "1500")
    assert text_key(f"☎{mark}") == text_key("☎")
    assert is_blank(mark)


@pytest.mark.parametrize(
    ("written", "number"),
    [
        ("١٬٢٣٤٫٥", "1234.5"),
        ("۱۲۳۴", "1234"),
        ("１，２３４．５", "1234.5"),
        ("1\u202f234\u00a0567", "1234567"),
        ("1\u2009234,5", "1234.5"),
        ("1’234", "1234"),
        ("﹣5", "-5"),
        ("－５", "-5"),
        ("\u200f-5\u200f", "-5"),
        ("➖5", "-5"),
        ("\u2067٥٠\u2069", "50"),
        ("𝟝𝟘", "50"),
        ("①", "1"),
    ],
)
def test_digits_separators_and_signs_of_any_script(written, number):
    assert short_answer_key(written) == f"number:{number}"


def test_marks_that_tell_words_apart_stay():
    england, scotland = (
        "🏴" + "".join(chr(0xE0000 + ord(letter)) for letter in name) + "\U000e007f" for name in ("gbeng", "gbsct")
    )
    assert not same(england, scotland)
    assert not same("मिल", "मल")
    assert not same("が", "か")
    assert not same("й", "и")


def test_a_unit_that_the_question_names_fills_a_missing_one_and_replaces_none():
    assert same("36", "three years", unit="months")
    assert same("7", "7%", unit="percent")
    assert same("7-9", "7 to 9 km", unit="km")
    assert not same("36 weeks", "36", unit="months")
    assert not same("36", "36 months")
    # Where millions are asked for, somebody may write the word all the same.
    assert same("1.5", "1.5 million", unit="million")
    assert same("1,500,000", "1.5 million")
    assert same("2", "$2,000,000", unit="million dollars")
    assert same("2", "2 million", unit="millions of dollars")
    assert same("3rd", "third season", unit="seasons")
    assert not same("3rd", "3", unit="seasons")


def test_nobody_can_write_a_key():
    assert not same("number:7", "7")
    assert not same("text:number:7", "number:7")
    assert not same('list:["number:7", "number:8"]', "7, 8")


def test_a_member_is_never_a_list():
    assert member_key("Oslo, Lima") == "oslo, lima"


def test_words_for_numbers_keep_their_grammar():
    assert number_in_words("one million two hundred thousand and six") == 1_200_006
    for broken in ("one two", "twenty eleven", "thousand", "hundred one", "two thousand million thousand", "and"):
        assert number_in_words(broken) is None
    assert [chinese_number(text) for text in ("十", "二十", "一百零五", "三千零一万", "十十", "百")] == [
        *(10, 20, 105, 30_010_000),
        *(None, None),
    ]


# A grammar of answers: what a person means, and ways to write it.
NUMBERS = st.integers(0, 9_999)
GRAMMAR = st.one_of(
    NUMBERS.map(str),
    NUMBERS.map(lambda n: f"{n:,}"),
    st.tuples(NUMBERS, st.sampled_from(["days", "months", "years", "%", "km", "hours", "weeks"])).map(
        lambda p: f"{p[0]} {p[1]}"
    ),
    st.tuples(st.sampled_from(["$", "€", "US$", "-$"]), NUMBERS).map(lambda p: f"{p[0]}{p[1]}"),
    st.dates().map(lambda day: day.isoformat()),
    st.dates().map(lambda day: f"{day.day}/{day.month}/{day.year:04}"),
    st.dates().map(lambda day: day.strftime("%d %B %Y")),
    st.tuples(NUMBERS, NUMBERS).map(lambda p: f"{p[0]}-{p[1]}"),
    st.sampled_from(
        ["yes", "No.", "one year", "365 days", "12 months", "a dozen", "12", "twelve", "May", "5 pm", "17:00"]
    ),
    st.sampled_from(["The Beatles", "beatles", "São Paulo", "A, B and C", "c; b; a", "7½", "over 7", "1,5", "1.5"]),
)
WRAPPED = st.tuples(GRAMMAR, st.sampled_from(["{}", " {} ", "“{}”", "{}.", "\u200e{}", "({})"])).map(
    lambda pair: pair[1].format(pair[0])
)


@given(WRAPPED, WRAPPED, WRAPPED)
@settings(max_examples=300)
def test_having_one_key_is_an_equivalence(a, b, c):
    assert same(a, a)
    assert same(a, b) == same(b, a)
    assert same(a, c) or not (same(a, b) and same(b, c))


# What is meant, and ways to write it that leave no doubt. Equal values are equal answers, others are not.
SEPARATORS = st.sampled_from([",", "\u00a0", "\u202f", "'", ""])
_NAMES = {"km": "kilometres", "%": "percent", "kg": "kilos"}


def _grouped(number: int, separator: str) -> str:
    return f"{number:,}".replace(",", separator)


@st.composite
def meant(draw) -> tuple[tuple[str, object], str]:
    """(kind and value, one way to write it)."""
    kind = draw(
        st.sampled_from(["number", "measure", "money", "date", "duration", "range", "ordinal", "list", "truth"])
    )
    n = draw(st.integers(0, 30) | st.integers(0, 3_000_000))
    shown = _grouped(n, draw(SEPARATORS))
    if kind == "number":
        return (kind, n), draw(st.sampled_from([shown, f"{shown}.0", f"+{shown}", f"“{shown}.”"]))
    if kind == "measure":
        unit = draw(st.sampled_from(sorted(_NAMES)))
        return (kind, (n, unit)), draw(
            st.sampled_from([f"{shown} {unit}", f"{shown}{unit}", f"{shown} {_NAMES[unit]}"])
        )
    if kind == "money":
        sign, word = draw(st.sampled_from([("€", "euros"), ("US$", "US dollars"), ("£", "pounds sterling")]))
        return (kind, (n, sign)), draw(st.sampled_from([f"{sign}{shown}", f"{shown} {word}", f"{sign} {shown}.00"]))
    if kind == "date":
        day = draw(st.dates(date(1990, 1, 1), date(1990, 2, 10)))
        forms = ["%Y-%m-%d", "%d %B %Y", "%B %d, %Y", "%d %b %Y", "%A, %d %B %Y", "%Y年%m月%d日"]
        return (kind, day), day.strftime(draw(st.sampled_from(forms)))
    if kind == "duration":
        months = draw(st.integers(1, 40))
        years, rest = divmod(months, 12)
        whole = [f"{years} years", f"{365 * years} days", f"aged {years}"] if years and not rest else []
        return (kind, months), draw(st.sampled_from([f"{months} months", f"{years} years and {rest} months", *whole]))
    if kind == "range":
        start = draw(st.integers(1950, 1960))
        end = start + draw(st.integers(1, 20))
        forms = [f"{start}–{end}", f"from {start} to {end}", f"between {start} and {end}", f"{start} - {end}"]
        return (kind, (start, end)), draw(st.sampled_from(forms))
    if kind == "ordinal":
        place = draw(st.integers(1, 30))
        ending = "th" if 10 < place < 20 else {1: "st", 2: "nd", 3: "rd"}.get(place % 10, "th")
        return (kind, place), draw(st.sampled_from([f"{place}{ending} season", f"the {place}{ending} season"]))
    if kind == "list":
        members = draw(st.permutations(["Oslo", "Lima", "Rome"]))[: draw(st.integers(2, 3))]
        return (kind, tuple(sorted(members))), draw(st.sampled_from([", ", "; ", " and "])).join(members)
    truth = draw(st.sampled_from(["yes", "no"]))
    return (kind, truth), draw(st.sampled_from({"yes": ["Yes.", "true", "yep"], "no": ["no", "False", "Nope!"]}[truth]))


@given(meant(), meant())
@settings(max_examples=1_000)
def test_two_answers_have_one_key_exactly_if_they_mean_the_same(one, other):
    (value, written), (other_value, other_written) = one, other
    assert same(written, other_written) == (value == other_value), (written, other_written)


@given(WRAPPED)
def test_case_width_and_white_space_never_matter(text):
    assert same(text, text.upper())
    assert same(text, f"\u00a0{text}\u2003")
    assert same(text, text.translate({ord(digit): chr(0xFF10 + int(digit)) for digit in "0123456789"}))


@given(st.text(max_size=60))
def test_folding_a_folded_text_changes_nothing(text):
    once = spelled(text)
    assert spelled(once) == once
    assert plain_text(plain_text(once)) == plain_text(once)


@given(st.text(max_size=40), st.sampled_from(["", "months", "%", "$", "parsecs"]))
def test_every_text_has_a_key(text, unit):
    assert isinstance(short_answer_key(text, unit), str)
    assert short_answer_key(text, unit) == short_answer_key(text, unit)


@given(st.decimals(-(10**12), 10**12, places=3))
def test_a_printed_number_is_read_again(number):
    assert read_number(number_text(number)) == number


@given(st.integers(0, 10**9))
def test_thousands_separators_change_no_number(number):
    assert short_answer_key(f"{number:,}") == short_answer_key(str(number)) == f"number:{number}"


# Beginnings and repetitions that make a careless pattern try everything.
_BEFORE = ("", "from ", "between ", "about ", "5 ", "$", "the ", "march ", "aged ", "(")
_REPEATED = (
    *(
        " ",
        "a",
        "1",
        "1,",
        "1.",
        "1 ",
        "1'",
        "-",
        "1-",
        "a-",
        "and ",
        "a, ",
        "1, ",
        "; ",
        "|",
        "(",
        ")",
        "[",
        "\u0301",
        "a\u0301",
        "\u0301\u0316",
    ),
    *(
        "\ufdfa",
        "½",
        "²",
        "²²a",
        "２",
        "二",
        "年",
        "1年",
        "3个月",
        "week ",
        "1 week ",
        "about ",
        "from ",
        "a to ",
        "1 to ",
        "between ",
    ),
    *(
        "$",
        "'",
        '"',
        "“",
        "thousand ",
        "one ",
        "one-",
        "march ",
        "1 march ",
        "5:",
        "05:",
        "%",
        "the ",
        "the a ",
        "a and ",
        "is ",
    ),
    *(
        "x10^",
        "1/",
        "1⁄2 ",
        "1th ",
        "i'm ",
        "e1",
        "1e",
        "million ",
        "'s",
        "1h ",
        "or more",
        "+",
        ">",
        "bc ",
        ".",
        "!",
        "\u200e",
    ),
)
_SIZE = 100_000
_LIMIT = 0.2  # seconds


@pytest.mark.parametrize("repeated", _REPEATED)
def test_no_text_of_100_000_characters_takes_long(repeated):
    # A pattern that backtracks would take minutes. The shorter texts are the longest that are read as one value and as
    # a list.
    shorter = [before + repeated * (size // len(repeated)) for before in _BEFORE for size in (270, 1_980)]
    longest = repeated * (_SIZE // len(repeated))
    for text in (*shorter, longest):
        assert processor_time(partial(short_answer_key, text), enough=_LIMIT) < _LIMIT, text[:40]
        assert processor_time(partial(member_key, text), enough=_LIMIT) < _LIMIT, text[:40]
    assert processor_time(partial(text_key, longest), enough=_LIMIT) < _LIMIT
    assert processor_time(partial(split_typed, longest), enough=_LIMIT) < _LIMIT
