"""Commits in the background on the timeline page: rows of their threads, and the way from their
work to the commit."""

import pytest
from trace_pages import LATE_KINDS, MS, Page, make_trace, span, view

# One second on two ranks. Both commit two files in the background. The threads write them one after
# the other, rank 0 ends them, and at the end the program waits for the second.
FILES = ["chk_0001", "chk_0002"]
EVENTS = [
    event
    for number, file in enumerate(FILES)
    for rank in range(2)
    for event in (
        span(rank, "File::commit", 100 + 400 * number, 150 + 400 * number, id=10 * number + 1, file=file),
        span(rank, "pack", 100 + 400 * number, 140 + 400 * number, id=10 * number + 2, parent=10 * number + 1, file=file),
        span(rank, "background write", 160 + 400 * number + 100 * rank, 260 + 400 * number + 100 * rank,
             id=10 * number + 3, file=file, thread=1, bytes=4_000_000),
        span(rank, "storage write", 170 + 400 * number + 100 * rank, 250 + 400 * number + 100 * rank,
             id=10 * number + 4, parent=10 * number + 3, file=file, thread=1, bytes=4_000_000, offset=0),
    )
] + [
    span(0, "background end", 370, 420, id=20, file=FILES[0], thread=1),
    span(0, "background end", 770, 820, id=21, file=FILES[1], thread=1),
    span(0, "background wait", 600, 830, id=22, file=FILES[1]),
]  # fmt: skip
DESCRIPTION = {"ranks": [{"end_ns": 1000 * MS}] * 2, "kinds": LATE_KINDS, "events": EVENTS}


@pytest.fixture(scope="module")
def path(session_directory):
    return view(make_trace(session_directory / "background.stria-trace", DESCRIPTION), session_directory / "background.html")


@pytest.fixture
def page(browser, path):
    """Gives the whole run; the page opens on a burst."""
    page = Page(browser, path).ready()
    page.page.click("#reset")
    page.settle()
    yield page
    assert page.complaints == []
    page.close()


FIND = """([rank, kind, nth]) => [...stria.model.kind.keys()].filter(
    (e) => stria.model.rank[e] === rank && stria.model.kindName(e) === kind)[nth]"""


def choose(page, rank, kind, nth=0):
    event = page.page.evaluate(FIND, [rank, kind, nth])
    page.page.evaluate("(event) => stria.select(event, { show: true })", event)
    page.settle()
    return event


def chain(page):
    return page.page.locator("#request .chain .name").all_inner_texts()


def chosen(page):
    text = "(({ model, selection }) => `${model.kindName(selection.event)} ${model.named('files', 'file', selection.event)}`)"
    return page.page.evaluate(f"{text}(stria)")


def test_the_background_has_rows_of_its_own(page):
    labels = page.page.evaluate("stria.rows.map((row) => row.label)")
    assert labels == ["rank 0", "rank 0, background", "rank 1", "rank 1, background"]
    for rank in range(2):
        own, background = page.place(rank, "File::commit"), page.place(rank, "background write", share=0.05)
        assert background[1] > own[1] + 20, "below the row of its rank"
        assert page.pixel(*background) == page.color("background write")
    assert page.place(1, "File::commit")[1] > page.place(0, "background end")[1]
    # What lies in a background row is found there.
    x, y = page.place(1, "background write", share=0.5, dy=0.5)
    page.page.mouse.click(x, y)
    page.settle()
    assert chosen(page) == "background write chk_0001"


def test_labels_of_background_rows_fit(page):
    widths = "stria.rows.map((row) => stria.areas.timeline.context.measureText(row.label).width)"
    assert max(page.page.evaluate(widths)) < 110


def test_ranks_that_compute_meanwhile_are_in_no_state(page):
    column = page.column("#states", 0.9 * 0.25)
    assert page.color("background write") not in column and page.color("storage write") not in column
    # The legend and the profile tell of the background beside the states.
    assert page.page.locator("[data-kind='background write'] .share").inner_text() == "40 ms"
    assert page.page.locator("[data-kind='storage write'] .share").inner_text() == "background 160 ms"
    page.page.get_by_role("tab", name="Profile").click()
    page.settle()
    cells = page.page.locator("#profilerows [data-kind='background write'] td").all_inner_texts()
    assert cells == ["background write", "4", "200 ms", "40 ms"]


def test_the_profile_fits_beside_the_charts(page):
    page.page.get_by_role("tab", name="Profile").click()
    page.settle()
    edges = "['aside', '.profile'].map((s) => document.querySelector(s).getBoundingClientRect().right)"
    panel, table = page.page.evaluate(edges)
    assert table <= panel - 10
    cut = "[...document.querySelectorAll('#profilerows td')].filter((e) => e.scrollWidth > e.clientWidth).length"
    assert page.page.evaluate(cut) == 0, "no name is cut off"


def test_work_in_the_background_leads_to_its_commit(page):
    choose(page, 0, "background write", 1)
    assert chain(page) == ["File::commit", "background write", "storage write"]
    page.page.focus("#timeline")
    page.page.keyboard.press("u")
    assert chosen(page) == "File::commit chk_0002", "the commit of the same file"
    choose(page, 0, "background end")
    page.page.keyboard.press("u")
    assert chosen(page) == "File::commit chk_0001"
    choose(page, 0, "background wait")
    page.page.keyboard.press("u")
    assert chosen(page) == "File::commit chk_0002"


def test_a_commit_leads_to_what_it_left_to_the_background(page):
    commit = choose(page, 0, "File::commit")
    assert chain(page) == ["File::commit", "pack", "background write", "storage write", "background end"]
    works = [page.page.evaluate(FIND, [0, kind, 0]) for kind in ("background write", "storage write", "background end")]
    assert page.page.evaluate("([...events]) => events.map((e) => stria.emphasis[e])", [commit, *works]) == [1, 1, 1, 1]
    other = page.page.evaluate(FIND, [0, "background write", 1])
    assert page.page.evaluate("(event) => stria.emphasis[event]", other) == 0


def test_a_new_file_of_the_same_name_belongs_to_its_own_commit(browser, session_directory):
    """Two commits of one path: each work belongs to the one before it."""
    events = [{**event, "file": "chk"} for event in EVENTS]
    trace = make_trace(session_directory / "again.stria-trace", DESCRIPTION | {"events": events})
    shown = Page(browser, view(trace, session_directory / "again.html")).ready()
    ties = "[...stria.model.ties.commitOf].map(([work, of]) => [stria.model.columns.id[work], stria.model.columns.id[of]])"
    assert sorted(shown.page.evaluate(ties)) == [[3, 1], [3, 1], [13, 11], [13, 11], [20, 1], [21, 11], [22, 11]]
    shown.close()


def test_arrows_join_commits_and_their_work(page):
    ends = """(() => {
        const { timeline, areas } = stria;
        const lines = [];
        const { context } = areas.timeline;
        const [moveTo, lineTo] = [context.moveTo, context.lineTo];
        let from;
        context.moveTo = (x, y) => ((from = [x, y]), moveTo.call(context, x, y));
        context.lineTo = (x, y) => (lines.push([...from, x, y]), lineTo.call(context, x, y));
        timeline.draw();
        delete context.moveTo;
        delete context.lineTo;
        return lines;
    })()"""
    work = page.page.evaluate(FIND, [1, "background write", 0])
    place = page.page.evaluate("(event) => stria.timeline.boxOf(event)", work)

    def arrives():
        top, bottom = place["top"], place["top"] + place["height"]
        return [line for line in page.page.evaluate(ends) if line[2] == place["left"] and top < line[3] < bottom]

    assert arrives() == []
    page.page.check("#arrows")
    page.settle()
    assert page.page.evaluate("stria.timeline.arrowCount") == 6, "from each commit to its writing, and on rank 0 to its end"
    assert len(arrives()) == 1
    page.page.uncheck("#arrows")
    choose(page, 1, "File::commit")
    assert len(arrives()) == 1, "of a commit that is followed they are drawn unasked"


def test_rows_of_nodes_have_their_ranks_alone(page):
    page.page.select_option("#group", "node")
    page.settle()
    assert page.page.evaluate("stria.rows.map((row) => row.strands.length)") == [2]
    choose(page, 0, "background write")
