"""People: whoever signs in, whatever they may do in a project (that is `Membership`, in project.py)."""

import secrets
from typing import ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import PermissionsMixin
from django.db import models
from django.db.models import Q
from django.utils import timezone

from annotate.querysets import AdminRowQuerySet

CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def new_pseudonym() -> str:
    """Eight random base-32 characters, unrelated to code, name and order of arrival."""
    return "P-" + "".join(secrets.choice(CROCKFORD) for _ in range(8))


class PersonManager(BaseUserManager["Person"]):
    def create_staff(self, *, username: str, password: str, **fields: object) -> "Person":
        """Somebody who signs in with a name and a password."""
        person = self.model(username=username, is_staff=True, **fields)
        person.set_password(password)
        person.save(using=self._db)
        return person

    def create_superuser(self, username: str, password: str, **fields: object) -> "Person":
        return self.create_staff(username=username, password=password, is_superuser=True, **fields)

    def create_annotator(self, *, code_digest: str, **fields: object) -> "Person":
        """Somebody who signs in with a participant code alone; no personal data is kept."""
        person = self.model(code_digest=code_digest, **fields)
        person.set_unusable_password()
        person.save(using=self._db)
        return person


class Person(AbstractBaseUser, PermissionsMixin):
    """Deactivated, never deleted: answers point here with PROTECT. Erasure clears the identity, keeps the pseudonym."""

    username = models.CharField(max_length=150, unique=True, null=True, blank=True)
    pseudonym = models.CharField(max_length=16, unique=True, default=new_pseudonym, editable=False)
    code_digest = models.CharField(max_length=64, unique=True, null=True, blank=True, editable=False)
    note = models.CharField(max_length=200, blank=True, help_text="Seen by admins only.")
    is_staff = models.BooleanField(default=False)
    is_active = models.BooleanField(default=True)
    is_sample = models.BooleanField(default=False, help_text="Answers of a demonstration, marked as such everywhere.")
    created_at = models.DateTimeField(default=timezone.now)
    erased_at = models.DateTimeField(null=True, blank=True)

    USERNAME_FIELD = "username"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    objects = PersonManager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(is_staff=False) | Q(username__isnull=False), name="person_staff_has_username"
            ),
        ]

    def __str__(self) -> str:
        return self.username or self.pseudonym


class ImportedAnnotator(models.Model):
    """Whom a name in imported files stands for, so that a second file finds the same person. Erasure removes it."""

    project = models.ForeignKey("annotate.Project", on_delete=models.CASCADE, related_name="+", db_index=False)
    name = models.CharField(max_length=220)
    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+", db_index=False)

    objects = AdminRowQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "name"], name="imported_annotator_once"),
        ]

    def __str__(self) -> str:
        return self.person.pseudonym


class Invite(models.Model):
    """A link that makes its bearer a member: hashed, expiring, revocable, taken a limited number of times."""

    project = models.ForeignKey("annotate.Project", on_delete=models.CASCADE, related_name="invites")
    token_digest = models.CharField(max_length=64, unique=True)
    role = models.CharField(max_length=20)
    group = models.CharField(max_length=8, blank=True)
    created_by = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)
    max_uses = models.PositiveIntegerField(default=1)
    uses = models.PositiveIntegerField(default=0)

    objects = AdminRowQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(uses__lte=models.F("max_uses")), name="invite_uses_within_limit"),
        ]

    def __str__(self) -> str:
        return f"invite {self.pk}"


class SignInFailure(models.Model):
    """One wrong code or password; counted per address, and per account for passwords."""

    address = models.CharField(max_length=45)
    account = models.CharField(max_length=150, blank=True)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        indexes = [
            models.Index(fields=["address", "at"], name="failure_by_address"),
            models.Index(fields=["account", "at"], name="failure_by_account"),
        ]

    def __str__(self) -> str:
        return f"{self.address} {self.at:%H:%M}"
