"""The domain of the human side; docs/domain.md shows it with the states.

A foreign key has no index of its own (`db_index=False`) where a constraint of its table begins with the same column, or
where nothing is looked up by it: every index is paid by every answer and every imported item.
"""

from .annotation import Annotation
from .api_token import ApiToken
from .assignment import Assignment
from .audit import Audit
from .background import BackgroundWork, DatabaseLease, ImportJob, StoredFile, WorkerHeartbeat
from .candidate import Candidate
from .checking import CheckResult, QualificationAttempt, QualificationPlace
from .decision import Decision
from .event import Event
from .exclusion import Exclusion, FreedPlace
from .export import Export, Restoration
from .feed import Feed
from .flag_settlement import FlagSettlement
from .item import Gold, GoldRefusal, Item, ItemHand, ItemKey, ItemRevision, ItemSet, ItemSetEntry
from .person import ImportedAnnotator, Invite, Person, SignInFailure
from .project import GuidelineVersion, Membership, Project
from .question import Question
from .recruiting import ProlificSeat, ProlificStudy
from .resolution import Resolution
from .session import Session
from .stage import Participation, Stage, StageItem, StageVersion

__all__ = [
    "Annotation",
    "ApiToken",
    "Assignment",
    "Audit",
    "BackgroundWork",
    "Candidate",
    "CheckResult",
    "DatabaseLease",
    "Decision",
    "Event",
    "Exclusion",
    "Export",
    "Feed",
    "FlagSettlement",
    "FreedPlace",
    "Gold",
    "GoldRefusal",
    "GuidelineVersion",
    "ImportJob",
    "ImportedAnnotator",
    "Invite",
    "Item",
    "ItemHand",
    "ItemKey",
    "ItemRevision",
    "ItemSet",
    "ItemSetEntry",
    "Membership",
    "Participation",
    "Person",
    "Project",
    "ProlificSeat",
    "ProlificStudy",
    "QualificationAttempt",
    "QualificationPlace",
    "Question",
    "Resolution",
    "Restoration",
    "Session",
    "SignInFailure",
    "Stage",
    "StageItem",
    "StageVersion",
    "StoredFile",
    "WorkerHeartbeat",
]
