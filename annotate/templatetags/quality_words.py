"""What attempts and decisions come to, in words."""

from __future__ import annotations

from typing import Any

from django import template
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

register = template.Library()


@register.simple_tag
def qualification_of(row: Any) -> str:
    """The last attempt that counts: "passed, 9 of 10, second attempt"."""
    if not row.in_force:
        return _("attempts set aside") if row.attempts else _("not begun")
    last = row.in_force[-1]
    if last.decided_by_id and last.state == "passed":
        return _("let pass")
    words = [last.get_state_display()]
    if last.n_right is not None:
        words.append(_("{right} of {n}").format(right=last.n_right, n=last.n_items))
    n = len(row.in_force)
    if n > 1:
        words.append(_("{n} attempts").format(n=n))
    elif row.has_no_attempt_left:
        words.append(_("no attempt left"))
    return ", ".join(str(word) for word in words)


@register.simple_tag
def left_out_of(one: Any) -> str:
    """ "12 answers of 3fk2" or "1 answer of 3fk2 in Label"."""
    exclusion = one.exclusion
    n = ngettext("{n} answer of {person}", "{n} answers of {person}", one.n_answers)
    if exclusion.person is not None:
        return n.format(n=f"{one.n_answers:,}", person=exclusion.person.pseudonym)
    assignment = exclusion.annotation.assignment
    return n.format(n=one.n_answers, person=f"{assignment.person.pseudonym}, {assignment.stage.title}")
