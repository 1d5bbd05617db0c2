"""The HTML pages of traces and of the papers, read by all: by eyes that want contrast, by ears, by
a keyboard alone, and on a narrow screen."""

import sys

import accessibility
import pytest
import stria_program
from report_test import COUNTERS, DESCRIPTION
from trace_pages import Page, make_trace, view

LABORATORY = stria_program.ROOT / "lab"
sys.path.insert(0, str(LABORATORY))
PAPERS = ["papers"] if LABORATORY.exists() else []

LONG_NAME = "/scratch/project/users/somebody/runs/blast/out/sedov_hdf5_chk_0001"


def make_papers(path):
    from papers import page
    from papers.outcome import Experiment, Failure, Figure, Outcome, Row

    rows = [Row("single requests over lists", 550, 549.6), Row("calls", 12, 12, True), Row("share", 8, 9, unit="%")]
    outcome = Outcome(rows, [Figure("Reads", "accesses", {"list": [(10, 2.0), (10000, 4000.0)]})], ["why"], ["a command"])
    experiments = [Experiment(key, "A paper", "A title", "Asked?", "scaled", None) for key in ("A", "B")]
    path.write_text(page.page([(experiments[0], outcome), (experiments[1], Failure("why", "printed"))]))
    return path


@pytest.fixture(scope="module")
def pages(session_directory):
    files = {"counters": [{"rank": 0, "file": LONG_NAME, "values": COUNTERS}]}
    facts = {"facts": [{"rank": 0, "file": LONG_NAME, "key": "method", "value": "two_phase"}]}
    trace = make_trace(session_directory / "all.stria-trace", DESCRIPTION | files | facts)
    report = session_directory / "all_report.html"
    stria_program.run("trace", "report", trace, "-o", report, "--limit", 1000).succeeded()
    made = {"report": report, "timeline": view(trace, session_directory / "all_timeline.html")}
    return made | {name: make_papers(session_directory / "papers.html") for name in PAPERS}


@pytest.mark.parametrize("name", ["report", "timeline", *PAPERS])
def test_pages_can_be_read_by_all(browser, pages, name):
    for width, dark in [(400, False), (1400, True), (400, True), (1400, False)]:
        page = Page(browser, pages[name], width=width, dark=dark)
        if name == "timeline":
            page.ready()
        assert accessibility.violations(page.page) == [], (width, dark)
        assert page.complaints == []
        page.close()


@pytest.mark.parametrize("name", ["report", *PAPERS])
def test_a_narrow_screen_shows_words_not_letters(browser, pages, name):
    page = Page(browser, pages[name], width=400)
    assert page.page.evaluate("document.documentElement.scrollWidth") <= 400
    heights = page.page.evaluate("[...document.querySelectorAll('td:first-child')].map((cell) => cell.clientHeight)")
    assert heights and max(heights) < 120, "a name has a few lines"
    page.close()
