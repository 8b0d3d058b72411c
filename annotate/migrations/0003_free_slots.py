from django.db import migrations

from annotate import free_slots


def install(apps, schema_editor):
    free_slots.install(schema_editor.connection)


def remove(apps, schema_editor):
    free_slots.remove(schema_editor.connection)


class Migration(migrations.Migration):
    dependencies = [("annotate", "0002_events_append_only")]

    operations = [migrations.RunPython(install, remove)]
