"""Refusals, each named after the rule it defends. `http_status` is what a page or the API answers with."""

from annotate.wording import _


class GoldpanelError(Exception):
    """A refusal that can be explained to a person; nothing was written."""

    http_status = 400
    message = _("That was not possible.")

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or self.message)

    def __str__(self) -> str:
        return str(self.args[0])


class AssignmentNotOpen(GoldpanelError):
    http_status = 409
    message = _("This item is no longer open for you. Your text is kept below.")


class StaleDraft(GoldpanelError):
    """A late autosave: the answer was submitted, or saved by a newer draft, meanwhile."""

    http_status = 409
    message = _("A newer version of this answer is already stored.")


class ProposalChanged(GoldpanelError):
    """Somebody answered, or decided, while an answer was being accepted as the gold label, or refused."""

    http_status = 409
    message = _("The votes on this item come to something else by now. Nothing was stored: look at it again.")


class VotesChanged(GoldpanelError):
    """Somebody answered, or changed an answer, while these answers were being decided about.

    votes_hash: stands for the answers that there are now.
    """

    http_status = 409
    message = _(
        "The answers to this item have changed since you opened it. Nothing was stored: look at them "
        "again, and decide. What you typed is kept below."
    )

    def __init__(self, votes_hash: str = "") -> None:
        super().__init__()
        self.votes_hash = votes_hash


class OtherPersonSignedIn(GoldpanelError):
    """The form was opened by one person and sent by another; nothing is stored under the wrong name."""

    http_status = 409
    message = _("Somebody else is signed in on this device now. Nothing was stored; your text is kept below.")


class AnswerBelongsElsewhere(GoldpanelError):
    """The form that was filled in is not a form of this stage."""

    http_status = 422
    message = _("This form does not belong to this stage. Load the page again; your text is kept below.")


class StageNotOpen(GoldpanelError):
    http_status = 409
    message = _("This stage hands out no items at the moment.")


class DecidedNotShown(GoldpanelError):
    """People must not know yet, or at all, what was decided about what they answered."""

    http_status = 409


class MembershipPaused(GoldpanelError):
    """What a paused member has given stays as it was given."""

    http_status = 409
    message = _("Your part in this project is paused: answers can no longer be changed. Your text is kept below.")


class StageFormFrozen(GoldpanelError):
    """After the first answer, fields change only by a new version of the stage."""

    http_status = 409
    message = _("People have already answered with this form: make a new version of it.")


class StageNotReady(GoldpanelError):
    """A step in the life of a stage that its present state does not allow."""

    http_status = 409


class ItemNotInReview(GoldpanelError):
    """Somebody else has decided about this item meanwhile."""

    http_status = 409
    message = _("This item does not wait for review any more.")


class LastAdmin(GoldpanelError):
    """A project that nobody runs could never be repaired from its own pages."""

    http_status = 409
    message = _("This is the only active admin of the project. Make somebody else an admin first.")


class PersonNotYours(GoldpanelError):
    """Whether somebody signs in at all is not for the admin of one of several projects to say."""

    http_status = 409


class SignInRefused(GoldpanelError):
    http_status = 422
    message = _(
        "This code is not known. Check it character by character; letters and digits that look alike are read the same."
    )


class TooManyAttempts(GoldpanelError):
    http_status = 429
    message = _("Too many wrong attempts from this address. Wait ten minutes, then try again.")


class PasswordRefused(GoldpanelError):
    http_status = 422
    message = _("This name and password do not go together. Capital letters count in the password.")


class TooManyPasswords(GoldpanelError):
    http_status = 429
    message = _("Too many wrong passwords for this name. Wait ten minutes, then try again.")


class InviteNotValid(GoldpanelError):
    http_status = 410
    message = _("This invitation has ended or was used up. Ask whoever sent it for a new one.")


class TokenNotPossible(GoldpanelError):
    """A token with scopes that its person cannot use, or one too many."""

    http_status = 422


class ImportRefused(GoldpanelError):
    """The file has faults; `problems` lists them with line, column, row and field. Nothing was imported."""

    http_status = 422
    message = _("Nothing was imported.")

    def __init__(self, message: str | None = None, problems: list[dict[str, object]] | None = None) -> None:
        super().__init__(message)
        self.problems = problems or []


class WorkNotPossible(GoldpanelError):
    """A run, report or import cannot make that step in its present state."""

    http_status = 409


class NameTaken(WorkNotPossible):
    """A project, stage, endpoint or run of that name was made while this one was being written."""


class ExportNotPossible(GoldpanelError):
    """Nothing is called so, it cannot be had in that format, or not by this person."""

    http_status = 422


class ArchiveRefused(GoldpanelError):
    """The archive has faults; `problems` says where. Nothing was restored."""

    http_status = 422
    message = _("Nothing was restored.")

    def __init__(self, message: str | None = None, problems: list[dict[str, object]] | None = None) -> None:
        super().__init__(message)
        self.problems = problems or []


class WorkTaken(GoldpanelError):
    """Background work was cancelled, or its claim ran out and somebody else holds it: nothing more is written."""

    http_status = 409
    message = _("This work is in other hands now, or was cancelled.")


class StudyNotOpen(GoldpanelError):
    """Nobody comes in by this link."""

    http_status = 404
    message = _("This study is not open.")


class SeatRefused(GoldpanelError):
    """The link does not say credibly who comes, or there is no seat for them."""

    http_status = 422


class RecipeInvalid(GoldpanelError):
    """A feed's description of what an answer becomes in the next stage cannot be followed."""

    http_status = 422


class StageOptionsInvalid(GoldpanelError):
    """A setting of one kind of stage that it does not have, or that cannot be meant so. option: which one."""

    http_status = 422

    def __init__(self, option: str, message: str) -> None:
        super().__init__(message)
        self.option = option


class ProtocolNotPossible(GoldpanelError):
    """A published protocol cannot be set up in this project; nothing of it was made."""

    http_status = 409


class UnknownProtocol(GoldpanelError):
    """No protocol that comes with the platform has this name."""

    http_status = 404


class FeedNotPossible(GoldpanelError):
    """What a stage's answers were to become cannot come about. part: of the feed, what is at fault."""

    http_status = 422

    def __init__(self, part: str, message: str) -> None:
        super().__init__(message)
        self.part = part
