"""The direction of imports, and a few habits, read from the source (docs/decisions, style)."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from config.env import PROJECT

PACKAGES = ("config", "annotate", "evaluation", "tests", "benchmarks")
# What a pure module is: it runs on plain values, without Django, a database or a network of its own.
PURE = (
    *("annotate.answers", "annotate.sources", "annotate.resolution", "annotate.allocation", "annotate.sampling"),
    *("annotate.auditing", "annotate.debiasing", "annotate.hints", "annotate.reaching", "annotate.rewriting"),
    *(
        "annotate.stage_options",
        "annotate.checking",
        "annotate.contribution",
        "annotate.proportions",
        "annotate.signals",
    ),
    *("annotate.addresses", "annotate.codes", "annotate.csv_text", "annotate.languages", "annotate.shown"),
    *("annotate.normal_form", "annotate.wording", "annotate.protocols", "evaluation.protocols"),
    *("evaluation.stats", "evaluation.scorers", "evaluation.prompts", "evaluation.parsing", "evaluation.clients"),
    *("evaluation.conversations", "evaluation.strategies"),
    *("evaluation.storable", "evaluation.reports.comparison", "evaluation.reports.figures"),
    *("evaluation.reports.charts", "evaluation.reports.tables", "evaluation.reports.words"),
    *("evaluation.reports.account", "evaluation.reports.mcnemar", "evaluation.reports.metric_study"),
    *("evaluation.reports.spread", "evaluation.reports.sheets", "evaluation.reports.further_sections"),
    "evaluation.reports.all_sections",
    *("evaluation.demo.browser", "evaluation.demo.playing", "evaluation.demo.sample_people"),
)
PURE_MAY_IMPORT = {
    *("numpy", "scipy", "statsmodels", "sklearn", "rapidfuzz", "rouge_score", "sacrebleu", "nltk", "dateutil"),
    *sys.stdlib_module_names,
}
# Beyond that, and only there: templates for prompts, HTTP for clients, drawing for charts, encodings and safe XML for
# what people upload.
PURE_MAY_ALSO_IMPORT = {
    "evaluation.prompts": {"jinja2"},
    "evaluation.clients": {"aiohttp", "yarl"},
    "evaluation.reports.charts": {"altair", "vl_convert"},
    "annotate.sources": {"charset_normalizer", "defusedxml", "openpyxl", "pyarrow"},
    "annotate.protocols": {"yaml"},
}
HEAVY = ("numpy", "scipy", "altair", "aiohttp", "vl_convert", "jinja2", "sklearn", "statsmodels", "nltk", "pyarrow")
EDGES = ("views", "api", "urls", "admin", "management")


def sources() -> dict[str, Path]:
    """Every module of the project by its dotted name."""
    modules = {}
    for package in PACKAGES:
        for path in sorted((PROJECT / package).rglob("*.py")):
            parts = path.relative_to(PROJECT).with_suffix("").parts
            modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return modules


MODULES = sources()


def imports_of(name: str) -> Iterator[tuple[str, int]]:
    """(dotted name, line) of everything a module imports anywhere in it, also inside functions and for types only."""
    path = MODULES[name]
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), path)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = package.split(".")
                base = ".".join([*parents[: len(parents) - node.level + 1], *([base] if base else [])])
            for alias in node.names:
                # `from a.b import c` names the module a.b.c where that is one, else a thing in a.b.
                yield (f"{base}.{alias.name}" if f"{base}.{alias.name}" in MODULES else base), node.lineno


def is_in(name: str, packages: tuple[str, ...]) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def edges() -> tuple[str, ...]:
    """Where requests and commands come in: pages, forms of any name, the API, commands."""
    forms = [name for name in MODULES if name.partition(".")[0] != "tests" and name.endswith("forms")]
    return (*(f"{side}.{part}" for side in ("annotate", "evaluation") for part in EDGES), *forms)


def offences(within: tuple[str, ...], forbidden: tuple[str, ...]) -> list[str]:
    return [
        f"{MODULES[name].relative_to(PROJECT)}:{line} imports {imported}"
        for name in MODULES
        if is_in(name, within)
        for imported, line in imports_of(name)
        if is_in(imported, forbidden)
    ]


def test_the_reader_of_imports_sees_all_kinds():
    # It reads this very file, so a rule below cannot pass because nothing was found.
    seen = {imported for imported, _ in imports_of("tests.test_architecture")}
    assert {"ast", "pathlib", "config.env", "collections.abc"} <= seen
    assert {"annotate.models", "evaluation.models"} <= MODULES.keys()


def test_the_human_side_never_imports_the_model_side():
    assert offences(("annotate",), ("evaluation",)) == []


def test_the_configuration_imports_neither_side_but_for_the_doctor():
    # It asks when a worker was last heard.
    others = tuple(name for name in MODULES if is_in(name, ("config",)) and name not in {"config", "config.doctor"})
    assert offences(others, ("annotate", "evaluation")) == []


def test_no_part_of_the_platform_imports_its_tests():
    assert offences(("config", "annotate", "evaluation"), ("tests", "benchmarks")) == []


def test_models_and_querysets_import_nothing_that_calls_them():
    models = tuple(f"{side}.{part}" for side in ("annotate", "evaluation") for part in ("models", "querysets"))
    assert offences(models, ("annotate.services", "evaluation.services", *edges())) == []


def test_services_import_no_page_and_no_command():
    assert "annotate.project_forms" in edges()
    assert offences(("annotate.services", "evaluation.services"), edges()) == []


def test_pure_modules_import_only_what_is_pure():
    pure = {name for name in MODULES if is_in(name, PURE)}
    found = []
    # Whatever of ours a pure module imports must be pure too, all the way down.
    waiting = sorted(pure)
    while waiting:
        name = waiting.pop()
        more = [names for package, names in PURE_MAY_ALSO_IMPORT.items() if is_in(name, (package,))]
        allowed = PURE_MAY_IMPORT.union(*more)
        for imported, line in imports_of(name):
            if imported in MODULES:
                if imported not in pure:
                    pure.add(imported)
                    waiting.append(imported)
            elif imported.partition(".")[0] not in allowed:
                found.append(f"{MODULES[name].relative_to(PROJECT)}:{line} imports {imported}")
    assert found == []


def test_no_module_is_called_utils():
    assert [name for name in MODULES if {"utils", "util", "helpers", "misc"} & set(name.split("."))] == []


def test_no_benchmark_has_the_name_of_a_standard_module():
    # Started by its path, a script finds its neighbours first: benchmarks/statistics.py was taken for the library's.
    names = {path.stem for path in (PROJECT / "benchmarks").glob("*.py")}
    assert names & sys.stdlib_module_names == set()


def test_nobody_catches_everything():
    # Cleaning up and raising again is no catching.
    found = []
    for path in MODULES.values():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), path)):
            if isinstance(node, ast.ExceptHandler):
                caught = ast.walk(node.type) if node.type else ()
                names = {child.id for child in caught if isinstance(child, ast.Name)}
                raises_again = isinstance(node.body[-1], ast.Raise) and node.body[-1].exc is None
                if (not node.type or names & {"Exception", "BaseException"}) and not raises_again:
                    found.append(f"{path.relative_to(PROJECT)}:{node.lineno}")
    assert found == []


def test_starting_django_loads_no_heavy_library():
    # Every process pays for them: numpy and scipy alone are 0.3 s and 60 MB.
    assert loaded_by("django.setup()", HEAVY) == "[]"


def test_no_page_waits_for_a_heavy_library_and_neither_pages_nor_workers_for_the_api():
    # A web process imports all views with its first request, and the API with the first request of a program; a worker
    # imports tasks and services alone.
    api = ("rest_framework", "drf_spectacular.openapi", "annotate.api", "evaluation.api")
    pages = "django.setup(); from django.urls import resolve, reverse; resolve(reverse('home'))"
    assert loaded_by(pages, (*HEAVY, *api)) == "[]"
    assert loaded_by("django.setup(); import annotate.tasks, evaluation.tasks", api) == "[]"


def loaded_by(code: str, names: tuple[str, ...]) -> str:
    """Which of the names are among the modules of a process that did this."""
    code = f"import django, sys; {code}; print([name for name in {names!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, check=True)
    return done.stdout.strip()
