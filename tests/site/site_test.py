"""The documentation site that scripts/docs.sh builds: its links, and its pages in a real browser,
from disk, without a network."""

import html.parser
import os
import pathlib
import re
import subprocess
import urllib.parse

import accessibility
import pytest
import stria_program
import trace_pages

ROOT = pathlib.Path(stria_program.ROOT)


@pytest.fixture(scope="module")
def site(session_directory):
    if given := os.environ.get("STRIA_SITE"):
        return pathlib.Path(given).resolve()
    out = session_directory / "site"
    subprocess.run([ROOT / "scripts/docs.sh", out], check=True, timeout=600)
    return out


@pytest.fixture(scope="module")
def browser():
    with trace_pages.browser() as instance:
        yield instance


class Links(html.parser.HTMLParser):
    """What a page points to, loads and can be pointed to."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loads, self.targets = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.targets |= {attributes.get("id"), attributes.get("name")} - {None}
        if tag == "a" and attributes.get("href"):
            self.links.append(attributes["href"])
        elif tag == "link" and attributes.get("href") or attributes.get("src"):
            self.loads.append(attributes.get("src") or attributes["href"])


@pytest.fixture(scope="module")
def pages(site):
    return {path: Links(path.read_text()) for path in site.rglob("*.html")}


def test_every_link_leads_somewhere(site, pages):
    assert len(pages) > 50
    broken = []
    for page, content in pages.items():
        for link in content.links + content.loads:
            address = urllib.parse.urlsplit(link)
            if address.scheme:
                continue
            target = page if not address.path else (page.parent / urllib.parse.unquote(address.path)).resolve()
            fragment = urllib.parse.unquote(address.fragment)
            if not target.is_file():
                broken.append(f"{page.relative_to(site)}: {link}")
            elif fragment and target.suffix == ".html" and fragment not in pages[target].targets:
                broken.append(f"{page.relative_to(site)}: {link} (no such place)")
    assert broken == []


def test_nothing_is_loaded_from_elsewhere(pages):
    loads = {load for content in pages.values() for load in content.loads}
    assert [load for load in loads if urllib.parse.urlsplit(load).scheme not in ("", "data")] == []


def test_every_document_has_a_page(site):
    documents = [path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md")]
    assert [path for path in documents if not (site / path.with_suffix(".html")).is_file()] == []
    contents = (site / "index.html").read_text()
    assert [path for path in documents if f'href="{path.with_suffix(".html")}"' not in contents and path.stem != "index"] == []


def test_references_have_every_call(site):
    for page, calls in {
        "c": ["stria_put_box", "stria_commit_async", "stria_dataset_rank"],
        "cpp": ["create_dataset", "commit_async", "put_elements", "interior", "stria::DatasetOptions</a>"],
        "fortran": ["stria_dataset%put", "stria_file%place_rows", "stria_real64"],
        "python": ["create_dataset", "share_rows", "put_elements", "NoSpaceError"],
    }.items():
        text = (site / f"reference/{page}.html").read_text()
        assert [call for call in calls if call not in text] == [], page
    package = (ROOT / "bindings/python/stria/__init__.py").read_text()
    public = re.findall(r'^    "([A-Za-z]\w+)",$', package[package.index("__all__") :], flags=re.MULTILINE)
    text = (site / "reference/python.html").read_text()
    places = {name: f"module-stria.{name}" if name in ("errors", "trace") else f"stria.{name}" for name in public}
    assert len(public) > 10 and [name for name, place in places.items() if f'id="{place}"' not in text] == []


def opened(browser, path, **more):
    page = trace_pages.Page(browser, path, **more)
    page.page.wait_for_load_state("load")
    page.settle()
    return page


def closed(page):
    assert page.complaints == []
    assert [address for address in page.requested if not address.startswith(("file:", "data:"))] == []
    page.close()


def test_home_fits_one_screen(browser, site):
    page = opened(browser, site / "index.html")
    assert page.text("h1").startswith("Stria")
    _, top, _, height = page.box("article table")
    assert top + height <= 900
    closed(page)


def test_a_reader_gets_from_home_to_a_call(browser, site):
    page = opened(browser, site / "index.html")
    page.page.click("article a:has-text('AMR blocks')")
    page.page.wait_for_url("**/howto/write_amr_blocks.html")
    assert "place_rows" in page.text("article")
    page.page.click("article a:has-text('checkpoint.f90')")
    page.page.wait_for_url("**/checkpoint.f90.html")
    assert "program" in page.text("article pre")
    closed(page)


FOUND = {
    "stria_put_box": "reference/c.html",
    "restart": "howto/restart_on_more_ranks.html",
    "place_rows": "reference/python.html",
}


@pytest.mark.parametrize(("words", "page_found"), FOUND.items())
def test_search_finds(browser, site, words, page_found):
    page = opened(browser, site / "index.html")
    page.page.fill("input[name=q]", words)
    page.page.press("input[name=q]", "Enter")
    page.page.wait_for_url("**/search.html?q=*")
    page.page.wait_for_selector(f"#search-results a[href*='{page_found}']", timeout=20000)
    closed(page)


def brightness(page):
    color = page.page.evaluate("getComputedStyle(document.body).backgroundColor")
    return sum(int(part) for part in color.strip("rgba()").split(",")[:3]) / 3


def test_light_and_dark(browser, site):
    for dark in (False, True):
        page = opened(browser, site / "tutorial.html", dark=dark)
        assert (brightness(page) < 80) == dark
        # The page's own switch goes the other way.
        button = page.page.locator("button.theme-toggle:visible").first
        for _ in range(3):
            button.click()
            page.settle()
            if (brightness(page) < 80) != dark:
                break
        assert (brightness(page) < 80) != dark
        closed(page)


@pytest.mark.parametrize("width", [390, 1400])
def test_no_page_is_wider_than_its_window(browser, site, width):
    for name in ("index", "command_line", "performance", "reference/cpp", "howto/find_slow_io"):
        page = opened(browser, site / f"{name}.html", width=width)
        assert page.page.evaluate("document.documentElement.scrollWidth") <= width, name
        closed(page)


# One page of each kind: prose, tables, programs, references, pictures, the search.
KINDS_OF_PAGES = [
    "index",
    "readme",
    "command_line",
    "tutorial",
    "reference/python",
    "reference/cpp",
    "ross_discovery",
    "search",
]


# The beginning of a long page shows each kind of thing that it has; the rest, and each page in each
# theme at each width, are some minutes of axe-core: `make check-long`.
WHOLE = os.environ.get("STRIA_PAGES") == "whole"
LOOKS = [(390, False), (1400, True), (390, True), (1400, False)]
SHORTEN = """() => {
  for (const part of document.querySelectorAll("article, aside"))
    [...part.querySelectorAll("p, pre, dl, dt, dd, li, tr, section")].slice(60).forEach(element => element.remove())
  for (const emptied of [...document.querySelectorAll("ul, ol, dl, tbody")].reverse())
    if (!emptied.children.length || (emptied.localName == "dl" && !emptied.querySelector("dd"))) emptied.remove()
}"""


@pytest.mark.parametrize("name", KINDS_OF_PAGES)
def test_pages_can_be_read_by_all(browser, site, name):
    """Eyes that want contrast, ears, and a keyboard alone can read the pages: each width, each
    theme."""
    first = KINDS_OF_PAGES.index(name) % len(LOOKS)
    for width, dark in LOOKS if WHOLE else LOOKS[first : first + 1]:
        page = opened(browser, site / f"{name}.html", width=width, dark=dark)
        if not WHOLE:
            page.page.evaluate(SHORTEN)
        assert accessibility.violations(page.page) == [], (width, dark)
        closed(page)
