"""When two texts are the same text, and the version of all keys. What a short answer means is read in meaning/."""

from annotate.normal_form import normal_form

# The version of every canonical key in this package. A resolution stores it, so that keys made by an older rule are
# recognised and counted again instead of being compared with newer ones. Raise it whenever any key changes.
KEY_VERSION = 2

# Characters without a shape that come along when text is copied (soft hyphen, zero-width space, direction marks,
# byte order mark). Two people who see the same word must not vote against each other. The joiners U+200C and U+200D
# stay: in Persian, Hindi and emoji they change what is read.
INVISIBLE = dict.fromkeys(
    [0x00AD, 0x061C, 0x180E, 0x200B, 0x200E, 0x200F, *range(0x202A, 0x202F), 0x2060, *range(0x2066, 0x206A), 0xFEFF]
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
