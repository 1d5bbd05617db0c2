#!/usr/bin/env python3
"""Makes docs/timeline.png: the charts of a timeline, as its own button saves them.

Problem: the README shows what a timeline is, in a picture that anybody can make again.
Method: the page is opened in headless Chromium, at the width of a README, and its button is
pressed. Few colours are kept, so that the file is small.

usage: timeline_picture.py TIMELINE.html OUT, as with the page that `make demo` leaves:
  build/venv/bin/python scripts/timeline_picture.py out/demo/timeline.html docs/timeline.png
"""

import argparse
import os
import pathlib
import shutil

from PIL import Image
from playwright.sync_api import sync_playwright

WIDTH, HEIGHT = 1180, 640  # of the window
SCALE = 1.5
COLOURS = 192


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("page", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    arguments = parser.parse_args()
    browser = os.environ.get("STRIA_BROWSER") or shutil.which("chromium-headless-shell")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        page = started.new_page(viewport={"width": WIDTH, "height": HEIGHT}, device_scale_factor=SCALE)
        page.goto(arguments.page.resolve().as_uri())
        page.wait_for_function("document.documentElement.dataset.ready === 'true'")
        page.wait_for_timeout(500)  # the last frame
        with page.expect_download() as download:
            page.click("#save")
        picture = Image.open(download.value.path()).convert("RGB")
        started.close()
    picture.quantize(COLOURS).save(arguments.out, optimize=True)


if __name__ == "__main__":
    main()
