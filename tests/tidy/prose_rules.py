"""Rules for comments and documents: lines of at most 100 columns, British spelling, in docs/
paragraphs of at most 100 words, and comments that open with their subject or their verb.

Code has the formatter's limit of 128. A comment behind code must end within 100 as well; only those
that tools read (NOLINT, noqa) and those of preprocessor lines are free. Tables, code and addresses
in documents can't be wrapped, and are as wide as they are."""

import io
import re
import tokenize

from source_tree import Violation

MAX_COLUMNS = 100
MAX_WORDS = 100  # the words of a paragraph in docs/

# American and British spelling; `catalog` is the one word that keeps the American one.
SPELLINGS = {
    "neighbor": "neighbour",
    "color": "colour",
    "behavior": "behaviour",
    "center": "centre",
    "honor": "honour",
    "favor": "favour",
    "gray": "grey",
    "fulfill": "fulfil",
    "analyze": "analyse",
    "labeled": "labelled",
    "canceled": "cancelled",
    "catalogue": "catalog",
}
# A word by itself: not a part of a name with underscores, of a path, an option or a call.
_SPELLED = re.compile(r"(?<![\w./<:-])(" + "|".join(SPELLINGS) + r")(?:s|ed|ing|d|hood)?(?![\w(:-]|\.\w)", re.IGNORECASE)
# A comment that opens with one of these leans on what stands before it, or keeps its reader waiting
# for its subject.
_FRAGMENT = re.compile(
    r"(?:about|above|across|after|against|along|among|around|as|at|before|behind|below|beneath|besides?|between|beyond"
    r"|by|despite|during|except|for|from|in|inside|instead|into|like|likewise|of|on|onto|outside|over|past|per|since"
    r"|than|through|throughout|till|to|towards?|under|underneath|unlike|until|upon|via|which|whom|whose|with|within"
    r"|without)\b(?![-_(./])",
    re.IGNORECASE,
)
# A comment behind code is a label. Others of these words, such as "in bytes", make good labels.
_FRAGMENT_OF_LABEL = re.compile(r"(?:as|likewise|of|which|whom|whose)\b(?![-_(./])", re.IGNORECASE)
_COMMENT_MARK = re.compile(r"(?:///<|///|//|/\*+|\*|#|!)\s*")
_CODE_SPAN = re.compile(r"`[^`\n]*`|\{[^{}\n]*\}")
_FOR_TOOLS = re.compile(r"(//|#) ?(NOLINT|noqa|clang-format|type:)")
_ADDRESS = re.compile(r"https?://\S{40,}")

_C_TOKENS = re.compile(
    r'R"(?P<delimiter>[^()\s\\]{0,16})\(.*?\)(?P=delimiter)"'
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'"
    r"|(?P<comment>//[^\n]*|/\*.*?\*/)",
    re.DOTALL,
)
_HASH_SUFFIXES = {".sh", ".cmake", ".toml", ".in", ".supp", ".env"}
_HASH_NAMES = {"CMakeLists.txt", "Makefile"}


def check(files):
    violations = []
    for file in files:
        if file.text is None or file.is_corpus:
            continue
        for number, text, line in prose_lines(file):
            if len(line) > MAX_COLUMNS and not _is_free(line, text):
                what = f"a comment or document line of {len(line)} columns; {MAX_COLUMNS} are allowed"
                violations.append(Violation(file.path, number, what))
            for match in _SPELLED.finditer(_CODE_SPAN.sub("", text)):
                word = match.group(1)
                violations.append(Violation(file.path, number, f"'{word}' is spelt '{SPELLINGS[word.lower()]}' here"))
        violations += _long_paragraphs(file)
        violations += _fragments(file)
    return violations


def _fragments(file):
    """Yields a violation for each comment that opens with a fragment."""
    for number, text, is_label in comments_of(file):
        if is_fragment(text, is_label):
            what = f"a comment that opens with '{text.split()[0]}': open it with its subject or its verb"
            yield Violation(file.path, number, what)


def is_fragment(text, is_label=False):
    """Tells whether a comment's words open with a fragment."""
    return (_FRAGMENT_OF_LABEL if is_label else _FRAGMENT).match(text) is not None


def comments_of(file):
    """Yields the comments of a file like comments(), whatever its language; docstrings are among
    them."""
    if file.is_cpp:
        return comments(file.text)
    if file.suffix == ".py":
        return _joined(_marked_in_python(file.text))
    if file.suffix in _HASH_SUFFIXES or file.name in _HASH_NAMES:
        return _joined(_marked_in_lines(file.text, "#(?!!)"))
    if file.suffix in {".f90", ".inc"}:
        return _joined(_marked_in_lines(file.text, "!"))
    if file.suffix == ".js":
        return _joined(_marked_in_lines(file.text, "//"))
    return []


def comments(text):
    """Yields (number of the first line, words, whether it stands behind code) of the comments of
    C++; whole lines of // that follow each other are one."""
    return _joined(_marked_in_c(text))


def _joined(marked):
    """Joins comments (line, column, text, is_label) where one is a whole line below the mark of the
    one before, and takes their marks away."""
    first, words, is_first_label, follows = 0, "", False, None
    for line, column, text, is_label in marked:
        stripped = " ".join(_COMMENT_MARK.sub("", each.strip(), count=1) for each in text.split("\n"))
        if not is_label and (line, column) == follows:
            words += " " + stripped
        else:
            yield first, words, is_first_label
            first, words, is_first_label = line, stripped, is_label
        follows = (line + 1, column) if text.startswith(("//", "#", "!")) else None
    yield first, words, is_first_label


def _marked_in_c(text):
    for match in _C_TOKENS.finditer(text):
        if match.group("comment") is not None:
            before = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
            yield text.count("\n", 0, match.start()) + 1, len(before), match.group(), bool(before.strip())


def _marked_in_python(text):
    for token, is_docstring in _prose_tokens(text):
        line, column = token.start
        words = token.string.lstrip("rRfFbB").strip('"') if is_docstring else token.string
        yield line, column, words, bool(token.line[:column].strip())


def _marked_in_lines(text, mark):
    """Yields whole lines, and what stands behind code if no quote makes it doubtful."""
    for number, line in enumerate(text.split("\n"), start=1):
        match = re.search(rf"(?:^|(?<=\s)){mark}.*", line)
        if match and not re.search(r"[\"'`$\\]", line[: match.start()]):
            yield number, match.start(), match.group(), bool(line[: match.start()].strip())


def _long_paragraphs(file):
    """Paragraphs of a document in docs/ that should be split at their thoughts."""
    if file.suffix != ".md" or not file.path.startswith("docs/"):
        return []
    lengths = {first: sum(len(line.split()) for line in lines) for first, lines in _paragraphs(file.text.split("\n"))}
    what = "a paragraph of {} words; {} are allowed: split it where a thought ends"
    return [Violation(file.path, first, what.format(words, MAX_WORDS)) for first, words in lengths.items() if words > MAX_WORDS]


def _paragraphs(lines):
    """Yields (number of the first line, lines) of paragraphs. Items of lists are none, but what
    follows behind an empty line within an item is."""
    paragraph = []
    first = before = 0
    in_item = False
    for number, text in _of_markdown(lines):
        is_new = number != before + 1 or not lines[before - 1].strip()
        begins_item = re.match(r"\s*([-*+]|\d+\.) ", text)
        if paragraph and (is_new or begins_item or text.startswith("#")):
            yield first, paragraph
            paragraph = []
        in_item = bool(begins_item) or (in_item and not is_new)
        before = number
        if text.strip() and not in_item and not text.startswith("#"):
            first = first if paragraph else number
            paragraph.append(text)
    if paragraph:
        yield first, paragraph


def prose_lines(file):
    """Yields (number, prose on the line, whole line) of comments, docstrings and documents."""
    lines = file.text.split("\n")
    for number, text in _prose(file, lines):
        yield number, text, lines[number - 1]


def _prose(file, lines):
    if file.is_cpp:
        return _of_c(file.text)
    if file.suffix in {".js", ".css"}:
        return _of_marked(lines, r"//|/\*|\*")
    if file.suffix == ".py":
        return _of_python(file.text)
    if file.suffix == ".md":
        return _of_markdown(lines)
    if file.suffix == ".f90":
        return _of_marked(lines, "!")
    if file.suffix in _HASH_SUFFIXES or file.name in _HASH_NAMES:
        return _of_marked(lines, "#")
    return []


def _is_free(line, text):
    return _FOR_TOOLS.search(text) or _ADDRESS.search(line)


def _of_c(text):
    for match in _C_TOKENS.finditer(text):
        if match.group("comment") is None:
            continue
        first = text.count("\n", 0, match.start()) + 1
        before = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
        if before.lstrip().startswith("#"):
            continue
        for offset, part in enumerate(match.group().split("\n")):
            yield first + offset, part


def _of_marked(lines, mark):
    """Lines that are comments as a whole."""
    for number, line in enumerate(lines, start=1):
        if re.match(rf"\s*(?:{mark})", line):
            yield number, line


def _of_python(text):
    for token, _ in _prose_tokens(text):
        for offset, part in enumerate(token.string.split("\n")):
            yield token.start[0] + offset, part


def _prose_tokens(text):
    """Yields (token, whether it is a docstring) of comments and docstrings."""
    begins_statement = True
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        is_docstring = token.type == tokenize.STRING and begins_statement and '"""' in token.string[:4]
        if token.type == tokenize.COMMENT or is_docstring:
            yield token, is_docstring
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            begins_statement = token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)


def _of_markdown(lines):
    in_fence = in_block = False
    for number, line in enumerate(lines, start=1):
        # Four blanks after an empty line begin a block of code.
        in_block = line.startswith("    ") and (in_block or number == 1 or not lines[number - 2].strip())
        if line.lstrip().startswith(("```", "~~~")):
            in_fence = not in_fence
        elif not in_fence and not in_block and not line.lstrip().startswith("|"):
            yield number, re.sub(r"\]\([^)]*\)", "]", line)
