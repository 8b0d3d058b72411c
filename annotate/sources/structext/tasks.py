"""The 29 tasks by language, in the order in which the benchmark numbers them."""

from annotate.sources.structext import edges, objects, outlines, tables, tags
from annotate.sources.structext.problem import Task

LANGUAGES = {
    "csv": "CSV",
    "tree": "tree",
    "json": "JSON",
    "yaml": "YAML",
    "xml": "XML",
    "markdown": "Markdown",
    "latex": "LaTeX",
    "org": "Org",
}
TASKS: dict[str, Task] = {
    task.name: task for task in (*tables.TASKS, *edges.TASKS, *objects.TASKS, *tags.TASKS, *outlines.TASKS)
}
