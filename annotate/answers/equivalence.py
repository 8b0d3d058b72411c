"""When two texts are the same text, and the version of all keys. What a short answer means is read in meaning/."""

from annotate.normal_form import normal_form

# The version of every canonical key in this package. A resolution stores it, so that keys made by an older rule are
# recognised and counted again instead of being compared with newer ones. Raise it whenever any key changes.
KEY_VERSION = 3

# Characters without a shape that come along when text is copied (soft hyphen, zero-width space, direction marks,
# byte order mark, variation selectors, empty letters). Two people who see the same word must not vote against each
# other. The joiners U+200C and U+200D stay, which in Persian, Hindi and emoji change what is read, and so do the tags
# that tell the flags of England and Scotland apart.
# Source: Default_Ignorable_Code_Point, Unicode Character Database, DerivedCoreProperties.txt.
INVISIBLE = dict.fromkeys(
    (
        *(0x00AD, 0x034F, 0x061C, 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x1810), 0x200B, 0x200E, 0x200F),
        *(*range(0x202A, 0x202F), *range(0x2060, 0x2070), 0x3164, *range(0xFE00, 0xFE10), 0xFEFF, 0xFFA0),
        *(*range(0x1BCA0, 0x1BCA4), *range(0x1D173, 0x1D17B), *range(0xE0100, 0xE01F0)),
    )
)


def is_blank(text: str) -> bool:
    """True if nothing would be seen: white space and invisible characters only."""
    return not text.translate(INVISIBLE).strip()


def text_key(text: str) -> str:
    """The key of a text as such: compatibility forms (NFKC), case and white space folded, invisible marks dropped.

    The key of a key is the key itself. Accents, punctuation and word order count: they can change the meaning, and a
    vote must not decide that they do not.
    Source: compatibility caseless matching, The Unicode Standard, section 3.13, D146.
    """
    folded = normal_form("NFD", text.translate(INVISIBLE)).casefold()
    folded = normal_form("NFKD", folded).casefold()
    return " ".join(normal_form("NFKC", folded).split())
