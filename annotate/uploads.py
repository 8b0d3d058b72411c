"""Uploads end at the limit of the settings, before they fill the disk: a form could only tell afterwards."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.files.uploadhandler import FileUploadHandler, StopUpload
from django.http import HttpRequest


class UploadLimit(FileUploadHandler):
    """First of FILE_UPLOAD_HANDLERS: counts what comes, keeps nothing, and passes it on."""

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        super().new_file(*args, **kwargs)
        self.n_bytes = 0

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:
        self.n_bytes += len(raw_data)
        if self.n_bytes > settings.MAX_UPLOAD_BYTES:
            if self.request is not None:
                self.request.META["goldpanel.upload_too_large"] = True
            # The rest is read and dropped, so that the browser gets a page that says why.
            raise StopUpload(connection_reset=False)
        return raw_data

    def file_complete(self, file_size: int) -> None:
        return None


def was_too_large(request: HttpRequest) -> bool:
    """Whether a file of this request was dropped; its form then has no file at all."""
    _ = request.FILES  # reads the body, if nobody did
    return bool(request.META.get("goldpanel.upload_too_large"))
