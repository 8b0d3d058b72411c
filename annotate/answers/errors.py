"""What can be wrong with an answer or with the description of a field, in words for the person who can mend it."""

from collections.abc import Mapping


class AnswerInvalid(ValueError):
    """An answer breaks a rule of its field.

    field, message: the first field at fault and what to do about it.
    errors: every field at fault with its message, in the order of the fields.
    """

    http_status = 422

    def __init__(self, field: str, message: str, errors: Mapping[str, str] | None = None) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field
        self.message = message
        self.errors: dict[str, str] = dict(errors) if errors else {field: message}

    @classmethod
    def gather(cls, errors: Mapping[str, str]) -> "AnswerInvalid":
        """One exception for all fields at fault; `errors` must not be empty."""
        field, message = next(iter(errors.items()))
        return cls(field, message, errors)


class FieldSpecInvalid(ValueError):
    """The description of a field cannot be used: said when a stage is made, never to an annotator."""

    http_status = 422
