"""Names of one target's files that would clash where its files are compiled together
(STRIA_UNITY).

Two files of a target may not define the same name without linkage in one namespace: functions of
the same parameters, types, constants, aliases. Nor may a file define one that a header declares,
which any file of the target includes. The names are read from the text, the targets from the
CMakeLists.txt. What this can't see, as an ambiguous call, is found by the builds of `make check`
with STRIA_UNITY.
"""

import collections
import posixpath
import re

import include_graph
from function_length import blank
from source_tree import Violation

_COMMAND = re.compile(r"^[ \t]*(\w+)\s*\(\s*([^\s()]+)((?:[^()]|\([^()]*\))*)\)", re.MULTILINE)
_APART = re.compile(r"\b(?:COMPILE_OPTIONS|COMPILE_DEFINITIONS|SKIP_UNITY_BUILD_INCLUSION)\b")
_NO_TARGET = {"foreach", "function", "add_test", "add_custom_command", "set", "install"}
_NAMESPACE = re.compile(r"^(?:inline\s+)?namespace\b\s*([\w:]*)$")
_TYPE = re.compile(r"^(?:enum\s+(?:class|struct)|enum|class|struct|union)\s+(?:alignas\s*\([^)]*\)\s*)?(\w+(?:\s*<.*>)?)")
_ALIAS = re.compile(r"^using\s+(\w+)\s*=\s*(.*)", re.DOTALL)
_VARIABLE = re.compile(r"(\w+)\s*(?:\[[^]]*\]\s*)*$")
_WORD = re.compile(r"\w+|[^\w\s]")
_SPECIFIERS = {"const", "volatile", "unsigned", "signed", "long", "short", "struct", "class", "enum", "typename"}


def check(files):
    sources = {file.path: file for file in files if file.is_cpp and file.suffix in {".cpp", ".c"}}
    headers = {file.path: list(shared_names(file.text)) for file in files if file.is_cpp and file.suffix == ".hpp"}
    included = _includes(files)
    names = {}
    violations = set()
    for paths in _targets(files).values():
        places = collections.defaultdict(list)
        for path in sorted(paths & sources.keys()):
            if path not in names:
                names[path] = list(local_names(sources[path].text))
            for name, meaning, line, hidden in names[path]:
                if path.endswith(".c"):
                    name = name.split("(")[0]
                places[name].append((path, line, meaning, hidden))
        declared = _declared_for(paths & sources.keys(), included, headers)
        for name, found in places.items():
            for path, line, _, hidden in found:
                if hidden and name in declared:
                    text = f"{name} is declared in {declared[name]} too, which the same target compiles: give it another name"
                    violations.add(Violation(path, line, text))
            for path, line, meaning, hidden in found[1:]:
                if path == found[0][0] or (meaning and (meaning, hidden) == found[0][2:]):
                    continue  # an overload, a specialisation, an alias of one meaning in one scope
                text = f"{name} is in {found[0][0]} too, which the same target compiles: give one another name, or share it"
                violations.add(Violation(path, line, text))
    return list(violations)


def _targets(files):
    """Returns the paths of the sources of each target that are compiled together. A target whose
    name is a variable is told from others by its folder."""
    targets = collections.defaultdict(list)
    apart = set()  # files with options of their own, which CMake compiles by themselves
    for file in files:
        if file.name != "CMakeLists.txt" or file.text is None:
            continue
        folder = posixpath.dirname(file.path)
        text = re.sub(r"#.*", "", file.text)
        known = {"CMAKE_SOURCE_DIR": "/", "CMAKE_CURRENT_SOURCE_DIR": "/" + folder}
        for name, value in re.findall(r"\bset\s*\((\w+)\s+(\S+?)\)", text):
            known[name] = _resolved(value, known)
        for command, target, arguments in _COMMAND.findall(text):
            paths = [
                posixpath.normpath(posixpath.join("/" + folder, _resolved(argument, known)))[1:]
                for argument in [target, *arguments.split()]
                if argument.endswith((".cpp", ".c"))
            ]
            if command == "set_source_files_properties":
                if _APART.search(arguments):
                    apart.update(paths)
            elif command not in _NO_TARGET:
                targets[target, folder if "$" in target else ""] += paths
    return {target: set(paths) - apart for target, paths in targets.items()}


def _resolved(text, known):
    return re.sub(r"\$\{(\w+)\}", lambda match: known.get(match.group(1), match.group()), text)


def _includes(files):
    """Returns the headers of ours that each file includes itself: {path: paths}."""
    paths = {file.path for file in files}
    included = {}
    for file in files:
        if file.is_cpp:
            found = (include_graph.included_file(file.path, line, paths) for _, line in file.lines())
            included[file.path] = {path for path in found if path is not None}
    return included


def _declared_for(sources, included, headers):
    """Returns what the headers declare that any of the sources includes, by others too: {name:
    header}."""
    seen, waiting = set(), list(sources)
    while waiting:
        path = waiting.pop()
        if path not in seen:
            seen.add(path)
            waiting += included[path]
    return {name: path for path in sorted(seen & headers.keys()) for name in headers[path]}


def shared_names(text):
    """Yields the types, functions, constants and aliases that a header declares in namespaces with
    names."""
    for name, *_ in _names(text, lambda head, opened, hidden: [] if hidden else _declared(head, opened)):
        yield name


def local_names(text):
    """Yields (name, meaning of an alias or None, line, whether its namespace has no name) of what
    the text defines in namespaces and no other file of the target may."""
    return _names(text, _defined)


def _names(text, names_of):
    text = blank(text)
    scopes = []  # names of the open namespaces; None for one without a name, "" for extern "C"
    position = head_start = 0
    while match := re.compile(r"[{};]").search(text, position):
        position = match.end()
        head = re.sub(r"\[\[.*?\]\]", "", text[head_start : match.start()]).strip()
        start = head_start + len(text[head_start:]) - len(text[head_start:].lstrip())
        head_start = position
        if match.group() == "}":
            if scopes:
                scopes.pop()
            continue
        opened = match.group() == "{"
        if opened:
            space = _NAMESPACE.match(head)
            if space or head == "extern":
                scopes.append((space.group(1) or None) if space else "")
                continue
            position = head_start = _after_block(text, match.start())
            # The rest of a value, or objects of the type.
            if "(" not in head.split("=")[0] or _TYPE.match(head):
                position = head_start = text.find(";", position) + 1 or len(text)
        for name, meaning in names_of(head, opened, None in scopes):
            place = "::".join(scope for scope in scopes if scope)
            yield (f"{place}::{name}" if place else name), meaning, text.count("\n", 0, start) + 1, None in scopes


def _after_block(text, opening):
    depth = 0
    for match in re.compile(r"[{}]").finditer(text, opening):
        depth += 1 if match.group() == "{" else -1
        if depth == 0:
            return match.end()
    return len(text)


def _without_template(head):
    template = re.match(r"template\s*<", head)
    while template:
        head = head[_closing(head, template.end() - 1) + 1 :].lstrip()
        head = re.sub(r"^requires\s+\w+(?:<[^>]*>)?\s+(?=\w)", "", head)
        template = re.match(r"template\s*<", head)
    return head


def _declared(head, opened):
    """Returns the type, function, constant or alias that a declaration in a header names for
    all."""
    head = _without_template(head)
    if alias := _ALIAS.match(head):
        yield alias.group(1), alias.group(2)
    if head.startswith(("friend ", "static_assert", "typedef ", "using ", "#")):
        return
    before_value = _before_value(head)
    if kind := _TYPE.match(head):
        if opened:
            yield kind.group(1), None
    elif function := re.search(r"(\w+)\s*\(", before_value):
        yield f"{function.group(1)}({_types(head[function.end() - 1 :])})", None
    elif variable := _variable(before_value):
        yield variable, None


def _defined(head, opened, hidden):
    """Returns the names that a declaration up to its brace or semicolon defines for its file
    alone."""
    head = _without_template(head)
    if not head or head.startswith(("friend ", "static_assert", "typedef ", "extern ")):
        return
    if kind := _TYPE.match(head):
        if opened and hidden:
            yield kind.group(1), None
        return
    if alias := _ALIAS.match(head):
        yield alias.group(1), alias.group(2)
        return
    if head.startswith("using "):
        return
    local = hidden or re.match(r"(?:inline\s+|thread_local\s+)*(?:static|constexpr|const)\b", head)
    before_value = _before_value(head)
    if "(" in before_value and (function := re.search(r"(operator\s*[^\s\w(]+|[\w:~]+)\s*\(", before_value)):
        if opened and local and "::" not in function.group(1):
            yield f"{function.group(1)}({_types(head[function.end() - 1 :])})", None
    elif local and (variable := _variable(before_value)):
        yield variable, None


def _before_value(head):
    return re.split(r"(?<![=!<>+\-*/])=(?!=)", head, maxsplit=1)[0]


def _variable(declaration):
    """Returns the variable that it declares, or None."""
    variable = _VARIABLE.search(declaration.rstrip())
    return variable.group(1) if variable and " " in declaration else None


def _closing(text, opening):
    """Returns where the bracket at opening closes."""
    pairs = {"(": ")", "<": ">"}
    depth = 0
    for index in range(opening, len(text)):
        if text[index] == text[opening]:
            depth += 1
        elif text[index] == pairs[text[opening]]:
            depth -= 1
            if depth == 0:
                return index
    return len(text) - 1


def _types(parameters):
    """Returns the types of "(parameters) …", without their names and defaults."""
    parts, depth, part = [], 0, ""
    for character in parameters[1 : _closing(parameters, 0)]:
        depth += (character in "(<{[") - (character in ")>}]")
        if character == "," and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += character
    parts.append(part)
    return ", ".join(_type(part) for part in parts)


def _type(parameter):
    words = _WORD.findall(parameter.split("=", 1)[0])
    if len(words) > 1 and words[-1].isidentifier() and words[-2] != ":" and words[-2] not in _SPECIFIERS:
        words.pop()
    return re.sub(r" ?([^\w]) ?", r"\1", " ".join(words))
