"""Import: a file becomes items with their gold, all of them or none, and the same file twice changes nothing.

options.py         how a job stores the way its file is read
reading.py         the file -> drafts, with every problem of its records
answer_reading.py  the answers of people in them, as a form stores them
staging.py         drafts wait in temporary tables
comparing.py       the staged file against itself and the project: problems, duplicates, conflicts
storing.py         the staged file becomes items, a set and stage items
answer_storing.py  the staged answers become people, assignments and annotations
asking.py          questions whose second file is a database
generating.py      a recipe -> a draft, as if it were a file
preview.py         the first items as people will see them, before anything is stored
jobs.py            the life of an import
"""

from annotate.services.importing.generating import recipe_file
from annotate.services.importing.jobs import (
    change_draft,
    discard_import,
    draft_import,
    import_file,
    propose,
    reopen_import,
    reread_draft,
    run_import,
    start_import,
)
from annotate.services.importing.options import REPEATS, ImportOptions, Join, mapping_of, options_of

__all__ = [
    "REPEATS",
    "ImportOptions",
    "Join",
    "change_draft",
    "discard_import",
    "draft_import",
    "import_file",
    "mapping_of",
    "options_of",
    "propose",
    "recipe_file",
    "reopen_import",
    "reread_draft",
    "run_import",
    "start_import",
]
