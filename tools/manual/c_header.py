"""The parts of stria.h: sections, and in them functions and structs with their comments."""

import dataclasses
import re

_SECTION = re.compile(r"^-{4} (.*?) -{4}\s*")
_FUNCTION = re.compile(r"\b(stria_\w+)\(")
_STRUCT = re.compile(r"^typedef struct (stria_\w+) \{")


@dataclasses.dataclass
class Group:
    """Declarations under one comment."""

    section: str
    comment: str  # paragraphs, each on a line; "" where the section's words are all
    declarations: list
    needs_mpi: bool = False

    @property
    def functions(self):
        return [name for text in self.declarations for name in _FUNCTION.findall(text)[:1] if not _STRUCT.match(text)]

    @property
    def structs(self):
        return [match.group(1) for text in self.declarations if (match := _STRUCT.match(text))]


@dataclasses.dataclass
class Header:
    introduction: list  # its first comment, paragraph by paragraph; an example keeps its lines
    sections: dict  # title: the words beneath it
    groups: list
    types: list  # declarations of enums and of handles

    @property
    def functions(self):
        return [name for group in self.groups for name in group.functions]

    def struct(self, name):
        return next((group for group in self.groups if name in group.structs), None)


def parse(text):
    first, *items = _items(text)
    header = Header(_paragraphs(first[1]), {}, [], [])
    section, group, needs_mpi = "", None, False
    for kind, words in items:
        if kind == "mpi":
            needs_mpi = words == "begin"
        elif kind == "blank":
            group = None
        elif kind == "comment":
            match = _SECTION.match(words)
            if match:
                section, group = match.group(1), None
                section = section.split(".")[0]
                header.sections[section] = (match.group(1) + "\n" + words[match.end() :]).strip()
                header.sections[section] = header.sections[section].removeprefix(section).lstrip(". \n")
            group = Group(section, "" if match else words, [], needs_mpi)
        elif words.startswith("enum") or re.match(r"typedef struct \w+ \w+;", words):
            header.types.append((group.comment if group and not group.declarations else "", words))
            group = None
        else:
            if group is None:
                group = Group(section, "", [], needs_mpi)
            if not group.declarations:
                header.groups.append(group)
            group.declarations.append(words)
    return header


def _items(text):
    """Yields pairs: ("comment", words), ("code", a declaration), ("blank", ""), ("mpi", "begin") or
    ("mpi", "end")."""
    lines = iter(text.splitlines())
    for line in lines:
        if line.startswith("/*"):
            block = [line]
            while "*/" not in block[-1]:
                block.append(next(lines))
            yield "comment", "\n".join(re.sub(r"^/\*+ ?| \*/$|^ \* ?|^ \*/", "", part) for part in block).strip()
        elif line.startswith("#if defined(MPI_VERSION)"):
            yield "mpi", "begin"
        elif line.startswith("#endif"):
            yield "mpi", "end"
        elif not line.strip():
            yield "blank", ""
        elif not re.match(r'#|extern "C"|}$', line):
            block = [line]
            while not _is_whole("\n".join(block)):
                block.append(next(lines))
            yield "code", "\n".join(block)


def _is_whole(declaration):
    code = re.sub(r"/\*.*?\*/", "", declaration, flags=re.DOTALL)
    return "/*" not in code and code.count("{") == code.count("}") and code.rstrip().endswith(";")


def _paragraphs(comment):
    return [part for part in re.split(r"\n\s*\n", comment) if part.strip()]
