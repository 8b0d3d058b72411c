from django.apps import AppConfig


class EvaluationConfig(AppConfig):
    name = "evaluation"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        # The human side knows nothing of this one; what it archives and exports of it is handed over here.
        from annotate.services import archiving, exporting
        from evaluation import archived, exported

        archiving.register(tables=archived.TABLES, left_out=archived.LEFT_OUT)
        exporting.register(*exported.KINDS)
