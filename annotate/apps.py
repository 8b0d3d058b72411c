from django.apps import AppConfig


class AnnotateConfig(AppConfig):
    name = "annotate"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from annotate import speaking
        from annotate.services import exporting
        from annotate.services.archiving.exported import ARCHIVE

        exporting.register(ARCHIVE)
        speaking.begin()
