"""Text in the language of man pages (man(7) of groff and mandoc)."""

import re

_SPAN = re.compile(r"`([^`]+)`|\[([^\]]+)\]\([^)]*\)|\*\*([^*]+)\*\*|(?<![\w*])\*([^*]+)\*(?![\w*])")


def text(words):
    """Words as they are: no line of them is taken for a request."""
    escaped = words.replace("\\", "\\e")
    # groff takes bytes beyond ASCII for Latin-1 where nobody says otherwise.
    escaped = "".join(char if char.isascii() else f"\\[u{ord(char):04X}]" for char in escaped)
    return re.sub(r"^(?=[.'])", r"\\&", escaped, flags=re.MULTILINE)


def literal(words):
    """Does the same as text(), for what is typed: its hyphens stay hyphens when they are copied."""
    return text(words).replace("-", "\\-")


def bold(words):
    return f"\\fB{literal(words)}\\fR"


def marked(words):
    """Returns a paragraph of Markdown on one line: code becomes bold, links and emphasis what they
    say."""
    words = " ".join(words.split())
    out, end = "", 0
    for span in _SPAN.finditer(words):
        code, link, strong, emphasis = span.groups()
        out += text(words[end : span.start()])
        if code:
            out += bold(code)
        elif link:
            out += marked(link)
        else:
            out += f"\\fI{text(strong or emphasis)}\\fR"
        end = span.end()
    out += text(words[end:])
    # A span may stand first on the line, so that what follows it is not.
    return re.sub(r"^\\&?(?=\\f)", "", out)


def header(name, section, release):
    """`release`: the program's version and the date of the pages."""
    version, date = release
    return f'.TH {name.upper()} {section} {date} "stria {version}" "Stria"\n'


def heading(words):
    return f".SH {words}\n"


def paragraph(words):
    """Makes a paragraph of a line that is escaped already."""
    return f".PP\n{words}\n"


def item(tag, words):
    """Returns a tagged paragraph; both are escaped already."""
    return f".TP\n{tag}\n{words}\n"


def verbatim(lines):
    return ".PP\n.nf\n" + "".join(f"{literal(line)}\n" for line in lines) + ".fi\n"


def see_also(pages):
    """Writes references to (name, section)."""
    return heading("SEE ALSO") + ",\n".join(f"\\fB{literal(name)}\\fR({section})" for name, section in pages) + "\n"
