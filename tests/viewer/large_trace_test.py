"""A million spans on a thousand ranks: the page opens in 3 s and moves at 30 frames a second.

The best of three tries counts, because other programs may run beside. The goals are judged where
STRIA_TEST_SPEED is set, on a machine that does nothing else; otherwise the figures are printed, and
only a page that is slower by much fails.
"""

import os
import re
import time

import pytest
import trace_pages
from trace_pages import Page, make_large_trace, view

RANKS, EVENTS = 1000, 1000
PAN_SECONDS = 1.0
LOAD_SECONDS, FRAMES = (3, 30) if os.environ.get("STRIA_TEST_SPEED") else (30, 3)


@pytest.fixture(scope="module")
def path(session_directory):
    trace = make_large_trace(session_directory / "large.stria-trace", RANKS, EVENTS)
    page = view(trace, session_directory / "large.html")
    yield page
    page.unlink()
    trace.unlink()


def frames_a_second(page, share):
    """Pans a window of that share of the run to and fro, and counts the frames that were drawn."""
    return page.page.evaluate(
        """([share, seconds]) => new Promise((done) => {
            const { viewport } = stria;
            viewport.show(0, viewport.duration * share);
            let frames = 0, step = viewport.span / 50;
            const begin = performance.now();
            const next = () => {
              if (viewport.t1 + step > viewport.duration || viewport.t0 + step < 0) step = -step;
              viewport.pan(step);
              stria.draw();
              ++frames;
              const passed = (performance.now() - begin) / 1000;
              if (passed < seconds) requestAnimationFrame(next); else done(frames / passed);
            };
            requestAnimationFrame(next);
          })""",
        [share, PAN_SECONDS],
    )


def says_what_is_on_the_screen(page):
    """A thousand rows don't fit. The page says which do, and that changes with the wheel. Large
    rates have few digits."""
    assert re.search(r"rows 1 to \d+ of 1,000; Shift and the wheel scroll$", page.text("#extent"))
    assert re.search(r"at most [\d.,]{1,5} [GT]B/s", page.text("#summary"))
    x, y, width, height = page.box("#timeline")
    page.page.mouse.move(x + width / 2, y + height / 2)
    page.page.keyboard.down("Shift")
    page.page.mouse.wheel(0, 20_000)
    page.page.keyboard.up("Shift")
    page.settle()
    assert re.search(r"rows \d+ to 1,000 of 1,000; Shift and the wheel scroll$", page.text("#extent"))


def test_a_million_spans(path):
    loads, pans = [], {0.6: [], 0.1: [], 0.001: []}
    with trace_pages.browser() as browser:
        for _ in range(3):
            begin = time.monotonic()
            page = Page(browser, path).ready()
            loads.append(time.monotonic() - begin)
            assert page.page.evaluate("stria.model.count") >= 990_000
            says_what_is_on_the_screen(page)
            for share, rates in pans.items():
                rates.append(frames_a_second(page, share))
            assert page.complaints == []
            page.close()
            if min(loads) <= LOAD_SECONDS and all(max(rates) >= FRAMES for rates in pans.values()):
                break
    print(f"load {min(loads):.2f} s; frames a second { ({share: round(max(rates)) for share, rates in pans.items()}) }")
    assert min(loads) <= LOAD_SECONDS, loads
    assert all(max(rates) >= FRAMES for rates in pans.values()), pans
