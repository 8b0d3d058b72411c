"""How an initial migration is carried out: every table once, as it is at the end of the migration."""

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import ProjectState


class FirstTables(migrations.Migration):
    """For migrations that only make tables, and meet none of their own.

    One by one, every constraint that is added makes the models of the whole project anew, and on SQLite its table, too:
    nine tenths of the time of a first start.
    """

    def apply(
        self, project_state: ProjectState, schema_editor: BaseDatabaseSchemaEditor, collect_sql: bool = False
    ) -> ProjectState:
        # Models that exist already would follow each operation; so they are made when all is known.
        project_state.__dict__.pop("apps", None)
        for operation in self.operations:
            operation.state_forwards(self.app_label, project_state)
        for model in project_state.apps.get_app_config(self.app_label).get_models():
            schema_editor.create_model(model)
        return project_state
