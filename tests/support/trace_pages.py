"""Pages of traces in headless Chromium: made-up traces, the pages that stria makes of them,
and their pixels."""

import contextlib
import io
import json
import os
import pathlib
import shutil
import subprocess

import stria_program
from PIL import Image
from playwright.sync_api import sync_playwright

SYNTHETIC = str(pathlib.Path(stria_program.PROGRAM).with_name("stria_trace_synthetic"))
BROWSER = os.environ.get("STRIA_BROWSER") or shutil.which("chromium-headless-shell")
MS = 1_000_000
# Kinds that the library defines when it first records them.
LATE_KINDS = [
    {"name": name, "layer": "engine"} for name in ("turn wait", "background write", "background end", "background wait")
]


def make_trace(path, description):
    """Writes the trace that a description (see stria_trace_synthetic) says; returns its path."""
    text = pathlib.Path(path).with_suffix(".json")
    text.write_text(json.dumps(description))
    subprocess.run([SYNTHETIC, "--from", str(text), "-o", str(path)], check=True, timeout=60)
    return path


def make_large_trace(path, ranks, events):
    subprocess.run([SYNTHETIC, "--ranks", str(ranks), "--events", str(events), "-o", str(path)], check=True, timeout=60)
    return path


def view(trace, output):
    stria_program.run("trace", "view", trace, "-o", output).succeeded()
    return output


def span(rank, kind, begin_ms, end_ms, **more):
    return {"rank": rank, "kind": kind, "begin_ns": round(begin_ms * MS), "end_ns": round(end_ms * MS), **more}


@contextlib.contextmanager
def browser():
    assert BROWSER, "no chromium-headless-shell: run scripts/setup.sh, or set STRIA_BROWSER"
    with sync_playwright() as playwright:
        instance = playwright.chromium.launch(
            executable_path=BROWSER, args=["--no-sandbox", "--allow-file-access-from-files", "--force-color-profile=srgb"]
        )
        yield instance
        instance.close()


class Page:
    """An open page, its pixels, and its requests and complaints."""

    def __init__(self, instance, path, *, width=1400, height=900, dark=False):
        self.complaints = []
        self.requested = []
        scheme = "dark" if dark else "light"
        self.page = instance.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", lambda message: self.complaints.append(message.text) if message.type == "error" else None)
        self.page.on("request", lambda request: self.requested.append(request.url))
        self.page.goto(pathlib.Path(path).resolve().as_uri())

    def ready(self):
        self.page.wait_for_function("document.documentElement.dataset.ready === 'true'")
        self.settle()
        return self

    def settle(self):
        """Waits until the page has drawn and said what was asked for."""
        frames = "requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 100)))"
        self.page.evaluate(f"() => new Promise((done) => {frames})")

    def picture(self):
        return Image.open(io.BytesIO(self.page.screenshot())).convert("RGB")

    def text(self, selector):
        return self.page.inner_text(selector).strip()

    def box(self, selector):
        box = self.page.locator(selector).bounding_box()
        return box["x"], box["y"], box["width"], box["height"]

    def color(self, kind):
        """(red, green, blue) of a state, as the legend shows it."""
        rgb = self.page.evaluate(
            """(kind) => getComputedStyle(
                document.querySelector(`[data-kind="${CSS.escape(kind)}"] .swatch`)).backgroundColor""",
            kind,
        )
        return tuple(int(part) for part in rgb.strip("rgb()").split(",")[:3])

    def place(self, rank, kind, share=0.5, dy=0.25):
        """Screen coordinates inside the first span of that kind on that rank, near its left edge
        where no text is."""
        x, y, _, _ = self.box("#timeline")
        left, top, width, height = self.page.evaluate(
            """([rank, kind]) => {
                const { model, timeline } = stria;
                for (let i = 0; i < model.count; ++i)
                  if (model.rank[i] === rank && model.kindName(i) === kind) {
                    const box = timeline.boxOf(i);
                    return [box.left, box.top, box.width, box.height];
                  }
              }""",
            [rank, kind],
        )
        return x + left + width * share, y + top + height * dy

    def pixel(self, x, y):
        return self.picture().getpixel((round(x), round(y)))

    def column(self, selector, share):
        """Returns the pixels of a chart from top to bottom, `share` of the way through its time
        axis."""
        gutter = 118
        x, y, width, height = self.box(selector)
        picture = self.picture()
        column = round(x + gutter + share * (width - gutter))
        return [picture.getpixel((column, round(y) + row)) for row in range(round(height))]

    def close(self):
        self.page.close()
