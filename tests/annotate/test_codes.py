"""Codes are read as they were meant and stored so that nobody can read them."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import given

from annotate.codes import ALPHABET, CODE_LENGTH, code_digest, fold_code, invite_digest, new_code, new_invite_token


def test_a_code_is_twelve_characters_of_crockfords_alphabet_in_groups_of_four():
    code = new_code()
    assert [len(group) for group in code.split("-")] == [4, 4, 4]
    assert len(fold_code(code)) == CODE_LENGTH
    assert set(fold_code(code)) <= set(ALPHABET)


def test_the_alphabet_has_no_look_alikes():
    assert len(ALPHABET) == len(set(ALPHABET)) == 32
    assert not set("ILOU") & set(ALPHABET)


def test_codes_do_not_repeat():
    # Of 2 ** 60 codes; a repetition among a thousand would mean that they are not random.
    assert len({new_code() for _ in range(1_000)}) == 1_000


@pytest.mark.parametrize(
    "typed",
    [
        "7K3M-9QXT-2H01",
        "7k3m9qxt2h01",
        "  7K3M 9QXT 2H01\r\n",
        "7K3M–9QXT—2H01",  # dashes as a word processor makes them
        "7K3M-9QXT-2HOI",  # O for 0, I for 1
        "7K3M-9QXT-2Hol",
        "７Ｋ３Ｍ－９ＱＸＴ－２Ｈ０１",  # full width
        "\u200b7K3M\u00a09QXT\u2060-2H01\ufeff",  # copied from a page
        "7K3M_9QXT_2H01",
    ],
)
def test_what_was_meant_is_read(typed):
    assert fold_code(typed) == "7K3M9QXT2H01"


@given(st.text(alphabet=ALPHABET + ALPHABET.lower() + "OoIiLl -–_\u200b"))
def test_folding_twice_changes_nothing(text):
    assert fold_code(fold_code(text)) == fold_code(text)


def test_a_digest_depends_on_the_key_and_on_what_was_meant():
    assert code_digest("7K3M-9QXT-2H01", key="a") == code_digest("7k3m9qxt2hol", key="a")
    assert code_digest("7K3M-9QXT-2H01", key="a") != code_digest("7K3M-9QXT-2H01", key="b")
    assert code_digest("7K3M-9QXT-2H01", key="a") != code_digest("7K3M-9QXT-2H02", key="a")
    assert "7K3M" not in code_digest("7K3M-9QXT-2H01", key="a")


def test_invitation_tokens_are_long_and_stored_as_digests():
    token = new_invite_token()
    assert len(token) >= 32
    assert len(invite_digest(token)) == 64
    assert invite_digest(token) != invite_digest(new_invite_token())
