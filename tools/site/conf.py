"""Sphinx's settings for the site (scripts/docs.sh). Nothing in it is fetched from elsewhere."""

import os
import pathlib
import re
import sys

_ROOT = pathlib.Path(__file__).resolve().parents[2]

project = "Stria"
author = "the authors of Stria"
copyright = author
version = release = re.search(r"project\(stria VERSION ([0-9.]+)", (_ROOT / "CMakeLists.txt").read_text()).group(1)
extensions = ["myst_parser", "sphinx.ext.autodoc"]
root_doc = "index"

# Markdown as GitHub and the repository's own checks read it: headings are targets.
myst_heading_anchors = 4
suppress_warnings = ["myst.header"]  # a document may begin below its folder's level

# The package for Python is read as it is in the repository; its compiled modules are not needed.
sys.path.insert(0, str(_ROOT / "bindings" / "python"))
autodoc_mock_imports = ["numpy", "stria._serial"]
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
default_role = "code"

html_theme = "furo"
html_title = f"Stria {version}"
html_static_path = [os.path.join(os.path.dirname(__file__), "static")]
html_css_files = ["site.css"]
html_js_files = [("scrolling.js", {"defer": "defer"})]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
# A page from disk may not read another one, so that results are titles and sections.
html_show_search_summary = False
# Every word of both styles stands out from its ground by 4.5 to 1 or more.
pygments_style = "xcode"
pygments_dark_style = "native"
