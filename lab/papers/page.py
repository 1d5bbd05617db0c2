"""The page: for each experiment what was asked, the paper's figures beside ours, the drawings, and
how to repeat it."""

import base64
import html

from papers import draw
from papers.outcome import Failure, plain, tally

# What the rows' own figures are called, by unit.
BESIDE = {"ratio": "ratios", "%": "per cent of the run", "count": "counts"}

STYLE = """
:root { color-scheme: light dark; --ink: #1f2933; --paper: #fff; --faint: #69737d; --line: #d9dee3; }
@media (prefers-color-scheme: dark) { :root { --ink: #d9dee3; --paper: #14181c; --faint: #98a2ad; --line: #333b43; } }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; font: 16px/1.5 system-ui, sans-serif;
  color: var(--ink); background: var(--paper); }
table { border-collapse: collapse; margin: 1rem 0; } caption { text-align: left; font-weight: bold; }
th, td { text-align: right; padding: 0.25rem 0.9rem; border-bottom: 1px solid var(--line); }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
td.words { text-align: left; } section { border-top: 1px solid var(--line); margin-top: 2.5rem; }
.faint { color: var(--faint); } .figures { display: flex; flex-wrap: wrap; gap: 1rem; } picture { flex: 0 1 29rem; }
.scroll { overflow-x: auto; }
img { width: 100%; }
pre { overflow-x: auto; padding: 0.7rem; border: 1px solid var(--line); font-size: 0.8rem; }
"""


def number(value):
    if value is None:
        return "-"
    return f"{value:,.0f}" if value == int(value) else plain(value, 3)


def rows_of(rows):
    lines = []
    for row in rows:
        cells = [html.escape(row.what), number(row.paper), number(row.ours), row.verdict()]
        lines.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    return "".join(lines)


def picture(title, svg):
    """Returns an image that follows the page's theme, inside the page; `svg` draws it for a
    theme."""
    data = {theme: base64.b64encode(svg(theme)).decode() for theme in draw.INKS}
    return (
        f'<picture><source media="(prefers-color-scheme: dark)" srcset="data:image/svg+xml;base64,{data["dark"]}">'
        f'<img src="data:image/svg+xml;base64,{data["light"]}" alt="{html.escape(title)}"></picture>'
    )


def pictures(outcome, ours="here"):
    """Returns the experiment's figures, then every number of the paper's beside ours, by unit."""
    found = [picture(figure.title, lambda theme, figure=figure: draw.svg(figure, theme, ours)) for figure in outcome.figures]
    for unit, name in BESIDE.items():
        title = f"{name}, paper and {ours}"
        rows = [row for row in outcome.rows if row.scale() == unit and (row.paper or 0) > 0 and row.ours > 0]
        if rows:
            found.append(picture(title, lambda theme, title=title, rows=rows: draw.beside_svg(title, rows, theme, ours)))
    return "".join(found)


def agreement(outcome):
    text = tally(outcome.rows)
    return f"<p><strong>{text[0].upper()}{text[1:]}.</strong></p>" if text else ""


def in_a_word(outcome):
    if isinstance(outcome, Failure):
        return "<strong>failed</strong>"
    return tally(outcome.rows) or "the paper prints no number"


def overview(results):
    """Returns what was run here, then what was simulated, a table each."""
    tables = ""
    for is_simulated, title in ((False, "Run on this machine"), (True, "Simulated, on machines as the papers describe them")):
        some = [(experiment, outcome) for experiment, outcome in results if experiment.is_simulated == is_simulated]
        tables += overview_table(title, some) if some else ""
    return tables


def overview_table(title, results):
    lines = [
        f'<tr><td><a href="#{experiment.key}">{experiment.key}</a> {html.escape(experiment.title)}</td>'
        f'<td class="words">{in_a_word(outcome)}</td></tr>'
        for experiment, outcome in results
    ]
    return f"<table><caption>{title}</caption><tr><th>experiment</th><th>what agrees</th></tr>{''.join(lines)}</table>"


def found(experiment, outcome):
    """Returns the rows, the drawings and what follows from them; of a failure, why and what was
    printed."""
    if isinstance(outcome, Failure):
        output = f'<details><summary>What it printed</summary><pre tabindex="0">{html.escape(outcome.output)}</pre></details>'
        return f"<p><strong>Failed:</strong> {html.escape(outcome.why)}</p>{output if outcome.output else ''}"
    remarks = "".join(f"<p>{html.escape(remark)}</p>" for remark in outcome.remarks)
    head = f"<tr><th>measured</th><th>paper</th><th>{experiment.ours}</th><th>compared</th></tr>"
    return (
        f'{agreement(outcome)}<div class="scroll" tabindex="0"><table>{head}{rows_of(outcome.rows)}</table></div>'
        f'<div class="figures">{pictures(outcome, experiment.ours)}</div>{remarks}'
    )


def section(experiment, outcome):
    commands = html.escape("\n".join(outcome.commands))
    told = "Simulated" if experiment.is_simulated else "Here"
    return (
        f'<section id="{experiment.key}"><h2>{experiment.key}: {html.escape(experiment.title)}</h2>'
        f'<p class="faint">{html.escape(experiment.paper)}</p><p>{html.escape(experiment.asked)}</p>'
        f'<p class="faint">{told}: {html.escape(experiment.scaled)}</p>'
        f"{found(experiment, outcome)}"
        f'<details><summary>Commands</summary><pre tabindex="0">{commands}</pre></details></section>'
    )


def page(results):
    """`results`: [(experiment, its outcome or failure)]."""
    sections = "".join(section(experiment, outcome) for experiment, outcome in results)
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>The papers, run again</title><style>{STYLE}</style><main><h1>The papers, run again</h1>"
        "<p>Figures that the papers print, beside those of this machine today. Ratios are medians over cycles in which the "
        "variants take turns; every byte is checked. In figures, dashed lines and hatched bars are the paper's printed "
        "numbers, on the axes of ours. A ratio counts as the paper's up to a factor of 1.5. Simulated times are those of a "
        "model of the paper's machine, at the paper's size unless it says otherwise: the same command gives the same time.</p>"
        f"{overview(results)}{sections}</main></html>\n"
    )
