"""Tests what the timeline page computes: profiles, messages, counters, marks, links, pictures, two
runs in one page."""

import pytest
import stria_program
from PIL import Image
from trace_pages import MS, Page, make_trace, span, view

# One second on three ranks. Ranks 1 and 2 send to rank 0, which waits for them and then writes
# 64 MB in 200 ms.
EVENTS = [
    span(0, "File::commit", 100, 900, id=1, file="chk_0001"),
    span(0, "message wait", 200, 400, id=2, parent=1),
    span(0, "receive", 110, 350, id=3, parent=1, peer=1, bytes=2000),
    span(0, "receive", 120, 400, id=4, parent=1, peer=2, bytes=5000),
    span(0, "write", 500, 800, id=5, parent=1),
    span(0, "storage write", 500, 700, id=6, parent=5, bytes=64_000_000, offset=0, file="chk_0001"),
    span(1, "File::commit", 100, 900, id=1, file="chk_0001"),
    span(1, "send", 300, 350, id=2, parent=1, peer=0, bytes=2000),
    span(2, "File::commit", 100, 900, id=1, file="chk_0001"),
    span(2, "send", 350, 400, id=2, parent=1, peer=0, bytes=5000),
]
DESCRIPTION = {
    "program": "flash_io",
    "command": "flash_io",
    "ranks": [{"end_ns": 1000 * MS}] * 3,
    "events": EVENTS,
    "counters": [{"rank": r, "file": "chk_0001", "values": {"bytes_put": 10 * (r + 1)}} for r in range(3)],
}


@pytest.fixture(scope="module")
def trace(session_directory):
    return make_trace(session_directory / "analysis.stria-trace", DESCRIPTION)


@pytest.fixture(scope="module")
def path(session_directory, trace):
    return view(trace, session_directory / "analysis.html")


def tab(page, name):
    page.page.get_by_role("tab", name=name).click()
    page.settle()


def x_of(page, milliseconds):
    x, _, width, _ = page.box("#timeline")
    return x + 118 + milliseconds / 1000 * (width - 118)


def profile(page):
    rows = "[...document.querySelectorAll('#profilerows tr')].map((row) => [...row.cells].map((cell) => cell.textContent))"
    return {name: (spans, inclusive, exclusive) for name, spans, inclusive, exclusive in page.page.evaluate(rows)}


def test_profile_counts_with_and_without_what_is_inside(page):
    tab(page, "Profile")
    rows = profile(page)
    # Means over three ranks: the commits take 800 ms each; rank 0 waits 200 ms and writes 300
    # ms of its own.
    assert rows["File::commit"] == ("3", "800 ms", "633 ms")
    assert rows["write"] == ("1", "100 ms", "33.3 ms")
    assert rows["storage write"] == ("1", "66.7 ms", "66.7 ms")
    assert rows["send"][0] == "2" and rows["send"][2] == ""
    assert "written 64 MB at 64 MB/s" in page.text("#profilefacts")
    assert "waiting for other ranks: 66.7 ms per rank" in page.text("#profilefacts")


def test_a_drag_with_shift_takes_an_interval_and_its_statistics(page):
    _, y, _, height = page.box("#timeline")
    tab(page, "Profile")
    before = page.page.evaluate("[stria.viewport.t0, stria.viewport.t1]")
    page.page.keyboard.down("Shift")
    page.page.mouse.move(x_of(page, 600), y + height - 5)
    page.page.mouse.down()
    page.page.mouse.move(x_of(page, 650), y + height - 5, steps=3)
    page.page.mouse.up()
    page.page.keyboard.up("Shift")
    page.settle()
    assert page.page.evaluate("[stria.viewport.t0, stria.viewport.t1]") == before, "the window stays"
    assert page.page.evaluate("[stria.interval.t0, stria.interval.t1]") == pytest.approx([600 * MS, 650 * MS], abs=2 * MS)
    rows = profile(page)
    assert set(rows) == {"File::commit", "write", "storage write"}
    assert page.text("#profilefacts").startswith("Interval: 0.")
    assert "16 MB at 320 MB/s" in page.text("#profilefacts") or "at 32" in page.text("#profilefacts")
    inside, outside = (page.column("#states", share)[2] for share in (0.62, 0.7))
    assert inside != outside, "the interval is shaded"
    page.page.focus("#timeline")
    page.page.keyboard.press("Escape")
    page.settle()
    assert "send" in profile(page)


def test_matrix_says_who_sent_how_much_to_whom(page):
    tab(page, "Messages")
    assert page.page.locator("#pairs li").all_inner_texts() == ["rank 2 to 0: 5 kB in 1", "rank 1 to 0: 2 kB in 1"]
    assert "2 messages" in page.text("#messagefacts")
    x, y, width, _ = page.box("#matrix")
    cell = (width - 18) / 3
    middle = [18 + (rank + 0.5) * cell for rank in range(3)]
    colors = {(i, j): page.pixel(x + middle[j], y + middle[i]) for i in range(3) for j in range(3)}
    ground = colors[0, 0]
    assert {place for place, color in colors.items() if color != ground} == {(1, 0), (2, 0)}
    assert sum(colors[2, 0]) < sum(colors[1, 0]), "darker the more"


def test_a_trace_without_messages_says_so(browser, session_directory):
    description = {"ranks": [{"end_ns": 100 * MS}], "events": [span(0, "pack", 10, 90)]}
    trace = make_trace(session_directory / "silent.stria-trace", description)
    page = Page(browser, view(trace, session_directory / "silent.html")).ready()
    tab(page, "Messages")
    assert "holds no messages" in page.text("#messagefacts") and not page.page.locator("#matrix").is_visible()
    assert page.complaints == []
    page.close()


def test_arrows_join_sends_and_receives(page):
    pairs = """(({ rank, columns }) =>
        stria.messages.map(({ from, to }) => [rank[from], rank[to], columns.bytes[to]]))(stria.model)"""
    between = page.place(1, "send", share=-0.5)
    before = page.picture()
    page.page.check("#arrows")
    page.settle()
    assert page.page.evaluate(pairs) == [[1, 0, 2000], [2, 0, 5000]]
    assert page.page.evaluate("stria.timeline.arrowCount") == 2
    after = page.picture()
    changed = [
        (x, y)
        for x in range(round(x_of(page, 290)), round(x_of(page, 420)))
        for y in range(round(between[1]) - 150, min(round(between[1]) + 250, before.height))
        if before.getpixel((x, y)) != after.getpixel((x, y))
    ]
    assert len(changed) > 60, "two lines are drawn"
    page.page.focus("#timeline")
    page.page.keyboard.press("a")
    page.settle()
    assert page.page.evaluate("stria.timeline.arrowCount") == 0


def test_messages_of_a_size_are_matched_in_order(browser, session_directory):
    """Receives may be posted in another order than the messages of other sizes were sent in, and
    some are never seen."""
    events = [span(0, "send", 10 * n, 10 * n + 5, id=n + 1, peer=1, bytes=size) for n, size in enumerate([8, 100, 8, 7])]
    events += [span(1, "receive", 10 * n, 90, id=n + 1, peer=0, bytes=size) for n, size in enumerate([100, 8, 8, 9, 9])]
    description = {"ranks": [{"end_ns": 100 * MS}] * 2, "events": events}
    trace = make_trace(session_directory / "m.stria-trace", description)
    page = Page(browser, view(trace, session_directory / "m.html")).ready()
    page.page.check("#arrows")
    page.settle()
    ids = "stria.messages.map(({ from, to }) => [stria.model.columns.id[from], stria.model.columns.id[to]])"
    assert page.page.evaluate(ids) == [[1, 2], [2, 1], [3, 3], [4, 4]]
    page.close()


def test_counter_tracks(page):
    for track, peak in [("under-way", "1"), ("waiting", "1"), ("state:File::commit", "3"), ("messages", "0.1 MB/s")]:
        page.page.select_option("#track", track)
        page.settle()
        values = page.page.evaluate(
            """async () => {
                 const texts = [];
                 const area = stria.areas.bandwidth;
                 const label = area.label;
                 area.label = (text) => texts.push(text);
                 stria.draw();
                 area.label = label;
                 return texts;
               }"""
        )
        assert values == ["0", peak], track
    assert not page.page.locator("#tracks .key").first.is_visible(), "the key of reads and writes belongs to the bandwidth"


def test_marks_are_set_named_and_removed(page):
    page.page.focus("#timeline")
    for milliseconds in (600, 250):
        page.page.mouse.move(x_of(page, milliseconds), page.box("#timeline")[1] + 60)
        page.page.keyboard.press("m")
    tab(page, "Marks")
    assert page.page.evaluate("stria.marks.map(({ name }) => name)") == ["2", "1"], "in order of time"
    texts = page.page.locator("#marklist").locator("button").all_inner_texts()
    assert texts[0].startswith("0.2") and "(+350 ms)" in texts[2].replace("349 ms", "350 ms").replace("351 ms", "350 ms")
    column = round(x_of(page, 250))
    picture = page.picture()
    _, y, _, height = page.box("#states")
    accent = page.page.evaluate("stria.palette.accent")
    places = [(x, round(y) + row) for x in range(column - 2, column + 3) for row in range(40)]
    found = {"#" + bytes(picture.getpixel(place)).hex() for place in places}
    assert accent in found, "a line in every chart"
    page.page.locator("#marklist").locator("input").first.fill("begin of writing")
    page.page.keyboard.press("Tab")
    page.page.get_by_role("button", name="Remove mark 1").click()
    page.settle()
    assert page.page.evaluate("stria.marks.map(({ name }) => name)") == ["begin of writing"]


def test_a_link_keeps_the_view(browser, page, path):
    page.page.select_option("#sort", label="bytes put")
    page.page.fill("#search", "storage write")
    page.page.press("#search", "Enter")
    page.page.select_option("#track", "waiting")
    page.page.check("#arrows")
    page.page.locator("#legend").get_by_role("button", name="File::commit").click()
    page.page.evaluate("stria.marks.push({ time: 3e8, name: 'a & b' }); stria.setInterval(2e8, 5e8)")
    page.page.wait_for_timeout(500)
    address = page.page.url
    assert address.startswith(path.resolve().as_uri() + "#t=")
    view_of = """() => { const { viewport, marks, interval, selection, showArrows, counter, hidden } = stria;
        return [Math.round(viewport.t0), Math.round(viewport.t1), marks, interval, selection.event, showArrows, counter.name,
                [...hidden], document.getElementById("track").value, document.getElementById("search").value]; }"""
    other = Page(browser, path)
    other.page.goto(address)
    other.page.reload()
    other.ready()
    assert other.page.evaluate(view_of) == page.page.evaluate(view_of)
    assert other.complaints == []
    other.page.goto(path.resolve().as_uri() + "#t=nonsense&span=-7&sort=x")
    other.page.reload()
    other.ready()
    assert other.complaints == [] and other.page.evaluate("stria.selection") is None
    other.close()


def test_the_picture_is_saved(page):
    with page.page.expect_download() as download:
        page.page.click("#save")
    saved = download.value
    assert saved.suggested_filename == "timeline.png"
    picture = Image.open(saved.path()).convert("RGB")
    width = page.box("#timeline")[2]
    assert picture.width == round(width) + 32
    colors = {color for _, color in picture.getcolors(1 << 24)}
    assert {page.color("storage write"), page.color("message wait")} <= colors


def test_a_page_within_another_page_is_a_whole_page(browser, session_directory, path):
    """A portal that shows a timeline in a frame of its own is no comparison of two."""
    around = session_directory / "around.html"
    around.write_text(f'<!doctype html><iframe src="{path.resolve().as_uri()}" width="1300" height="800"></iframe>')
    page = Page(browser, around)
    frame = page.page.frames[1]
    frame.wait_for_function("document.documentElement.dataset.ready === 'true'")
    assert frame.evaluate("document.getElementById('overview').offsetHeight") > 30
    page.close()


def test_two_runs_in_one_page_move_together(browser, session_directory, trace):
    slower = DESCRIPTION | {"command": "flash_io </script> --slow", "ranks": [{"end_ns": 4000 * MS}] * 3}
    second = make_trace(session_directory / "slower.stria-trace", slower)
    path = session_directory / "both.html"
    assert "two timelines" in stria_program.run("trace", "view", trace, second, "-o", path).succeeded().stdout
    page = Page(browser, path).ready()
    frames = page.page.frames[1:]
    for frame in frames:
        frame.wait_for_function("document.documentElement.dataset.ready === 'true'")
    assert [frame.inner_text("#program") for frame in frames] == ["flash_io", "flash_io </script> --slow"]
    window = "[stria.viewport.t0, stria.viewport.t1]"
    # The second run is idle for most of its time and opens on its burst; both have the scale of
    # the wider window.
    frames[1].wait_for_function("stria.viewport.span === 1e9", timeout=10_000)
    assert frames[0].evaluate(window) == [0, 1e9]
    frames[1].evaluate("stria.viewport.show(0, 1e9); stria.changed()")
    frames[0].evaluate("stria.viewport.show(0, 1e9); stria.changed()")
    page.settle()
    frames[0].evaluate("stria.viewport.show(1e8, 3e8); stria.changed()")
    page.settle()
    frames[1].wait_for_function("stria.viewport.span === 2e8")
    assert frames[1].evaluate(window) == [1e8, 3e8]
    page.page.uncheck("#together")
    frames[1].evaluate("stria.viewport.show(0, 4e8); stria.changed()")
    page.settle()
    assert frames[0].evaluate("stria.viewport.span") == 2e8
    assert frames[0].evaluate("document.getElementById('overview').offsetHeight") == 0, "half a page has room for less"
    assert page.complaints == []
    page.close()
    stria_program.run("trace", "view", trace, session_directory / "absent.stria-trace").refused("absent")
