"""Tests what mouse and keyboard do on the timeline page, seen in its pixels and its texts."""

import pytest
import trace_pages
from trace_pages import make_trace, span, view

# One second. Ranks 0 and 2 aggregate; rank 1 sends to rank 0, which writes. A request of 2 µs at
# 0.7 s is too short to see.
EVENTS = [
    span(0, "File::commit", 100, 900, id=1, file="chk_0001"),
    span(0, "pack", 100, 300, id=2, parent=1, bytes=1000),
    span(0, "write", 400, 600, id=3, parent=1),
    span(0, "storage write", 400, 600, id=4, parent=3, bytes=64_000_000, offset=1 << 20, count=3, file="chk_0001"),
    span(0, "storage write", 700, 700.002, id=5, parent=1, bytes=512, offset=12345, file="chk_0001"),
    span(1, "File::commit", 100, 900, id=1, file="chk_0001"),
    span(1, "pack", 100, 350, id=2, parent=1),
    span(1, "send", 350, 400, id=3, parent=1, peer=0, bytes=2000),
    span(1, "Dataset::put", 20, 60, id=4, dataset="dens"),
    span(2, "pack", 500, 600, id=1),
]
DESCRIPTION = {
    "program": "flash_io",
    "ranks": [{"node": r // 2, "host": f"nid{r // 2}", "end_ns": 1000 * trace_pages.MS} for r in range(3)],
    "events": EVENTS,
    "counters": [
        {"rank": rank, "file": "chk_0001", "values": {"bytes_written": written, "aggregated": int(rank != 1)}}
        for rank, written in enumerate([64_000_512, 0, 99_000_000])
    ],
}


@pytest.fixture(scope="module")
def path(session_directory):
    return view(make_trace(session_directory / "controls.stria-trace", DESCRIPTION), session_directory / "controls.html")


def window(page):
    return page.page.evaluate("[stria.viewport.t0, stria.viewport.t1]")


def test_wheel_zooms_from_the_whole_run_to_a_request_of_two_microseconds(page):
    x, y, width, _ = page.box("#timeline")
    row = page.place(0, "write")[1]  # the lane below the commit

    def place():
        t0, t1 = window(page)
        return x + 118 + (700 * trace_pages.MS - t0) / (t1 - t0) * (width - 118)

    before = page.pixel(place() + 3, row)
    for _ in range(30):
        page.page.mouse.move(place(), row)
        page.page.mouse.wheel(0, -240)
    page.settle()
    t0, t1 = window(page)
    assert t1 - t0 < 20_000, "ns on the screen"
    assert "0.700" in page.text("#summary")
    assert page.pixel(place() + 3, row) == page.color("storage write") != before


def test_drag_moves_time_with_the_mouse(page):
    page.page.focus("#timeline")
    page.page.keyboard.press("+")
    page.settle()
    t0, t1 = window(page)
    x, y, width, height = page.box("#timeline")
    page.page.mouse.move(x + 500, y + height - 30)
    page.page.mouse.down()
    page.page.mouse.move(x + 400, y + height - 30, steps=3)
    page.page.mouse.up()
    page.settle()
    moved = window(page)
    assert moved[1] - moved[0] == pytest.approx(t1 - t0)
    assert moved[0] - t0 == pytest.approx(100 / (width - 118) * (t1 - t0), rel=0.01)


def test_drag_in_the_overview_chooses_the_window(page):
    x, y, width, _ = page.box("#overview")
    plot = width - 118
    page.page.mouse.move(x + 118 + 0.4 * plot, y + 20)
    page.page.mouse.down()
    page.page.mouse.move(x + 118 + 0.6 * plot, y + 20, steps=4)
    page.page.mouse.up()
    page.settle()
    assert window(page) == pytest.approx([400 * trace_pages.MS, 600 * trace_pages.MS], rel=0.01)
    assert "0.4" in page.text("#summary")
    outside = page.column("#overview", 0.2)
    assert page.color("pack") not in outside, "what is outside of the window is paler"


def test_hover_shows_every_field(page):
    page.page.mouse.move(*page.place(0, "storage write"))
    page.settle()
    tip = page.text("#tip")
    fields = ["0 on nid0", "0.400 s", "200 ms", "64,000,000 (64 MB)", "320 MB/s", "chk_0001", "1,048,576", "pieces"]
    for part in ["storage write (storage)", *fields]:
        assert part in tip, tip
    page.page.mouse.move(*page.place(1, "send"))
    page.settle()
    assert "peer" in page.text("#tip") and "rank 0" in page.text("#tip")


def test_click_follows_a_request_down_to_the_storage_of_another_rank(page):
    dimmed = page.place(2, "pack", share=0.9)
    before = page.pixel(*dimmed)
    page.page.mouse.click(*page.place(1, "File::commit", share=0.9))
    page.settle()
    names = page.page.locator("#request .span .name").all_inner_texts()
    assert names == ["File::commit", "pack", "send", "rank 0: storage write", "rank 0: storage write"]
    assert page.page.locator("#request [aria-current=true] .name").inner_text() == "File::commit"
    assert "File::commit (app), rank 1" in page.text("#chosen")
    assert page.pixel(*dimmed) != before, "what does not belong to the request is dimmed"
    assert page.pixel(*page.place(1, "pack", share=0.9)) == page.color("pack")
    page.page.locator("#request .span", has_text="rank 0: storage write").first.click()
    page.settle()
    assert page.page.locator("#request .span .name").all_inner_texts() == ["File::commit", "write", "storage write"]


def test_search_finds_dims_the_rest_and_steps_through_matches(page):
    page.page.fill("#search", "write bytes>1MiB")
    page.settle()
    assert page.text("#found") == "1 found"
    assert page.pixel(*page.place(0, "storage write", share=0.9)) == page.color("storage write")
    assert page.pixel(*page.place(1, "pack", share=0.9)) != page.color("pack")
    page.page.fill("#search", "dens")
    page.page.press("#search", "Enter")
    page.settle()
    assert page.text("#found") == "1 of 1"
    assert "Dataset::put" in page.text("#chosen")
    t0, t1 = window(page)
    assert 0 <= t0 < 20 * trace_pages.MS and 60 * trace_pages.MS < t1 <= 200 * trace_pages.MS, "zooms to what was found"
    page.page.fill("#search", "size>3")
    page.settle()
    assert page.text("#found").startswith("compare rank, thread, bytes")


def test_legend_hides_a_state_and_shows_what_it_was_inside_of(page):
    # Thin rows show the innermost state alone.
    page.page.evaluate("stria.viewport.zoomRows(0.01, 0); stria.viewport.zoomRows(6, 0); stria.changed()")
    page.settle()
    place = page.place(0, "pack", share=0.5, dy=0.5)
    assert page.pixel(*place) == page.color("pack")
    button = page.page.get_by_role("button", name="pack")
    button.click()
    page.settle()
    assert button.get_attribute("aria-pressed") == "false"
    assert "hidden" in button.inner_text()
    assert page.pixel(*place) == page.color("File::commit")
    button.click()
    page.settle()
    assert page.pixel(*place) == page.color("pack")


def test_rows_are_sorted_by_a_counter(page):
    order = "stria.rows.map((row) => row.ranks[0])"
    first = page.place(0, "pack")[1]
    page.page.select_option("#sort", label="bytes written")
    page.settle()
    assert page.page.evaluate(order) == [2, 0, 1]
    assert page.place(2, "pack")[1] == pytest.approx(first, abs=45)
    assert page.pixel(*page.place(2, "pack", share=0.9)) == page.color("pack")
    page.page.select_option("#sort", label="time in pack")
    page.settle()
    assert page.page.evaluate(order) == [1, 0, 2]


def test_rows_of_nodes_show_the_share_of_their_ranks(page):
    page.page.select_option("#group", "node")
    page.settle()
    assert "2 rows by node" in page.text("#summary")
    x, y, width, height = page.box("#timeline")
    picture = page.picture()
    column = round(x + 118 + 0.2 * (width - 118))
    row_height = round(page.page.evaluate("stria.viewport.rowHeight"))
    pixels = [picture.getpixel((column, round(y) + 22 + row)) for row in range(row_height)]
    assert pixels.count(page.color("pack")) == pytest.approx(row_height, abs=3), "at 0.2 s both ranks of the first node pack"
    column = round(x + 118 + 0.32 * (width - 118))
    pixels = [picture.getpixel((column, round(y) + 22 + row)) for row in range(row_height)]
    assert pixels.count(page.color("pack")) == pytest.approx(row_height / 2, abs=3), "at 0.32 s one of two"


def test_rows_of_aggregators(page):
    page.page.select_option("#group", "aggregator")
    page.settle()
    assert page.page.evaluate("stria.rows.map((row) => row.label)") == ["rank 0", "rank 2"]


def test_keyboard_alone_reaches_and_follows(page):
    page.page.focus("#reset")
    for _ in range(40):
        if page.page.evaluate("document.activeElement.id") == "timeline":
            break
        page.page.keyboard.press("Tab")
    assert page.page.evaluate("document.activeElement.id") == "timeline"
    page.page.keyboard.press("+")
    page.page.keyboard.press("ArrowLeft")
    page.settle()
    t0, t1 = window(page)
    assert t1 - t0 == pytest.approx(1000 * trace_pages.MS / 1.5)
    page.page.keyboard.press("0")
    page.page.keyboard.press("Enter")
    page.settle()
    assert "storage write" in page.text("#chosen")
    page.page.keyboard.press("u")
    page.page.keyboard.press("u")
    page.settle()
    assert "File::commit" in page.text("#chosen")
    page.page.keyboard.press("d")
    page.settle()
    assert "pack" in page.text("#chosen")
    page.page.keyboard.press("Escape")
    page.settle()
    assert page.text("#chosen") == ""
    page.page.keyboard.press("?")
    assert page.page.get_by_role("dialog").is_visible()


def test_theme_can_be_changed(page):
    before = page.pixel(20, 700)
    page.page.click("#theme")
    page.settle()
    assert sum(page.pixel(20, 700)) < sum(before) / 3
    assert page.text("#theme") == "Light"
