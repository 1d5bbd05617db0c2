"""The timeline page as it opens: pixels of known states at known places, and texts for readers who
can't see them."""

import re

import pytest
import stria_program
import trace_pages
from trace_pages import Page, make_trace, span, view

# 100 ms, four ranks on two nodes. Rank 0 goes through all phases; ranks 1 to 3 pack from 20 to 60
# ms, rank 3 from 40.
EVENTS = [
    span(0, "File::commit", 10, 90, id=1, file="chk </script><b>1"),
    span(0, "pack", 20, 40, id=2, parent=1, file="chk </script><b>1"),
    span(0, "exchange", 40, 50, id=3, parent=1),
    span(0, "write", 50, 80, id=4, parent=1),
    span(0, "storage write", 50, 80, id=5, parent=4, bytes=6_000_000, offset=4096, count=12, file="chk </script><b>1"),
    span(0, "storage write", 85, 85.002, id=6, parent=1, bytes=512, offset=0, file="chk </script><b>1"),
    span(1, "pack", 20, 60),
    span(2, "pack", 20, 60),
    span(3, "pack", 40, 60),
    span(3, "storage sync", 60, 100),
]
DESCRIPTION = {
    "program": "flash_io",
    "command": "flash_io",
    "ranks": [
        {"node": r // 2, "host": f"nid{r // 2:02d}", "end_ns": 100 * trace_pages.MS, "dropped": 7 * (r == 2)} for r in range(4)
    ],
    "events": EVENTS,
}


@pytest.fixture(scope="module")
def path(session_directory):
    return view(make_trace(session_directory / "small.stria-trace", DESCRIPTION), session_directory / "small.html")


@pytest.fixture(scope="module")
def page(browser, path):
    page = Page(browser, path).ready()
    yield page
    page.close()


def test_opens_without_complaint_and_asks_for_nothing(page, path):
    assert page.complaints == []
    assert page.requested == [path.resolve().as_uri()]


@pytest.mark.parametrize(
    "rank, kind",
    [(0, "File::commit"), (0, "pack"), (0, "exchange"), (0, "storage write"), (1, "pack"), (3, "pack"), (3, "storage sync")],
)
def test_spans_have_the_colour_of_their_state(page, rank, kind):
    assert page.pixel(*page.place(rank, kind, share=0.97)) == page.color(kind)


def test_nothing_is_painted_where_nothing_was_recorded(page):
    ground = page.pixel(*page.place(2, "pack", share=1.5))
    assert ground == page.pixel(*page.place(3, "pack", share=-0.5))
    assert ground not in {page.color(kind) for kind in ("pack", "File::commit", "storage sync", "storage write")}


def test_preview_counts_the_ranks_in_each_state(page):
    """Three of four ranks pack at 30 ms, all but rank 0 do at 50 ms, and at 70 ms one writes and
    one syncs."""
    expected = [(0.3, "pack", 3), (0.5, "pack", 3), (0.45, "exchange", 1), (0.7, "storage write", 1), (0.7, "storage sync", 1)]
    for time, kind, ranks in expected:
        column = page.column("#states", time + 0.002)
        share = column.count(page.color(kind)) / (len(column) - 8)
        assert share == pytest.approx(ranks / 4, abs=0.03), (time, kind)


def test_what_is_in_flight_is_no_state(browser, session_directory):
    """A message that is posted during a whole commit neither hides what its rank does nor takes its
    place in the timeline."""
    events = [
        span(0, "File::commit", 10, 90, id=1),
        span(0, "receive", 12, 88, id=2, parent=1, peer=1, bytes=8),
        span(0, "pack", 20, 60, id=3, parent=1),
        span(1, "receive", 20, 60, peer=0, bytes=8),
    ]
    description = {"ranks": [{"end_ns": 100 * trace_pages.MS}] * 2, "events": events}
    trace = make_trace(session_directory / "flight.stria-trace", description)
    shown = Page(browser, view(trace, session_directory / "flight.html")).ready()
    at_40, at_70 = (shown.column("#states", time) for time in (0.402, 0.702))
    shares = {kind: at_40.count(shown.color(kind)) / (len(at_40) - 8) for kind in ("pack", "receive", "File::commit")}
    # Rank 0 packs; rank 1, which is in no call, has nothing but the message.
    assert shares == {"pack": pytest.approx(0.5, abs=0.05), "receive": pytest.approx(0.5, abs=0.05), "File::commit": 0}
    assert shown.color("receive") not in at_70 and shown.color("File::commit") in at_70
    depths = [shown.place(0, kind)[1] for kind in ("File::commit", "pack", "receive")]
    assert depths == sorted(depths) and len(set(depths)) == 3
    shown.close()


def test_overview_shows_the_whole_run_with_its_window(page):
    column = page.column("#overview", 0.3)
    assert column.count(page.color("pack")) / (len(column) - 8) == pytest.approx(0.75, abs=0.06)


def test_bandwidth_curve_is_filled_while_data_moves(page):
    ground = page.column("#bandwidth", 0.95)[30]
    assert page.column("#bandwidth", 0.65)[30] != ground
    assert page.column("#bandwidth", 0.35)[30] == ground


def test_request_sizes_are_drawn_where_requests_begin(page):
    shares = [share / 200 for share in range(200)]
    picture = page.picture()
    x, y, width, height = page.box("#sizes")
    write = page.color("storage write")

    def darkest(share):
        at = round(x + 118 + share * (width - 118))
        return min(sum(picture.getpixel((at, round(y) + row))) for row in range(4, round(height) - 4))

    marked = [share for share in shares if darkest(share) <= sum(write) + 30]
    assert marked, "no request is drawn"
    assert all(abs(share - 0.5) < 0.015 or abs(share - 0.85) < 0.015 for share in marked), marked
    assert any(share < 0.6 for share in marked) and any(share > 0.8 for share in marked)


def test_says_in_words_what_it_shows(page):
    summary = page.text("#summary")
    assert "0.000 s to 0.100 s of 0.100 s" in summary
    assert "4 ranks" in summary
    assert "pack 30 %" in summary  # 20 + 40 + 40 + 20 of 400 ms
    assert "storage sync 10 %" in summary
    assert "written 6 MB" in summary
    assert page.page.get_attribute("#timeline", "aria-label").endswith(summary)


def test_header_names_the_run(page):
    assert page.text("#program") == "flash_io"
    facts = page.text("#facts")
    assert "4 ranks" in facts and "2 nodes" in facts and "100 ms" in facts and "10 spans" in facts


def test_header_names_the_command_and_the_files(browser, session_directory):
    trace = session_directory / "named.stria-trace"
    description = DESCRIPTION | {"command": "/opt/bin/flash_io --nvar 24 --out x"}
    description["events"] = [span(0, "File::commit", 10, 90, file=f"out/chk_{n}") for n in range(5)]
    shown = Page(browser, view(make_trace(trace, description), session_directory / "named.html")).ready()
    assert shown.text("#program") == "flash_io --nvar 24 --out x"
    assert shown.page.title() == "flash_io --nvar 24 --out x – timeline"
    assert "5 files: chk_0, chk_1, chk_2 and 2 more" in shown.text("#facts")
    assert "chk_0, chk_1, chk_2 and 2 more" in shown.text("#extent")
    shown.close()


# Ten seconds of which 30 ms are I/O: 10 ms at 2 s, 20 ms at 7 s, in which rank 1 waits and
# rank 0 writes.
BURSTS = {
    "ranks": [{"end_ns": 10_000 * trace_pages.MS}] * 2,
    "events": [
        event
        for rank in range(2)
        for event in (
            span(rank, "File::commit", 2000, 2010, id=1),
            span(rank, "pack", 2000, 2010, id=2, parent=1),
            span(rank, "File::commit", 7000, 7020, id=3),
            span(rank, "barrier" if rank else "storage write", 7000, 7020, id=4, parent=3, bytes=-1 if rank else 1_000_000),
        )
    ],
}


@pytest.fixture(scope="module")
def bursts(browser, session_directory):
    trace = make_trace(session_directory / "bursts.stria-trace", BURSTS)
    page = Page(browser, view(trace, session_directory / "bursts.html")).ready()
    yield page
    assert page.complaints == []
    page.close()


def window_ms(page):
    return [time / trace_pages.MS for time in page.page.evaluate("[stria.viewport.t0, stria.viewport.t1]")]


def test_opens_on_the_longest_burst_of_a_run_that_mostly_computes(bursts):
    t0, t1 = window_ms(bursts)
    assert 6990 < t0 < 7000 and 7020 < t1 < 7030
    assert "burst 2 of 2" in bursts.text("#extent")
    assert bursts.pixel(*bursts.place(1, "barrier", share=0.9)) == bursts.color("barrier")


def test_steps_from_burst_to_burst(bursts):
    for do, where, text in [
        (lambda: bursts.page.click("#earlier"), 2005, "burst 1 of 2"),
        (lambda: bursts.page.click("#earlier"), 2005, "burst 1 of 2"),
        (lambda: bursts.page.click("#later"), 7010, "burst 2 of 2"),
        (lambda: bursts.page.focus("#timeline") or bursts.page.keyboard.press("B"), 2005, "burst 1 of 2"),
        (lambda: bursts.page.keyboard.press("b"), 7010, "burst 2 of 2"),
    ]:
        do()
        bursts.settle()
        t0, t1 = window_ms(bursts)
        assert t0 < where < t1 < t0 + 40, text
        assert text in bursts.text("#extent")
    bursts.page.click("#reset")
    bursts.settle()
    assert window_ms(bursts) == [0, 10_000]
    # The next burst lies behind the middle of the whole run.
    bursts.page.click("#later")
    bursts.settle()
    assert "burst 2 of 2" in bursts.text("#extent")


def test_bursts_of_a_hairline_are_marked_in_the_overview(bursts):
    bursts.page.click("#reset")
    bursts.settle()
    x, y, width, height = bursts.box("#overview")
    picture = bursts.picture()
    row = [picture.getpixel((round(x) + 120 + at, round(y + height) - 3)) for at in range(round(width) - 122)]
    accent = bursts.page.evaluate("stria.palette.accent")
    marked = [at / len(row) for at, pixel in enumerate(row) if "#" + bytes(pixel).hex() == accent]
    assert len(marked) >= 6 and all(abs(at - 0.2) < 0.01 or abs(at - 0.7) < 0.01 for at in marked), marked


def test_legend_speaks_of_the_io_in_view_and_hides_what_does_not_occur_there(bursts):
    shown = "[...document.querySelectorAll('#legend li:not([hidden]) .name')].map((e) => e.textContent)"
    bursts.page.click("#reset")
    bursts.page.click("#earlier")
    bursts.settle()
    assert bursts.page.evaluate(shown) == ["pack"], "all the time of the first burst is packing"
    bursts.page.click("#later")
    bursts.settle()
    assert set(bursts.page.evaluate(shown)) == {"storage write", "barrier"}
    share = bursts.page.locator("[data-kind=barrier] .share").inner_text()
    assert share == "50 %", "of the I/O in view, not of the run"
    assert re.match(r"I/O in view: (20(\.\d)?|19\.9) ms a rank", bursts.text("#inview")), bursts.text("#inview")


def test_rows_fill_the_height(bursts):
    bottoms = bursts.page.evaluate("stria.rows.length * stria.viewport.rowHeight - stria.viewport.height")
    assert -3 < bottoms <= 0


def test_hundreds_of_rows_fill_the_height_too(browser, session_directory):
    events = [span(rank, "pack", 10, 90) for rank in range(250)]
    description = {"ranks": [{"end_ns": 100 * trace_pages.MS}] * 250, "events": events}
    trace = make_trace(session_directory / "250.stria-trace", description)
    shown = Page(browser, view(trace, session_directory / "250.html")).ready()
    x, y, width, height = shown.box("#timeline")
    picture = shown.picture()
    column = [picture.getpixel((round(x + width / 2), round(y) + 24 + row)) for row in range(round(height) - 27)]
    assert column.count(shown.color("pack")) / len(column) > 0.98
    shown.close()


def test_every_state_has_a_colour_of_its_own(browser, session_directory):
    kinds = [
        "File::commit", "File::create", "Dataset::put", "pack", "unpack", "exchange", "write", "read", "sync", "commit", "plan",
        "metadata", "open", "storage write", "storage read", "storage sync", "storage open", "storage close", "send",
        "receive", "message wait", "barrier", "broadcast", "reduce", "gather", "share memory", "turn wait",
        "storage name", "storage reserve", "storage resize", "background write", "background end", "background wait",
    ]  # fmt: skip
    events = [span(0, kind, at, at + 1) for at, kind in enumerate(kinds)]
    description = {"ranks": [{"end_ns": 36 * trace_pages.MS}], "kinds": trace_pages.LATE_KINDS, "events": events}
    trace = make_trace(session_directory / "kinds.stria-trace", description)
    shown = Page(browser, view(trace, session_directory / "kinds.html")).ready()
    colors = {kind: shown.color(kind) for kind in kinds}
    shown.close()
    assert len(set(colors.values())) == len(kinds), colors


def test_says_what_was_dropped(page):
    assert page.page.get_attribute("#notices", "role") == "alert"
    assert "7 records were dropped" in page.text("#notices")
    assert "rank 2: 7" in page.text("#notices")


def test_every_control_has_a_name(page):
    for role in ("button", "combobox", "searchbox", "application"):
        for element in page.page.get_by_role(role).all():
            name = element.evaluate("e => e.ariaLabel || e.labels?.[0]?.textContent.trim() || e.textContent.trim()")
            assert name, element.evaluate("e => e.outerHTML")


def test_dark_page_is_dark_and_keeps_states_apart_from_the_ground(browser, path):
    page = Page(browser, path, dark=True).ready()
    try:
        assert sum(page.pixel(20, 700)) < 3 * 60
        assert page.pixel(*page.place(1, "pack", share=0.97)) == page.color("pack")
        assert page.complaints == []
    finally:
        page.close()


# Machado, Oliveira, Fernandes 2009, severity 1, on linear RGB.
BLINDNESS = {
    "none": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}  # fmt: skip


def lab(rgb, matrix):
    linear = [c / 255 / 12.92 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in rgb]
    seen = [min(1, max(0, sum(m * c for m, c in zip(row, linear, strict=True)))) for row in matrix]
    xyz = [
        (0.4124564 * seen[0] + 0.3575761 * seen[1] + 0.1804375 * seen[2]) / 0.95047,
        0.2126729 * seen[0] + 0.7151522 * seen[1] + 0.0721750 * seen[2],
        (0.0193339 * seen[0] + 0.1191920 * seen[1] + 0.9503041 * seen[2]) / 1.08883,
    ]
    f = [v ** (1 / 3) if v > 0.008856 else 7.787 * v + 16 / 116 for v in xyz]
    return 116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])


@pytest.mark.parametrize("dark", [False, True])
def test_colours_can_be_told_apart(browser, path, dark):
    """Every two hues differ by 8 in CIELAB, where 2.3 is just noticeable, however they are seen."""
    page = Page(browser, path, dark=dark).ready()
    try:
        colors = page.page.evaluate("stria.palette.all")
    finally:
        page.close()
    assert len(colors) >= 12
    for blindness, matrix in BLINDNESS.items():
        points = [lab([int(color[i : i + 2], 16) for i in (1, 3, 5)], matrix) for color in colors]
        for i, a in enumerate(points):
            for j, b in enumerate(points[:i]):
                distance = sum((x - y) ** 2 for x, y in zip(a, b, strict=True)) ** 0.5
                assert distance >= 8, (colors[i], colors[j], blindness, distance)


def test_a_trace_without_spans_still_opens(browser, session_directory):
    trace = make_trace(session_directory / "counters.stria-trace", {"ranks": 2})
    page = Page(browser, view(trace, session_directory / "counters.html")).ready()
    try:
        assert "no spans" in page.text("#notices")
        assert page.complaints == []
    finally:
        page.close()


def test_page_goes_beside_the_trace_when_no_name_is_given(session_directory):
    trace = make_trace(session_directory / "beside.stria-trace", {"ranks": 1})
    stria_program.run("trace", "view", trace).succeeded()
    assert (session_directory / "beside.html").read_text().startswith("<!doctype html>")


def test_refuses_what_is_no_trace(session_directory):
    path = session_directory / "no.stria-trace"
    path.write_bytes(b"nothing of the kind")
    stria_program.run("trace", "view", path, "-o", session_directory / "no.html").refused("no.stria-trace")
    assert not (session_directory / "no.html").exists()
    stria_program.run("trace", "view", session_directory / "absent.stria-trace").refused("absent")
