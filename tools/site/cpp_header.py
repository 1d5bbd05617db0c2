"""The public parts of a C++ header of include/stria: declarations with their comments."""

import dataclasses
import re

_SCOPE = re.compile(r"^(?:class|struct) (?:\[\[\w+\]\] )?(\w+)[^;{]*\{$")


@dataclasses.dataclass
class Entry:
    """Declarations under one comment."""

    comment: str
    declarations: list  # each as it stands in the header, without the body of a function
    name: str = ""  # the name of a class or struct
    entries: list = dataclasses.field(default_factory=list)  # its public members
    base: str = ""
    template: str = ""


@dataclasses.dataclass
class Header:
    introduction: str
    namespace: str
    entries: list


def parse(text):
    lines = text.splitlines()
    introduction = []
    while lines and lines[0].startswith("//"):
        introduction.append(lines.pop(0).removeprefix("//").removeprefix(" "))
    namespace = ""
    begin = end = 0
    for number, line in enumerate(lines):
        match = re.match(r"namespace (stria(?:::trace)?) \{", line)
        if match:
            namespace, begin = match.group(1), number + 1
        if line == f"}}  // namespace {namespace}":
            end = number
    return Header("\n".join(introduction), namespace, _entries(lines[begin:end], ""))


def _entries(lines, owner):
    """Returns the public declarations among the lines of a namespace or a class."""
    entries, comment, public, at = [], [], True, 0
    if owner and owner.startswith("class"):
        public = False
    while at < len(lines):
        line = lines[at].strip()
        at += 1
        if line in ("public:", "private:"):
            public, comment = line == "public:", []
        elif line.startswith("///"):
            comment.append(line.removeprefix("///").removeprefix(" "))
        elif not line or line.startswith(("//", "#")):
            comment = []
        else:
            block = [lines[at - 1]]
            while not _is_whole(block):
                block.append(lines[at])
                at += 1
            if public:
                _add(entries, comment, _dedent(block))
            comment = []
    return entries


def _add(entries, comment, block):
    first = block[0]
    if re.match(r"(friend|namespace|class \w+;|struct \w+;|template <typename T>$)", first) and len(block) == 1:
        return
    if first.startswith(("friend", "namespace")):
        return
    # A class template is one by its second line.
    heads = block[1:] if first.startswith("template") and len(block) > 1 else block
    scope = _SCOPE.match(heads[0])
    if scope and any("(" in line.partition("//")[0] for line in heads[1:]):
        kind = heads[0].split()[0]
        base = re.search(r" : public ([\w:]+)", heads[0])
        entry = Entry("\n".join(comment), [], scope.group(1), _entries(heads[1:-1], f"{kind} {scope.group(1)}"))
        entry.template = first if heads is not block else ""
        entry.base = base.group(1) if base else ""
        entries.append(entry)
        return
    whole = "\n".join(block)
    text = whole if is_data(whole) else _signature(block)
    is_first = comment or not entries or entries[-1].name or re.match(r"(struct|enum|class) ", whole)
    if is_first or is_data(whole) != is_data(entries[-1].declarations[-1]):
        entries.append(Entry("\n".join(comment), [text]))
    else:
        entries[-1].declarations.append(text)


def is_data(declaration):
    """Enums, structs of data, constants and other names are shown as they are."""
    lines = declaration.splitlines()
    first = lines[0].partition("//")[0]
    if first.startswith("template") and len(lines) > 1:
        return lines[1].startswith(("inline constexpr", "concept"))
    if first.startswith(("using", "inline constexpr", "alignas")) or re.search(r"\bconcept \w+ =", declaration):
        return True
    return "(" not in _without_arguments(first) and not first.startswith("template")


def _without_arguments(declaration):
    """Returns the declaration without the arguments of its templates, which may be calls."""
    shorter = re.sub(r"<[^<>]*>", "", declaration)
    return shorter if shorter == declaration else _without_arguments(shorter)


def _is_whole(block):
    text = re.sub(r"//.*", "", "\n".join(block)).rstrip()
    balanced = all(text.count(opening) == text.count(closing) for opening, closing in ("{}", "()"))
    return balanced and (text.endswith((";", "}")) and not re.search(r"^requires.*$", text))


def _signature(block):
    """Returns one line: what is before the body, and before a constructor's initialisers."""
    text = " ".join(re.sub(r"//.*", "", line).strip() for line in block).strip()
    depth = 0
    for at, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if depth == 0 and (text.startswith(" {", at) or text.startswith(" : ", at)):
            text = text[:at]
            break
    return text.rstrip(" ;")


def _dedent(block):
    indent = len(block[0]) - len(block[0].lstrip())
    return [line[indent:] for line in block]
