"""The report of a run, as a reader sees it."""

import json
import re
import socket

import pytest
import stria_program
from trace_pages import LATE_KINDS, MS, Page, make_trace, span

MIB = 1 << 20

# Two ranks for a second, much of it packing, one put a commit; rank 1 dropped records; the name of
# the file is hostile.
FILE = "chk_<i>0001</i>"
COUNTERS = {
    "opens": 1, "puts": 4, "commits": 4, "bytes_put": 50 * MIB, "bytes_written": 50 * MIB, "write_requests": 100,
    "write_pieces": 100, "sequential_writes": 100, "write_sizes_100K-1M": 100, "pack_ns": 300 * MS, "write_ns": 100 * MS,
}  # fmt: skip
DESCRIPTION = {
    "program": "flash_io",
    "command": "flash_io --nvar 24",
    "ranks": [{"end_ns": 1000 * MS}, {"end_ns": 1000 * MS, "dropped": 100}],
    "events": [
        event
        for rank in range(2)
        for event in (
            span(rank, "File::commit", 100, 600, id=1),
            span(rank, "pack", 100, 400, id=2, parent=1),
            span(rank, "storage write", 400, 500, id=3, parent=1, bytes=50 * MIB),
        )
    ],
    "counters": [{"rank": rank, "file": FILE, "values": COUNTERS} for rank in range(2)],
    "facts": [{"rank": 0, "file": FILE, "key": "method", "value": "two_phase"},
              {"rank": 0, "file": FILE, "key": "hint cb_nodes", "value": "2"}],
}  # fmt: skip


def in_one_line(text):
    return " ".join(text.split())


@pytest.fixture(scope="module")
def trace(session_directory):
    return make_trace(session_directory / "report.stria-trace", DESCRIPTION)


@pytest.fixture(scope="module")
def report(session_directory, trace):
    paths = session_directory / "report.html", session_directory / "report.json"
    stria_program.run("trace", "report", trace, "-o", paths[0], "--json", paths[1], "--limit", 1000).succeeded()
    return paths


@pytest.fixture(scope="module")
def page(browser, report):
    page = Page(browser, report[0], height=1600)
    yield page
    assert page.complaints == []
    assert len(page.requested) == 1, "needs nothing but itself"


def test_headline_says_share_rate_and_how_far_from_the_limit(page):
    # 0.5 of 1 s on each rank; 105 MB in 0.5 s = 210 MB/s = 21 % of 1000
    assert page.text(".headline") == (
        "I/O took 50 % of the run's time. While it did, data moved at 210 MB/s, 21 % of what the storage can do."
    )
    assert page.page.content().count("1,000 MB/s") == 1, "the limit is said once"


def test_findings_have_evidence_and_advice(page):
    for item in page.page.locator(".findings:not(.remarks) li").all():
        assert any(c.isdigit() for c in item.locator("h3").inner_text() + item.locator(".evidence").inner_text())
        assert item.locator(".advice").inner_text().startswith("What to change.")
    packing = page.page.locator("[data-rule=packing]")
    assert packing.locator("h3").inner_text().startswith("60 % of the time in I/O is packing"), "as the breakdown says"
    assert "600 ms of 1.00 s" in packing.locator(".evidence").inner_text()
    assert "put all of them, then commit once" in packing.locator(".advice").inner_text()
    assert page.page.locator("[data-rule=far_from_limit]").count() == 1
    assert page.page.locator("[data-rule=sync]").count() == 0


def test_breakdown_bar_is_as_long_as_the_phases(page):
    """800 ms of phases and 200 ms besides: pack 60 %, write 20 %, outside of them
    20 %, by pixels."""
    bar = page.page.locator("svg.bar")
    assert "outside the phases 20 %" in bar.get_attribute("aria-label")
    assert "pack 60 %" in bar.get_attribute("aria-label")
    box = bar.bounding_box()
    picture = page.picture()
    y = round(box["y"] + box["height"] / 2)
    row = [picture.getpixel((round(box["x"]) + 4 + x, y)) for x in range(round(box["width"]) - 8)]
    for name, share in [("p-pack", 0.6), ("p-write", 0.2), ("p-other", 0.2)]:
        color = page.page.evaluate(f"getComputedStyle(document.querySelector('.legend .{name}')).backgroundColor")
        rgb = tuple(int(part) for part in color.strip("rgb()").split(","))
        assert row.count(rgb) / len(row) == pytest.approx(share, abs=0.02), name


def test_every_part_has_a_colour(browser, session_directory):
    """Parts that no rule of the style colours would be black."""
    spans = [
        span(0, "File::commit", 0, 900, id=1), span(0, "pack", 0, 100, id=2, parent=1),
        span(0, "message wait", 100, 300, id=3, parent=1), span(0, "storage sync", 300, 500, id=4, parent=1),
        span(0, "share memory", 500, 700, id=5, parent=1), span(0, "plan", 700, 800, id=6, parent=1),
        span(0, "commit", 800, 820, id=7, parent=1), span(0, "storage name", 820, 840, id=8, parent=1),
        span(0, "write", 840, 860, id=9, parent=1), span(0, "storage close", 860, 880, id=10, parent=1),
        span(0, "background wait", 900, 940, id=11),
        span(0, "background write", 900, 920, id=12, thread=1), span(0, "background end", 920, 940, id=13, thread=1),
    ]  # fmt: skip
    description = {"ranks": [{"end_ns": 1000 * MS}], "kinds": LATE_KINDS, "events": spans}
    trace = make_trace(session_directory / "parts.stria-trace", description)
    path = session_directory / "parts.html"
    stria_program.run("trace", "report", trace, "-o", path).succeeded()
    shown = Page(browser, path)
    colors = shown.page.evaluate("[...document.querySelectorAll('svg.bar rect')].map((r) => getComputedStyle(r).fill)")
    shown.close()
    assert len(colors) == 11 and len(set(colors)) == 11 and "rgb(0, 0, 0)" not in colors


# The state of the timeline that has the colour of a part of the report: its own, or the most of it.
STATE_OF_PART = {
    "write": "storage write", "read": "storage read", "sync": "storage sync", "waiting": "message wait",
    "turn": "turn wait", "sharing": "share memory", "background": "background wait", "name": "storage name",
    "close": "storage close", "reserve": "storage reserve", "resize": "storage resize", "other": "File::open",
}  # fmt: skip
NO_PARTS = {"ground", "panel", "ink", "muted", "line", "alert", "alert-ink"}


def test_a_part_has_the_colour_of_its_state_in_the_timeline():
    palette = (stria_program.ROOT / "tools/viewer/page/picture/palette.js").read_text()
    states = {name: colours for name, *colours in re.findall(r'\["([^"]+)", "(#\w+)", "(#\w+)"\]', palette)}
    style = (stria_program.ROOT / "tools/report/report_style.cpp").read_text()
    light, dark = (
        dict(re.findall(r"--([\w-]+): (#\w+);", block)) for block in re.findall(r":root \{(.*?)\}", style, re.DOTALL)
    )
    parts = set(light) - NO_PARTS
    assert len(parts) > 15 and set(light) == set(dark)
    for part in parts:
        assert [light[part], dark[part]] == states[STATE_OF_PART.get(part, part)], part


def test_sizes_that_no_piece_has_take_no_row(page):
    rows = page.page.locator("svg[aria-label^='Pieces by size'] text").all_text_contents()
    assert rows == ["100 kB to 1 MB", "200"]


def test_little_io_leaves_nothing_to_do(browser, session_directory):
    """Small pieces that are a finding elsewhere are only a remark where I/O is 0.9 % of the run."""
    counters = COUNTERS | {"pack_ns": 0, "write_ns": 18 * MS, "write_pieces": 1000, "write_sizes_10K-100K": 1000}
    description = DESCRIPTION | {
        "ranks": [{"end_ns": 2000 * MS}] * 2,
        "events": [],
        "counters": [{"rank": rank, "file": FILE, "values": counters} for rank in range(2)],
    }
    paths = session_directory / "little.html", session_directory / "little.json"
    small = make_trace(session_directory / "little.stria-trace", description)
    outcome = stria_program.run("trace", "report", small, "-o", paths[0], "--json", paths[1], "--limit", 1000).succeeded()
    assert outcome.stdout.startswith("Nothing to do: I/O took 0.9 % of the run's time.")
    assert "\n2 remarks\n" in outcome.stdout and "finding" not in outcome.stdout
    numbers = json.loads(paths[1].read_text())
    assert numbers["findings"] == [] and numbers["verdict"] == "little"
    assert "small_requests" in {remark["rule"] for remark in numbers["remarks"]}
    shown = Page(browser, paths[0])
    assert "Nothing to do" in shown.text(".headline") and "finding" not in shown.text("main").split("Remarks")[0]
    assert shown.page.locator(".remarks [data-rule=small_requests]").count() == 1
    shown.close()


def test_files_are_listed_with_method_and_hints(page):
    row = page.page.locator("tbody tr").first
    assert FILE in row.inner_text(), "the name is text, not markup"
    assert "two_phase" in row.inner_text() and "105 MB" in row.inner_text()
    row.locator("summary").click()
    assert "hint cb_nodes" in row.inner_text()


def test_what_was_dropped_is_said_at_the_top(page):
    assert "100 records were dropped" in page.page.get_by_role("alert").first.inner_text()


def test_programs_get_the_same(report):
    numbers = json.loads(report[1].read_text())
    assert numbers["io_share"] == pytest.approx(0.5)
    assert {finding["rule"] for finding in numbers["findings"]} >= {"packing", "far_from_limit"}
    assert numbers["verdict"] == "below_limit"
    assert numbers["limit"] == {"bytes_per_second": 1e9, "source": "as given"}


def test_without_a_limit_a_run_is_not_compared_with_itself(session_directory, trace):
    paths = session_directory / "alone.html", session_directory / "alone.json"
    outcome = stria_program.run("trace", "report", trace, "-o", paths[0], "--json", paths[1]).succeeded()
    assert "the limit is" not in outcome.stdout
    numbers = json.loads(paths[1].read_text())
    assert numbers["verdict"] == "not_compared" and numbers["limit"]["bytes_per_second"] == 0


def test_the_directory_of_a_run_of_this_machine_is_probed_unasked(session_directory):
    directory = session_directory / "run"
    directory.mkdir()
    description = DESCRIPTION | {
        "ranks": [{"end_ns": 1000 * MS, "host": socket.gethostname()}] * 2,
        "counters": [{"rank": rank, "file": str(directory / "chk"), "values": COUNTERS} for rank in range(2)],
        "facts": [],
    }
    trace = make_trace(session_directory / "here.stria-trace", description)
    outcome = stria_program.run("trace", "report", trace, "-o", session_directory / "here.html").succeeded()
    assert f"wrote to {directory}" in in_one_line(outcome.stdout) and list(directory.iterdir()) == []
    outcome = stria_program.run("trace", "report", trace, "-o", session_directory / "here.html", "--no-probe").succeeded()
    assert "the limit is" not in outcome.stdout


def test_probe_measures_the_storage(session_directory, trace):
    outcome = stria_program.run(
        "trace", "report", trace, "-o", session_directory / "probed.html", "--probe", session_directory
    ).succeeded()
    assert f"which 2 writers at once, as many as the run had, wrote to {session_directory}" in in_one_line(outcome.stdout)
    stria_program.run("trace", "report", trace, "--probe", "/nowhere/at/all").refused("/nowhere/at/all")


def test_a_run_faster_than_the_probe_is_at_the_limit(session_directory, trace):
    """No share above 100 %: that would say more than a probe can."""
    path = session_directory / "fast.html"
    outcome = stria_program.run("trace", "report", trace, "-o", path, "--limit", 100).succeeded()
    assert "Data moved at 210 MB/s; the limit is 100 MB/s, as given." in outcome.stdout
    assert "Nothing to do about how this run does its I/O" in outcome.stdout
    assert " 210 %" not in path.read_text() and "at the limit</b>" in path.read_text()


def test_refuses_what_is_no_trace(session_directory):
    path = session_directory / "none.stria-trace"
    path.write_bytes(b"nothing of the kind")
    stria_program.run("trace", "report", path).refused("none.stria-trace")
