#!/usr/bin/env python3
"""Makes the pages that Sphinx has written good for readers who hear them or use a keyboard alone.

Problem: the theme leaves headings of the sidebar without a level, two landmarks without a name, the
first cell of many tables a header without words, the search without a heading.
Method: each page's text is changed where its markup is known, after Sphinx and without its insides.
tests/site looks at the outcome with axe-core.

usage: finish.py SITE
"""

import argparse
import pathlib
import re

_CHANGES = [
    (r'(<p class="caption" role="heading")>', r'\1 aria-level="2">'),
    (r'<aside class="sidebar-drawer">', '<aside class="sidebar-drawer" aria-label="All pages">'),
    (r'<aside class="(toc-drawer[^"]*)">', r'<aside class="\1" aria-label="On this page">'),
    (r'<th class="head[^"]*"><p></p></th>', "<td></td>"),
    (r'(?=<div id="search-results">)', "<h1>Search</h1>\n"),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("site", type=pathlib.Path)
    site = parser.parse_args().site
    for page in site.rglob("*.html"):
        page.write_text(_finished(page.read_text()))


def _finished(text):
    for found, better in _CHANGES:
        text = re.sub(found, better, text)
    return text


if __name__ == "__main__":
    main()
