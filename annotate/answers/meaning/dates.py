"""Days, months, years with an era, decades and centuries, from the many ways to write them."""

import re
from datetime import date

from annotate.answers.meaning.number_words import CHINESE_NUMERAL, chinese_number, ordinal_in_words
from annotate.answers.meaning.spelling import spelled

_MONTH_NAMES = (
    ("january", "jan", "janvier", "januar", "enero", "gennaio", "janeiro", "января", "जनवरी", "يناير"),
    ("february", "feb", "février", "februar", "febrero", "febbraio", "fevereiro", "февраля", "फ़रवरी", "فبراير"),
    ("march", "mar", "mars", "märz", "marzo", "março", "марта", "मार्च", "مارس"),
    ("april", "apr", "avril", "abril", "aprile", "апреля", "अप्रैल", "أبريل", "ابريل"),
    ("may", "mai", "mayo", "maggio", "maio", "мая", "मई", "مايو"),
    ("june", "jun", "juin", "juni", "junio", "giugno", "junho", "июня", "जून", "يونيو"),
    ("july", "jul", "juillet", "juli", "julio", "luglio", "julho", "июля", "जुलाई", "يوليو"),
    ("august", "aug", "août", "agosto", "августа", "अगस्त", "أغسطس"),
    ("september", "sept", "sep", "septembre", "septiembre", "settembre", "setembro", "сентября", "सितंबर", "سبتمبر"),
    ("october", "oct", "octobre", "oktober", "octubre", "ottobre", "outubro", "октября", "अक्टूबर", "أكتوبر"),
    ("november", "nov", "novembre", "noviembre", "novembro", "ноября", "नवंबर", "نوفمبر"),
    ("december", "dec", "décembre", "dezember", "diciembre", "dicembre", "dezembro", "декабря", "दिसंबर", "ديسمبر"),
)
MONTHS = {spelled(name): number for number, names in enumerate(_MONTH_NAMES, start=1) for name in names}
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

MONTH = "|".join(sorted(map(re.escape, MONTHS), key=len, reverse=True))
DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_WEEKDAY = re.compile(rf"({'|'.join(f'{day}|{day[:3]}' for day in _WEEKDAYS)})[.,]? (.+)")
_YEAR_FIRST = re.compile(r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})")
_YEAR_LAST = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4})")
_DAY_MONTH = re.compile(rf"({DAY})\.?(?: |-)?(?:(?:of|de) )?({MONTH})(?:\.|\b)(?:(?:,? ?| de |-)(\d{{4}}))?")
_MONTH_DAY = re.compile(rf"({MONTH})(?:\.? | ?-)(?:the )?({DAY})(?:(?:,? |-|,)(\d{{4}}))?")
_MONTH_YEAR = re.compile(rf"({MONTH})(?:\.|\b)(?:,| of| de|-)? ?(\d{{4}})")
_YEAR_MONTH_NUMBER = re.compile(r"(\d{4})[-/](\d{1,2})")
_MONTH_NUMBER_YEAR = re.compile(r"(\d{1,2})[-/](\d{4})")
_CHINESE_DATE = re.compile(r"(?:(\d{4})[年년] ?)?(\d{1,2})[月월](?: ?(\d{1,2})[日号號일])?")
_CHINESE_YEAR = re.compile(r"(\d{4})[年년]")
_ERA = re.compile(r"(?:(ad|ce) (\d{1,4})|(\d{1,4}) ?(ad|a\.d\.?|ce|c\.e\.?|bc|b\.c\.?|bce|b\.c\.e\.?))")
_DECADE = re.compile(r"(?:the )?(\d{3}0)'?s")
_CENTURY = re.compile(r"(?:the )?(.{1,20}?)[ -]century(?: (ad|ce|bc|bce))?")
_CENTURY_NUMBER = re.compile(r"(\d{1,2})(?:st|nd|rd|th)")
_PREPOSITION = re.compile(r"(?:on|in|at) (?:the )?|the ")


def read_date(text: str) -> str | None:
    """The key of a day, month, year with era, decade or century; None where it is none or could be several.

    03/04/2012 can be in March or in April and 5 March '12 in any century: neither is read. 25/03/2012 is clear, and so
    is 04/04/2012. 2010-11 may be a month or a span of years, and is not read either. The day of the week must fit.
    """
    text = _PREPOSITION.sub("", text, count=1) if _PREPOSITION.match(text) else text
    text = _with_digits(text)
    if match := _WEEKDAY.fullmatch(text):
        key = _day_of(match.group(2))
        if key is None or not key.startswith("date:"):
            return None
        weekday = date.fromisoformat(key.removeprefix("date:")).weekday()
        return key if _WEEKDAYS[weekday].startswith(match.group(1)) else None
    return _day_of(text) or _period_of(text)


def _day_of(text: str) -> str | None:
    if match := _YEAR_FIRST.fullmatch(text):
        return _day(match.group(1), match.group(3), match.group(4))
    if match := _YEAR_LAST.fullmatch(text):
        first, second, year = match.group(1), match.group(3), match.group(4)
        keys = {key for key in (_day(year, second, first), _day(year, first, second)) if key is not None}
        return keys.pop() if len(keys) == 1 else None
    if match := _DAY_MONTH.fullmatch(text):
        return _day(match.group(3), MONTHS[match.group(2)], match.group(1))
    if match := _MONTH_DAY.fullmatch(text):
        return _day(match.group(3), MONTHS[match.group(1)], match.group(2))
    if (match := _CHINESE_DATE.fullmatch(text)) and match.group(3):
        return _day(match.group(1), match.group(2), match.group(3))
    return None


def _period_of(text: str) -> str | None:
    if match := _MONTH_YEAR.fullmatch(text):
        return _month(match.group(2), MONTHS[match.group(1)])
    if match := _YEAR_MONTH_NUMBER.fullmatch(text):
        # 2010-11 is a season to some and November to others.
        is_span = int(match.group(2)) > int(match.group(1)) % 100
        return None if is_span else _month(match.group(1), match.group(2))
    if match := _MONTH_NUMBER_YEAR.fullmatch(text):
        return _month(match.group(2), match.group(1))
    if (match := _CHINESE_DATE.fullmatch(text)) and match.group(1):
        return _month(match.group(1), match.group(2))
    if match := _CHINESE_YEAR.fullmatch(text):
        return f"number:{int(match.group(1))}"
    if match := _ERA.fullmatch(text):
        year, era = match.group(2) or match.group(3), match.group(1) or match.group(4)
        return f"year:{int(year)} {_era(era)}" if int(year) else None
    if match := _DECADE.fullmatch(text):
        return f"decade:{match.group(1)}s"
    if match := _CENTURY.fullmatch(text):
        return _century(match.group(1), match.group(2))
    return None


def _day(year: str | None, month: str | int, day: str) -> str | None:
    """With a year it must be in the calendar; without one, in that of a leap year."""
    number = re.sub(r"\D", "", day)
    try:
        found = date(int(year or 2000), int(month), int(number))
    except ValueError:
        return None
    return f"date:{found.isoformat()}" if year else f"day:{found.month:02}-{found.day:02}"


def _month(year: str, month: str | int) -> str | None:
    return f"month:{year}-{int(month):02}" if 1 <= int(month) <= 12 and int(year) else None


def _era(name: str) -> str:
    return "BC" if name.replace(".", "").startswith("bc") else "AD"


def _century(number: str, era: str | None) -> str | None:
    digits = _CENTURY_NUMBER.fullmatch(number)
    # Words must be ordinals: "one century" is a duration, "21st century" and "fifth century" are not.
    value = int(digits.group(1)) if digits else ordinal_in_words(number)
    return f"century:{value} {_era(era) if era else 'AD'}" if value else None


def _with_digits(text: str) -> str:
    """二〇一二年三月五日 with ASCII digits; any other text as it is."""
    if not re.search("[年月日]", text) or len(text) > 40:
        return text
    return CHINESE_NUMERAL.sub(lambda found: str(chinese_number(found.group()) or found.group()), text)
