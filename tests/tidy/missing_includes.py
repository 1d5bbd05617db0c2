"""Headers that a file uses and doesn't include, itself or through headers of ours.

Builds that compile the files of a target together (STRIA_UNITY) don't miss such a header, because a
file before this one brings it, and precompiled headers bring those of the standard library. Builds
of one file after another then fail. Two kinds of names are looked up: those of the standard
library whose header is told by no other, and types that one of our headers defines.
"""

import collections
import re

from function_length import blank
from include_graph import resolve
from source_tree import Violation

# The table leaves out names that most headers bring: of <string>, <vector>, <memory>, <utility>,
# <exception>.
_STANDARD = {
    "algorithm": """adjacent_find all_of any_of binary_search clamp copy_if count count_if equal_range find find_first_of
        find_if find_if_not for_each generate generate_n includes inplace_merge is_permutation is_sorted max_element merge
        min_element minmax minmax_element next_permutation none_of nth_element partial_sort partition partition_point
        pop_heap push_heap remove_if replace reverse rotate search set_difference set_intersection set_union shuffle sort
        stable_partition stable_sort transform unique upper_bound""",
    "array": "array",
    "atomic": "atomic atomic_ref atomic_thread_fence",
    "bit": "bit_cast bit_ceil bit_width countl_zero countr_zero endian has_single_bit popcount",
    "charconv": "from_chars to_chars",
    "chrono": "chrono",
    "cmath": "cbrt ceil cos exp floor fmod frexp hypot isfinite isinf isnan ldexp llround log2 lround nextafter pow sin sqrt",
    "condition_variable": "condition_variable",
    "csignal": "raise signal",
    "cstdio": "FILE fclose fflush fopen fprintf fputs fread fwrite printf puts snprintf",
    "cstdlib": "_Exit abort aligned_alloc atoi exit free getenv malloc strtod strtol strtoull system",
    "cstring": "memchr memcmp memcpy memmove memset strchr strcmp strerror strlen",
    "deque": "deque",
    "filesystem": "filesystem",
    "fstream": "fstream ifstream ofstream",
    "functional": "cref function greater hash invoke plus reference_wrapper",
    "future": "async future packaged_task promise",
    "iomanip": "setfill setprecision setw",
    "iostream": "cerr cin cout",
    "limits": "numeric_limits",
    "list": "list",
    "map": "map multimap",
    "mutex": "call_once lock_guard mutex once_flag recursive_mutex scoped_lock unique_lock",
    "numeric": "accumulate exclusive_scan gcd inclusive_scan inner_product iota lcm partial_sum reduce",
    "optional": "nullopt optional",
    "queue": "priority_queue queue",
    "random": "mt19937 mt19937_64 normal_distribution random_device uniform_int_distribution uniform_real_distribution",
    "regex": "regex smatch",
    "set": "multiset set",
    "shared_mutex": "shared_lock shared_mutex",
    "span": "as_bytes as_writable_bytes span",
    "sstream": "istringstream ostringstream stringstream",
    "stdexcept": "invalid_argument logic_error out_of_range runtime_error",
    "string_view": "string_view",
    "thread": "jthread thread",
    "unordered_map": "unordered_map",
    "unordered_set": "unordered_set",
    "variant": "get_if holds_alternative monostate variant visit",
}
_OWNER = {name: header for header, names in _STANDARD.items() for name in names.split()}

_INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)
_USE_OF_STANDARD = re.compile(r"\bstd::(\w+)")
_USE_OF_TYPE = re.compile(r"(?<![\w.>])(?<!::)([A-Z]\w*[a-z]\w*)\b")
_TYPE = re.compile(
    r"^(?:template\s*<[^;{]*>\s*)?(?:class|struct|enum class|enum struct|enum|union)\s+"
    r"(?:\[\[\w+\]\]\s*)?(?:alignas\([^)]*\)\s*)?([A-Z]\w+)\b(?!\s*;)[^;{]*\{|^using\s+([A-Z]\w+)\s*=",
    re.MULTILINE,
)
_DECLARED = re.compile(r"\b(?:class|struct|enum|union|using|typename|concept)(?:\.\.\.)?\s+(?:\[\[\w+\]\]\s*)?([A-Z]\w+)\b")
# What the macros of GoogleTest make a name of is no use of a type.
_TEST_NAMES = re.compile(r"\b(?:TEST|TEST_F|TEST_P|TYPED_TEST|INSTANTIATE_TEST_SUITE_P)\s*\([^)]*\)")


def check(files):
    code = {file.path: file for file in files if file.is_cpp}
    texts = {path: _TEST_NAMES.sub("", blank(file.text)) for path, file in code.items()}
    edges = {path: _edges(file, code) for path, file in code.items()}
    homes = collections.defaultdict(set)
    for path in code:
        if path.endswith((".hpp", ".h")):
            for match in _TYPE.finditer(texts[path]):
                homes[match.group(1) or match.group(2)].add(path)
    declared = {path: set(_DECLARED.findall(text)) for path, text in texts.items()}
    violations = []
    for path in code:
        if path.endswith(".cpp"):
            ours, others = _reached(path, edges)
            for name, header in _missing(texts[path], ours, others, homes, declared):
                line = texts[path][: re.search(rf"\b{name}\b", texts[path]).start()].count("\n") + 1
                violations.append(Violation(path, line, f"uses {name} without {header}: include it"))
    return violations


def _edges(file, paths):
    """Returns what a file includes: paths of ours, and names of other headers."""
    ours, others = [], []
    for name in _INCLUDE.findall(file.text):
        path = resolve(file.path, name, paths)
        (ours if path else others).append(path or name)
    return ours, others


def _reached(path, edges):
    """Returns the same for all that a file includes, itself and through ours; the file is one of
    ours."""
    ours, others, left = set(), set(), [path]
    while left:
        here = left.pop()
        if here not in ours:
            ours.add(here)
            left += edges[here][0]
            others.update(edges[here][1])
    return ours, others


def _missing(text, ours, others, homes, declared):
    """Yields the names without their header, and the header: one name for each."""
    needs = {}
    for name in sorted(set(_USE_OF_STANDARD.findall(text))):
        if name in _OWNER and _OWNER[name] not in others:
            needs.setdefault(f"<{_OWNER[name]}>", name)
    here = set().union(*(declared[path] for path in ours))
    for name in sorted(set(_USE_OF_TYPE.findall(text)) - here):
        if name in homes and not homes[name] & ours:
            needs.setdefault(f'"{min(homes[name])}"', name)
    return [(name, header) for header, name in needs.items()]
