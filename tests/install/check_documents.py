#!/usr/bin/env python3
"""Every link of the installed documents leads to an installed file.

usage: check_documents.py FOLDER
"""

import pathlib
import re
import sys

folder = pathlib.Path(sys.argv[1]).resolve()
documents = list(folder.rglob("*.md"))
assert folder / "README.md" in documents and folder / "docs/tutorial.md" in documents, documents
broken = [
    f"{document.relative_to(folder)}: {link}"
    for document in documents
    for link in re.findall(r"\]\(([^)\s#]+)[^)\s]*\)", document.read_text())
    if not re.match(r"\w+:", link) and not (document.parent / link).exists()
]
assert not broken, broken
