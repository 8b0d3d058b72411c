"""The API for programs, /api/v1/: the same doors and services as the pages, in JSON (docs/api.md).

authentication.py, permissions.py   who comes in: tokens alone, and what their scopes open
inputs.py      what programs send: shapes made of the pages' own forms
for_workers.py, for_readers.py, for_admins.py   what they are told, one file an audience
paging.py      lists by key, without counting
errors.py      every refusal in one form
work.py, projects.py, items.py, stages.py, imports.py, exports.py   the views
schema.py      the OpenAPI document
"""
