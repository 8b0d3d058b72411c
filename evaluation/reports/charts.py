"""The chart of a report: people and one run, all items and by stratum, with intervals. No Django.

Altair writes the specification and vl-convert draws it in a JavaScript engine of its own: both are imported on use,
which is in a worker or a command, after any fork, and never in a request.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

Scheme = Literal["light", "dark"]

# The tokens of static/goldpanel.css. The ground is transparent in SVG, so that the page's own shows through.
COLOURS: dict[Scheme, dict[str, str]] = {
    "light": {"ink": "#1d2128", "soft": "#5b6470", "line": "#e4e0d8", "people": "#005a94", "model": "#8a3b12"},
    "dark": {"ink": "#e8e6e1", "soft": "#a4abb6", "line": "#31363e", "people": "#6bb8ea", "model": "#f0a37e"},
}
CARD = "#ffffff"
FONT = "Noto Sans, DejaVu Sans, sans-serif"
ALL_ITEMS = "All items"
# A chart of more rows is read nowhere; the table has them all.
MAX_ROWS = 40
_ROW = 34
_MOST_LABEL_PIXELS = 190
_CHARACTER_PIXELS = 8


def chart_rows(figures: Sequence[Mapping[str, Any]], *, scorer: str, run: int | None) -> list[dict[str, Any]]:
    """What is drawn: mean person and one run, over all items first, then each stratum with a figure.

    Values and bounds in per cent, as axis and marks show them.
    """
    drawn = []
    for figure in figures:
        is_overall = figure["section"] == "accuracy" and figure["denominator"] == "all"
        is_ours = figure["row"] == "people_mean" or (run is not None and figure["run"] == run)
        if not is_ours or figure["measure"] != scorer or figure["value"] is None:
            continue
        if not is_overall and figure["section"] != "breakdown":
            continue
        has_interval = figure["lower"] is not None
        drawn.append(
            {
                "panel": figure["stratum"] or ALL_ITEMS,
                "row": figure["stratum_value"] or ALL_ITEMS,
                "who": figure["who"],
                "value": 100 * figure["value"],
                "lower": 100 * (figure["lower"] if has_interval else figure["value"]),
                "upper": 100 * (figure["upper"] if has_interval else figure["value"]),
            }
        )
    rows = list(dict.fromkeys((point["panel"], point["row"]) for point in drawn))[:MAX_ROWS]
    return [point for point in drawn if (point["panel"], point["row"]) in rows]


def chart_spec(
    rows: Sequence[Mapping[str, Any]], *, people: str, model: str | None, measure: str, description: str, scheme: Scheme
) -> dict[str, Any]:
    """The Vega-Lite specification. People are circles and models squares, so that colour is never alone."""
    import altair as alt

    colours = COLOURS[scheme]
    names = {"people": people, "model": model or ""}
    voices = ["people", "model"] if model else ["people"]
    panels = list(dict.fromkeys(str(row["panel"]) for row in rows))
    values = [{**row, "name": names[str(row["who"])]} for row in rows]
    domain = [names[voice] for voice in voices]
    scale = alt.Scale(domain=domain, range=[colours[voice] for voice in voices])
    shapes = alt.Scale(domain=domain, range=["circle" if voice == "people" else "square" for voice in voices])
    legend = alt.Legend(title=None, orient="top", direction="horizontal", symbolSize=110, labelLimit=320)
    # As wide as the longest label and the same in every panel, so that their scales stand below one another.
    longest = max((len(str(row["row"])) for row in rows), default=0)
    label_pixels = min(_MOST_LABEL_PIXELS, _CHARACTER_PIXELS * longest)
    charts = []
    for panel in panels:
        is_last = panel == panels[-1]
        in_panel = [value for value in values if value["panel"] == panel]
        order = list(dict.fromkeys(value["row"] for value in in_panel))
        title = f"{measure}, in %" if is_last else None
        scale_x = alt.Scale(domain=[0, 100], nice=False)
        axis_x = alt.Axis(
            values=[0, 25, 50, 75, 100], labels=is_last, labelFlush=False, grid=True, ticks=False, domain=False
        )
        y = alt.Y(
            "row:N",
            sort=order,
            title=None,
            axis=alt.Axis(labelLimit=_MOST_LABEL_PIXELS, minExtent=label_pixels, ticks=False, domain=False),
        )
        offset = alt.YOffset("name:N", sort=domain, scale=alt.Scale(domain=domain, paddingOuter=0.6))
        base = alt.Chart(alt.InlineData(values=in_panel)).encode(y=y, yOffset=offset)
        bars = base.mark_rule(strokeWidth=2.5).encode(
            x=alt.X("lower:Q", title=title, scale=scale_x, axis=axis_x),
            x2=alt.X2("upper:Q"),
            color=alt.Color("name:N", scale=scale, legend=legend),
        )
        marks = base.mark_point(filled=True, size=110, opacity=1).encode(
            x=alt.X("value:Q", title=title, scale=scale_x, axis=axis_x),
            color=alt.Color("name:N", scale=scale, legend=legend),
            shape=alt.Shape("name:N", scale=shapes, legend=legend),
        )
        drawing = (bars + marks).properties(width=420, height=_ROW * len(order))
        if panel != ALL_ITEMS:
            drawing = drawing.properties(title=alt.TitleParams(text=panel, anchor="start", frame="group"))
        charts.append(drawing)
    chart = alt.vconcat(*charts, spacing=10).resolve_scale(color="shared", shape="shared")
    chart = chart.properties(background="transparent", description=description)
    chart = chart.configure(font=FONT, padding={"left": 4, "top": 4, "right": 20, "bottom": 4}).configure_view(
        stroke=None
    )
    chart = chart.configure_axis(
        labelColor=colours["ink"],
        titleColor=colours["soft"],
        gridColor=colours["line"],
        labelFontSize=13,
        titleFontSize=12,
        titleFontWeight="normal",
        labelPadding=8,
    )
    chart = chart.configure_legend(labelColor=colours["ink"], labelFontSize=13)
    chart = chart.configure_title(color=colours["soft"], fontSize=13, fontWeight="normal")
    return dict(json.loads(chart.to_json(validate=True)))


def svg(spec: Mapping[str, Any]) -> bytes:
    """The drawing as SVG text. No address in it is fetched."""
    import vl_convert

    return str(vl_convert.vegalite_to_svg(json.dumps(spec), allowed_base_urls=[])).encode()


def png(spec: Mapping[str, Any]) -> bytes:
    """The drawing as PNG, at twice its size for print, on a white ground."""
    import vl_convert

    opaque = {**spec, "background": CARD}
    return bytes(vl_convert.vegalite_to_png(json.dumps(opaque), scale=2, allowed_base_urls=[]))
