"""The page: for each experiment what was asked, the paper's figures beside ours, the drawings, and
how to repeat it."""

import base64
import html

from papers import draw

STYLE = """
:root { color-scheme: light dark; --ink: #1f2933; --paper: #fff; --faint: #69737d; --line: #d9dee3; }
@media (prefers-color-scheme: dark) { :root { --ink: #d9dee3; --paper: #14181c; --faint: #98a2ad; --line: #333b43; } }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; font: 16px/1.5 system-ui, sans-serif;
  color: var(--ink); background: var(--paper); }
table { border-collapse: collapse; margin: 1rem 0; }
th, td { text-align: right; padding: 0.25rem 0.9rem; border-bottom: 1px solid var(--line); }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
section { border-top: 1px solid var(--line); margin-top: 2.5rem; }
.faint { color: var(--faint); } .figures { display: flex; flex-wrap: wrap; gap: 1rem; } picture { flex: 0 1 29rem; }
img { width: 100%; }
pre { overflow-x: auto; padding: 0.7rem; border: 1px solid var(--line); font-size: 0.8rem; }
"""


def number(value):
    if value is None:
        return "-"
    return f"{value:,.0f}" if value == int(value) and abs(value) >= 10 else f"{value:.3g}"


def rows_of(rows):
    lines = []
    for row in rows:
        verdict = {True: "the same", False: "another", None: ""}[row.agrees()]
        cells = [html.escape(row.what), number(row.paper), number(row.ours), verdict]
        lines.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    return "".join(lines)


def picture(figure):
    """An image that follows the page's theme, inside the page."""
    data = {theme: base64.b64encode(draw.svg(figure, theme)).decode() for theme in draw.INKS}
    return (
        f'<picture><source media="(prefers-color-scheme: dark)" srcset="data:image/svg+xml;base64,{data["dark"]}">'
        f'<img src="data:image/svg+xml;base64,{data["light"]}" alt="{html.escape(figure.title)}"></picture>'
    )


def section(experiment, outcome):
    remarks = "".join(f"<p>{html.escape(remark)}</p>" for remark in outcome.remarks)
    commands = html.escape("\n".join(outcome.commands))
    return (
        f'<section id="{experiment.key}"><h2>{experiment.key}: {html.escape(experiment.title)}</h2>'
        f'<p class="faint">{html.escape(experiment.paper)}</p><p>{html.escape(experiment.asked)}</p>'
        f'<p class="faint">Here: {html.escape(experiment.scaled)}</p>'
        f"<table><tr><th></th><th>paper</th><th>here</th><th></th></tr>{rows_of(outcome.rows)}</table>"
        f'<div class="figures">{"".join(map(picture, outcome.figures))}</div>{remarks}'
        f"<details><summary>Commands</summary><pre>{commands}</pre></details></section>"
    )


def page(results):
    """`results`: [(experiment, outcome)]."""
    links = " · ".join(f'<a href="#{experiment.key}">{experiment.key}</a>' for experiment, _ in results)
    sections = "".join(section(experiment, outcome) for experiment, outcome in results)
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>The papers, run again</title><style>{STYLE}</style><h1>The papers, run again</h1>"
        "<p>Figures that the papers print, beside those of this machine today. Ratios are medians over cycles in which the "
        "variants take turns; every byte is checked.</p>"
        f"<p>{links}</p>{sections}</html>\n"
    )
