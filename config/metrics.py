"""Prometheus's text format, version 0.0.4: https://prometheus.io/docs/instrumenting/exposition_formats/."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


@dataclass(frozen=True)
class Sample:
    value: float
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Metric:
    """A name with its samples. kind: counter (only ever grows) or gauge."""

    name: str
    kind: str
    meaning: str
    samples: tuple[Sample, ...]


def exposition(metrics: Iterable[Metric]) -> str:
    """What a Prometheus server reads; a metric without samples is left out."""
    lines: list[str] = []
    for metric in metrics:
        if metric.samples:
            lines.append(f"# HELP {metric.name} {_escaped(metric.meaning)}")
            lines.append(f"# TYPE {metric.name} {metric.kind}")
            lines += [f"{metric.name}{_labels(sample.labels)} {_number(sample.value)}" for sample in metric.samples]
    return "".join(f"{line}\n" for line in lines)


def _labels(labels: Mapping[str, str]) -> str:
    named = [f'{name}="{_escaped(value, quotes=True)}"' for name, value in labels.items()]
    return f"{{{','.join(named)}}}" if named else ""


def _escaped(text: str, *, quotes: bool = False) -> str:
    text = text.replace("\\", "\\\\").replace("\n", "\\n")
    return text.replace('"', '\\"') if quotes else text


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(float(value))
