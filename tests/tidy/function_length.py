"""Lengths of C++ functions, measured on the text: comments and strings are blanked out, then
braces are matched.

An opening brace starts a function when the words before it hold a parameter list and it is not
inside a function, a parameter list or an initialiser. That is exact for formatted code without
brace-changing macros, and costs milliseconds.
"""

import re

from source_tree import Violation

MAX_FUNCTION_LINES = 80

_BLANKED = re.compile(
    r'R"(?P<delimiter>[^()\s\\]{0,16})\(.*?\)(?P=delimiter)"'
    r"|//[^\n]*"
    r"|/\*.*?\*/"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'"
    r"|^[ \t]*#(?:[^\n\\]|\\.|\\\n)*",
    re.DOTALL | re.MULTILINE,
)
_NOT_A_FUNCTION = re.compile(r"^\s*(?:template\s*<[^{}]*>\s*)?(?:namespace|class|struct|union|enum|extern)\b")
_NAME = re.compile(r"([~\w:]+|operator\s*\S+?)\s*\(")


def check(files):
    violations = []
    for file in files:
        if not file.is_cpp:
            continue
        for name, line, length in functions(file.text):
            if length > MAX_FUNCTION_LINES:
                text = f"{name} has {length} lines; {MAX_FUNCTION_LINES} are allowed: split it"
                violations.append(Violation(file.path, line, text))
    return violations


def blank(text):
    """Returns the text with blanks for comments, strings and preprocessor lines, at the same
    places."""
    return _BLANKED.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)


def functions(text):
    """Yields (name, first line, number of lines) of every function body, signature included."""
    text = blank(text)
    scopes = []  # one entry an open brace: (name, start) of a function, or None
    parentheses = 0
    head_start = 0
    inside_function = 0
    for position in (match.start() for match in re.finditer(r"[{}();]", text)):
        character = text[position]
        if character == "(":
            parentheses += 1
        elif character == ")":
            parentheses -= 1
        elif character == "{":
            name = None
            if not inside_function and parentheses == 0:
                name = _function_name(text[head_start:position])
            scopes.append((name, head_start, parentheses))
            inside_function += name is not None
            parentheses = 0
            head_start = position + 1
        elif character == "}" and scopes:
            name, start, parentheses = scopes.pop()
            if name is not None:
                inside_function -= 1
                start += len(text[start:]) - len(text[start:].lstrip())
                first = text.count("\n", 0, start) + 1
                yield name, first, text.count("\n", start, position) + 1
            head_start = position + 1
        elif character == ";" and parentheses == 0:
            head_start = position + 1


def _function_name(head):
    """Returns the name when the text before a brace is a function's signature, else None."""
    if "(" not in head or _NOT_A_FUNCTION.match(head):
        return None
    before_parameters = head[: head.index("(")]
    if re.search(r"(?<!operator)(?<![=!<>])=(?!=)", before_parameters) and "operator" not in before_parameters:
        return None
    match = _NAME.search(head)
    return match.group(1) if match else None
