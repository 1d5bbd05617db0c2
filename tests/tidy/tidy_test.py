#!/usr/bin/env python3
"""Plants each kind of violation in a small tree, and expects that it is found and nothing else."""

import unittest

import class_size
import measure
import missing_includes
import parameter_count
import united_names

import contracts
import function_length
import include_graph
import prose_rules
import text_rules
import tidy
from source_tree import SourceFile

HEADER = "// What it is for.\n#pragma once\n"


def tree(**texts):
    """Makes source files from keywords: src__base__a_hpp="…" is src/base/a.hpp."""
    files = []
    for key, text in texts.items():
        stem, suffix = key.replace("__", "/").rsplit("_", 1)
        files.append(SourceFile(f"{stem}.{suffix}", text))
    return files


def texts_of(violations):
    return [str(violation) for violation in violations]


class UnitedNames(unittest.TestCase):
    def found(self, first, second, cmake="add_library(one a.cpp b.cpp)\n"):
        texts = {"src__CMakeLists_txt": cmake, "src__a_cpp": first, "src__b_cpp": second}
        return [str(violation).split(" is in ")[0] for violation in united_names.check(tree(**texts))]

    def test_what_clashes(self):
        for text, name in (
            ("int f(const A& a, int b = 3) { return 1; }", "f(const A&, int)"),
            ("template <typename T>\nvoid f(T&& t) { g(t); }", "f(T&&)"),
            ("constexpr int64_t kBytes = int64_t{1} << 20;", "kBytes"),
            ('const char* const kNames[] = {"a"};', "kNames"),
            ("struct S final { int f(); };", "S"),
            ("enum class E { kOne };", "E"),
        ):
            text = f"namespace s {{\nnamespace {{\n{text}\n}}\n}}\n"
            self.assertEqual(self.found(text, text), [f"src/b.cpp:3: s::{name}"])
        for text, name in (("static int f() { return 1; }", "f()"), ("constexpr int kOne{1};", "kOne")):
            self.assertEqual(self.found(text, text), [f"src/b.cpp:1: {name}"])

    def test_what_does_not(self):
        for first, second in (
            ("namespace { int f(int a) { return a; } }", "namespace { int f(char a) { return a; } }"),
            ("namespace s { namespace { int f() {} } }", "namespace t { namespace { int f() {} } }"),
            ("namespace { using A = std::vector<int>; }", "namespace { using A = std::vector<int>; }"),
            ("namespace { int f(); }", "namespace { int f(); }"),
            ("int A::f() const { constexpr int kOne = 1; }", "int B::f() const { constexpr int kOne = 1; }"),
        ):
            self.assertEqual(self.found(first, second), [])

    def test_what_a_header_declares(self):
        def found(header, source):
            texts = {
                "src__CMakeLists_txt": "add_library(one a.cpp b.cpp)\n",
                "src__other_hpp": header,
                "src__unused_hpp": "namespace s { class F {}; }",
                "src__a_cpp": source,
                "src__b_hpp": '#include "other.hpp"\n',
                "src__b_cpp": '#include "b.hpp"\n',
            }
            return texts_of(united_names.check(tree(**texts)))

        for header in ("namespace s { class F { int a; }; }", "namespace s {\nint g();\nclass F {};\n}"):
            (said,) = found(header, "namespace s { namespace { class F {}; } }")
            assert said.startswith("src/a.cpp:1: s::F is declared in src/other.hpp too"), said
        (said,) = found("namespace s { inline int f(int a) { return a; } }", "namespace s { namespace { int f(int b) {} } }")
        assert "s::f(int) is declared" in said
        for header, source, name in (
            ("namespace s { inline constexpr int kOne = 1; }", "constexpr int kOne = 1;", "s::kOne"),
            ("namespace s { constexpr Names kAll[2]{1, 2}; }", 'const char* const kAll[] = {"a"};', "s::kAll"),
            ("namespace s { using A = int; }", "using A = int;", "s::A"),
            ("namespace s { using A = int; }", "class A {};", "s::A"),
            ("namespace s { template <int n> using A = B<n>; }", "template <int n>\nusing A = B<n>;", "s::A"),
        ):
            (said,) = found(header, f"namespace s {{ namespace {{ {source} }} }}")
            assert f"{name} is declared in src/other.hpp too" in said, said
        for header, source in (
            ("namespace s { int f(int a); }", "namespace s { const char* f(int a) { return 0; } }"),
            ("namespace s { class F; }", "namespace s { namespace { class F {}; } }"),
            ("namespace t { class F {}; }", "namespace s { namespace { class F {}; } }"),
            ("namespace s { inline constexpr int kOne = 1; }", "namespace s { int f() { constexpr int kOne = 1; } }"),
            ("namespace s { struct T { static constexpr int kOne = 1; }; }", "namespace s { namespace { int kOne = 2; } }"),
            ("namespace s { namespace { using A = int; } }", "namespace s { namespace { using A = int; } }"),
        ):
            assert found(header, source) == [], (header, source)

    def test_an_alias_of_two_meanings(self):
        self.assertEqual(self.found("namespace { using A = int; }", "namespace { using A = char; }"), ["src/b.cpp:1: A"])
        self.assertEqual(self.found("using A = int;", "using A = char;"), ["src/b.cpp:1: A"])

    def test_an_alias_within_an_unnamed_namespace_and_without(self):
        self.assertEqual(self.found("namespace { using A = int; }", "using A = int;"), ["src/b.cpp:1: A"])
        self.assertEqual(self.found("using A = int;", "namespace { using A = int; }"), ["src/b.cpp:1: A"])
        self.assertEqual(self.found("using A = int;", "using A = int;"), [])

    def test_files_of_other_targets_and_with_options_of_their_own_are_apart(self):
        text = "namespace { int f() {} }"
        self.assertEqual(self.found(text, text, "add_library(one a.cpp)\nadd_library(two b.cpp)\n"), [])
        apart = "add_library(one a.cpp b.cpp)\nset_source_files_properties(b.cpp PROPERTIES COMPILE_OPTIONS -O3)\n"
        self.assertEqual(self.found(text, text, apart), [])
        self.assertEqual(len(self.found(text, text, "add_library(one a.cpp)\ntarget_sources(one PRIVATE b.cpp)\n")), 1)


class IncludeGraph(unittest.TestCase):
    def found(self, **texts):
        return texts_of(include_graph.check(tree(**texts)))

    def test_lower_layers_public_headers_and_other_libraries_are_free(self):
        found = self.found(
            include__stria__status_hpp="",
            src__base__a_hpp='#include <vector>\n#include "stria/status.hpp"\n',
            src__comm__b_cpp='#include "base/a.hpp"\n#include <mpi.h>\n',
            lab__flash__mesh__c_cpp='#include "base/a.hpp"\n#include "lab/flash/mesh/d.hpp"\n',
            lab__flash__mesh__d_hpp='#include "mesh/e.hpp"\n',
            lab__flash__mesh__e_hpp="",
            lab__command__e_cpp='#include "lab/flash/mesh/d.hpp"\n',
        )
        self.assertEqual(found, [])

    def test_upward(self):
        found = self.found(tools__stria__a_cpp='#include "lab/flash/b.hpp"\n', lab__flash__b_hpp="")
        self.assertEqual(found, ["tools/stria/a.cpp:1: includes lab/flash/b.hpp: lab/flash is above tools"])
        found = self.found(src__base__a_cpp='\n#include "bindings/c/b.hpp"\n', bindings__c__b_hpp="")
        self.assertEqual(found, ["src/base/a.cpp:2: includes bindings/c/b.hpp: bindings is above src"])

    def test_upward_in_angle_brackets_and_by_relative_path(self):
        found = self.found(tools__a_cpp="#include <lab/b.hpp>\n", tools__c_cpp='#include "../lab/b.hpp"\n', lab__b_hpp="")
        self.assertEqual(len(found), 2)

    def test_sideways(self):
        found = self.found(lab__bench__a_cpp='#include "lab/convection/b.hpp"\n', lab__convection__b_hpp="")
        self.assertIn("stand side by side", found[0])

    def test_rooms_of_a_layer_know_the_lower_ones_only(self):
        found = self.found(
            src__access__move_hpp='#include "access/together/b.hpp"\n',
            src__access__plan__a_hpp='#include "access/request/c.hpp"\n#include "access/together/b.hpp"\n',
            src__access__plan__a_test_cpp='#include "access/together/b.hpp"\n#include "access/move.hpp"\n',
            src__access__request__c_hpp="",
            src__access__together__b_hpp="",
        )
        upward = "src/access/plan/a.hpp:2: includes src/access/together/b.hpp: src/access/together is above src/access/plan"
        self.assertEqual(found, [upward])

    def test_rooms_of_a_room_know_the_lower_ones_only(self):
        found = self.found(
            src__access__together__agreement_hpp='#include "access/together/two_phase/b.hpp"\n',
            src__access__together__exchange__a_hpp='#include "access/together/two_phase/b.hpp"\n',
            src__access__together__two_phase__b_hpp="",
        )
        upward = "src/access/together/two_phase is above src/access/together/exchange"
        target = "src/access/together/two_phase/b.hpp"
        self.assertEqual(found, [f"src/access/together/exchange/a.hpp:1: includes {target}: {upward}"])

    def test_a_folder_itself_may_be_the_lowest_of_its_rooms(self):
        found = self.found(
            src__storage__driver_hpp='#include "storage/posix/b.hpp"\n',
            src__storage__posix__b_hpp="",
            src__storage__registry__c_hpp='#include "storage/path.hpp"\n#include "storage/posix/b.hpp"\n',
            src__storage__path_hpp="",
        )
        upward = "src/storage/posix is above src/storage/."
        self.assertEqual(found, [f"src/storage/driver.hpp:1: includes src/storage/posix/b.hpp: {upward}"])

    def test_only_the_list_of_formats_stands_above_them(self):
        found = self.found(
            src__container__spec_hpp='#include "container/netcdf/a.hpp"\n',
            src__container__hdf5__b_cpp='#include "container/netcdf/a.hpp"\n',
            src__container__formats__formats_cpp='#include "container/netcdf/a.hpp"\n',
            src__container__netcdf__a_hpp="",
        )
        above = "includes src/container/netcdf/a.hpp: src/container/netcdf is above src/container/"
        self.assertEqual(sorted(found), [f"src/container/hdf5/b.cpp:1: {above}hdf5", f"src/container/spec.hpp:1: {above}."])

    def test_what_is_hidden_is_known_to_its_layer_alone(self):
        found = self.found(
            src__container__formats__formats_cpp='#include "container/hdf5/a.hpp"\n',
            src__file__b_cpp='#include "container/hdf5/a.hpp"\n#include "container/formats/formats.hpp"\n',
            src__file__b_test_cpp='#include "container/hdf5/a.hpp"\n',
            src__container__hdf5__a_hpp="",
            src__container__formats__formats_hpp="",
        )
        hidden = "src/file/b.cpp:1: includes src/container/hdf5/a.hpp: src/container/hdf5 is known to src/container alone"
        self.assertEqual(found, [hidden])

    def test_folders_of_one_layer_know_each_other(self):
        found = self.found(src__storage__posix__a_cpp='#include "storage/driver.hpp"\n', src__storage__driver_hpp="")
        self.assertEqual(found, [])

    def test_public_header_includes_private_one(self):
        found = self.found(include__stria__a_hpp='#include "base/b.hpp"\n', src__base__b_hpp="")
        self.assertIn("public headers only", found[0])

    def test_test_support_is_for_tests(self):
        source = '#include "support/oracle.hpp"\n'
        found = self.found(src__base__a_test_cpp=source, src__base__a_cpp=source, tests__support__oracle_hpp="")
        self.assertEqual(len(found), 1)
        self.assertTrue(found[0].startswith("src/base/a.cpp:1:"))

    def test_unknown_quoted_include(self):
        self.assertIn("no file of ours", self.found(src__base__a_cpp='#include "gone.hpp"\n')[0])

    def test_circle(self):
        found = self.found(src__base__a_hpp='#include "base/b.hpp"\n', src__base__b_hpp='#include "base/a.hpp"\n')
        self.assertEqual(len(found), 1)
        self.assertIn("includes this file again", found[0])


class Contracts(unittest.TestCase):
    def found(self, **texts):
        return texts_of(contracts.check(tree(**texts)))

    def test_checks_beside_the_declaration_in_another_file_and_in_the_body(self):
        found = self.found(
            src__base__a_hpp=HEADER
            + "/// Cuts. \\pre n > 0\nint cut(int n);\n"
            + "class B {\n  /// \\pre open()\n  int size() const {\n    STRIA_ASSERT(open());\n    return 1;\n  }\n};\n"
            + "struct C {\n  virtual void run(int n) = 0;  ///< \\pre n > 0\n};\n",
            src__base__a_cpp="int cut(int n) {\n  STRIA_CHECK(n > 0, n);\n  return n;\n}\n",
            src__base__d_cpp="void D::run(int n) {\n  STRIA_ASSERT(n > 0, n);\n}\n",
        )
        self.assertEqual(found, [])

    def test_no_check(self):
        found = self.found(
            src__base__a_hpp=HEADER + "/// Cuts. \\pre n > 0\n[[nodiscard]] Result<int> cut(int n);\n",
            src__base__a_cpp="Result<int> cut(int n) {\n  return n;  // STRIA_CHECK(n > 0)\n}\n",
            src__base__b_cpp="int cut(int n) {\n  STRIA_CHECK(n > 0);\n  return n;\n}\n",
        )
        self.assertEqual(len(found), 1)
        self.assertIn("src/base/a.hpp:3: cut does not check its \\pre", found[0])

    def test_lock_in_prose(self):
        found = self.found(src__base__a_cpp="// The caller holds the mutex.\nvoid f() {}\n// Holds the mutex.\n")
        self.assertEqual(len(found), 1)
        self.assertIn("src/base/a.cpp:1: whose lock is held", found[0])

    def test_of_no_function(self):
        found = self.found(src__base__a_hpp=HEADER + "struct A {\n  int n;  ///< \\pre n > 0\n};\n")
        self.assertEqual(found, ["src/base/a.hpp:4: \\pre of what is no function: say it in a sentence"])


class FunctionLength(unittest.TestCase):
    def measured(self, text):
        return [(name, line, length) for name, line, length in function_length.functions(text)]

    def test_counts_signature_and_body(self):
        text = "namespace a {\n\nint f(int x,\n      int y) {\n  if (x) {\n    y = 1;\n  }\n  return y;\n}\n}\n"
        self.assertEqual(self.measured(text), [("f", 3, 7)])

    def test_members_and_initialiser_lists(self):
        text = "class A {\n public:\n  A() : a_{1}, b_(2) {\n    go();\n  }\n  int get() const { return a_; }\n};\n"
        lengths = {name: length for name, _, length in self.measured(text)}
        self.assertEqual(lengths["get"], 1)
        self.assertEqual(max(lengths.values()), 3)

    def test_braces_in_strings_comments_and_characters_do_not_count(self):
        text = 'void f() {\n  g("}", \'}\');  // }\n  /* } */\n  h(R"(}\n})");\n  int n = 1\'000;\n}\n'
        self.assertEqual(self.measured(text), [("f", 1, 7)])

    def test_tables_and_types_are_not_functions(self):
        self.assertEqual(self.measured("const Row kRows[] = {\n  {f(1)},\n  {f(2)},\n};\nstruct B {\n  int c;\n};\n"), [])

    def test_gtest_bodies_and_operators_count(self):
        text = "TEST(A, b) {\n  c();\n}\nbool operator==(A a, A b) {\n  return true;\n}\n"
        self.assertEqual([length for _, _, length in self.measured(text)], [3, 3])

    def test_lambdas_belong_to_their_function(self):
        self.assertEqual(len(self.measured("void f() {\n  auto g = [](int x) {\n    return x;\n  };\n}\n")), 1)

    def test_ceiling(self):
        limit = function_length.MAX_FUNCTION_LINES
        good = "void f() {\n" + "  g();\n" * (limit - 2) + "}\n"
        bad = "void f() {\n" + "  g();\n" * (limit - 1) + "}\n"
        self.assertEqual(function_length.check(tree(src__base__a_cpp=good)), [])
        found = texts_of(function_length.check(tree(src__base__a_cpp=bad)))
        self.assertEqual(len(found), 1)
        self.assertTrue(found[0].startswith("src/base/a.cpp:1: f has"))


class ParameterCount(unittest.TestCase):
    def counted(self, text):
        return [(name, count) for name, _, count in parameter_count.parameters(text)]

    def test_what_is_counted(self):
        for signature, count in (
            ("void f()", 0),
            ("void f(int a)", 1),
            ("std::map<int, int> f(std::map<int, int> a, Pair<A<B, C>, D> b)", 2),
            ("void f(void (*call)(int, int), int b = g(1, 2))", 2),
            ("A::A(int a, int b) : a_(a), b_(std::max(a, b)), c_{a, b}", 2),
            ("bool operator()(int a, int b) const", 2),
        ):
            with self.subTest(signature):
                self.assertEqual([found for _, found in self.counted(signature + " {\n}\n")], [count])

    def test_ceiling(self):
        good = "void f(int a, int b, int c, int d, int e) {\n}\n"
        bad = good.replace("int e", "int e, const A<B, C>& g")
        self.assertEqual(parameter_count.check(tree(src__base__a_cpp=good)), [])
        self.assertEqual(parameter_count.check(tree(src__base__a_test_cpp=bad, tools__a_cpp=bad)), [])
        found = texts_of(parameter_count.check(tree(src__base__a_cpp=bad)))
        self.assertEqual(len(found), 1)
        self.assertTrue(found[0].startswith("src/base/a.cpp:1: f has 6 parameters"))

    def test_what_others_prescribe(self):
        text = "void answer(int a, int b, int c, int d, int e, int f) {\n}\n"
        self.assertEqual(parameter_count.check(tree(src__storage__rados__presence_cpp=text)), [])
        self.assertEqual(len(parameter_count.check(tree(src__storage__rados__pool_cpp=text))), 1)


class TextRules(unittest.TestCase):
    def found(self, path, text):
        return texts_of(text_rules.check([SourceFile(path, text)]))

    def test_clean(self):
        self.assertEqual(self.found("src/base/a_b.hpp", HEADER), [])
        self.assertEqual(self.found("CMakeLists.txt", "a\n"), [])
        self.assertEqual(self.found("docs/picture.png", None), [])

    def test_names(self):
        for path in ["src/base/ByteRange.hpp", "src/Base/a.hpp", "docs/two-words.md"]:
            self.assertIn("not snake_case", self.found(path, HEADER)[0], path)
        self.assertEqual(self.found("tests/fuzz/corpus/datatype/0A-b", "x"), [])
        self.assertEqual(self.found("packaging/debian/libstria-dev.install", "x\n"), [])

    def test_length(self):
        limit = text_rules.MAX_FILE_LINES
        self.assertEqual(self.found("a.py", "a\n" * limit), [])
        self.assertIn("split it", self.found("a.py", "a\n" * (limit + 1))[0])

    def test_white_space(self):
        self.assertEqual(self.found("a.md", "a \n"), ["a.md:1: white space at the end of the line"])
        self.assertEqual(self.found("a.cpp", "a\tb\n"), ["a.cpp:1: a tab"])
        self.assertEqual(self.found("Makefile", "a:\n\tb\n"), [])
        self.assertEqual(self.found("a.md", "a"), ["a.md: the last line does not end"])

    def test_unfinished_words(self):
        for word in ["TO" + "DO", "FIX" + "ME", "X" + "XX"]:
            self.assertIn("finish it", self.found("a.py", f"# {word}: later\n")[0])
        self.assertEqual(self.found("a.sh", "mktemp a.X" + "XXXXX\n"), [])

    def test_places_on_one_machine(self):
        for folder in ["ro" + "ot", "ho" + "me/me", "wo" + "rk/x"]:
            for path in ["a.md", "tests/a.py"]:
                self.assertIn("one machine", self.found(path, f"see /{folder}/a\n")[0])
        temporary = "cd /t" + "mp/a\n"
        self.assertIn("TMPDIR", self.found("scripts/a.sh", temporary)[0])
        self.assertEqual(self.found("tests/a.sh", temporary), [])
        self.assertEqual(self.found("src/base/a_test.cpp", temporary), [])
        self.assertEqual(self.found("a.sh", "build/tmp/x\nhttps://a.org/ho" + "me\n"), [])

    def test_decisions_by_words(self):
        for line in [
            'if (status.message().find("over") != npos) {',
            "return got.status().message().ends_with(words);",
            "const bool is_same = outcome.message() == kWords;",
            "return kWords != failure.status().message();",
            "std::string_view(opened.message()).substr(2);",
            'if (std::string(error.what()).find("over") == 0) {',
            "while (strcmp(error.what(), kWords) != 0) {",
        ]:
            self.assertIn("by the words of a message", self.found("src/base/a.cpp", f"{line}\n")[0])
            self.assertEqual(self.found("src/base/a_test.cpp", f"{line}\n"), [])
        for line in [
            "return Status(ErrorCode::kIo, status.message() + words);",
            "const bool is_silent = outcome.message().empty();",
            "return text == last_message();",
            "say(words.find(at), status.message());",
        ]:
            self.assertEqual(self.found("src/base/a.cpp", f"{line}\n"), [])

    def test_headers(self):
        self.assertIn("begins with a comment", self.found("a.hpp", "#pragma once\n")[0])
        self.assertIn("#pragma once", self.found("a.hpp", "// a\n")[0])
        self.assertEqual(self.found("a.h", "// a\n#ifndef A_H\n#define A_H\n#endif\n"), [])


class ProseRules(unittest.TestCase):
    LONG = "word " * 20 + "ends"  # 104 columns

    def found(self, path, text):
        return texts_of(prose_rules.check([SourceFile(path, text)]))

    def test_long_comments_of_every_language(self):
        for path, text in [
            ("a.cpp", f"// {self.LONG}\n"),
            ("a.h", f"/* short\n * {self.LONG} */\n"),
            ("a.hpp", f"int a;  ///< {self.LONG}\n"),
            ("a.js", f"// {self.LONG}\n"),
            ("a.css", f"/* {self.LONG} */\n"),
            ("a.py", f"# {self.LONG}\n"),
            ("a.py", f'"""{self.LONG}"""\n'),
            ("a.py", f'def f():\n    """Does.\n\n    {self.LONG}"""\n'),
            ("a.sh", f"#   {self.LONG}\n"),
            ("CMakeLists.txt", f"# {self.LONG}\n"),
            ("a.f90", f"! {self.LONG}\n"),
            ("a.md", f"{self.LONG}\n"),
            ("a.md", f"- {self.LONG}\n"),
        ]:
            found = self.found(path, text)
            self.assertEqual(len(found), 1, text)
            self.assertIn("100 are allowed", found[0])

    def test_what_may_be_long(self):
        for path, text in [
            ("a.cpp", f'f("{self.LONG}");  \nauto s = R"(\n// {self.LONG})";\n'),
            ("a.cpp", f"int a{' ' * 90};  // NOLINT: b\n"),
            ("a.cpp", f"#define A {self.LONG}  // b\n"),
            ("a.py", f'a = """\n{self.LONG}"""\n'),
            ("a.py", f"a = '{self.LONG}'  # noqa\n"),
            ("a.md", f"| {self.LONG} |\n```sh\n{self.LONG}\n```\n\n    {self.LONG}\n"),
            ("a.md", f"<https://a.org/{'b' * 100}>\n"),
            ("a.cpp", "// " + "w" * 97 + "\n"),
        ]:
            self.assertEqual(self.found(path, text), [], text)

    def test_paragraphs_of_documents_are_short(self):
        lines = "one two three four five\n" * 20  # 100 words
        long = lines + "six\n"
        for text, first in [(long, 1), (f"# A heading\n{long}", 2), (f"- item\n\n  {long}", 3), (f"a\n\n{long}\nb\n", 3)]:
            self.assertEqual(
                self.found("docs/a.md", text),
                [f"docs/a.md:{first}: a paragraph of 101 words; 100 are allowed: split it where a thought ends"],
            )
        fenced, before_list = f"```\n{long}```\n", f"{lines}- an item\n"
        for text in [f"{lines}\n{lines}", f"- {long}", f"1. {long}", fenced, before_list, f"{lines}\n| a |\n"]:
            self.assertEqual(self.found("docs/a.md", text), [], text)
        self.assertEqual(self.found("CHANGELOG.md", long), [])

    def test_spelling(self):
        self.assertEqual(self.found("a.cpp", "// a neighb" + "or\n"), ["a.cpp:1: 'neighbor' is spelt 'neighbour' here"])
        self.assertIn("'Color'", self.found("a.md", "Col" + "ors differ.\n")[0])
        self.assertIn("'catalog'", self.found("a.py", "# the catal" + "ogue\n")[0])

    def test_names_keep_their_spelling(self):
        for text in [
            "`color` of CSS",
            "color_map.hpp draws",
            "{id, color}",
            "see color(x)",
            "--color",
            "color: red",
            "background-color",
            "the catalog",
            "[a](docs/color.md)",
        ]:
            self.assertEqual(self.found("a.md", text + "\n"), [], text)
        self.assertEqual(self.found("a.cpp", "int color = neighbor;\n"), [])

    def test_comments_that_open_with_a_fragment(self):
        text = (
            "/// Of the file.\nint a;\n// Likewise,\n// the other.\nint b;  // of it\n/* As above. */\nint c;\n"
            "struct A {\n  int d;  ///< bytes\n  /// on rank 0\n  int e;\n};\n// Before others come, it waits.\n"
        )
        found = self.found("src/base/a.hpp", text)
        self.assertEqual([line.split(":")[1] for line in found], ["1", "3", "5", "6", "10", "13"])

    def test_fragments_in_every_language(self):
        for path, text in [
            ("a.py", '"""Of the files."""\n'),
            ("a.py", "def f():\n    # For a caller.\n    return 1\n"),
            ("a.py", "a = 1  # of them\n"),
            ("a.sh", "#!/bin/sh\n# With the port.\ntrue # as usual\n"),
            ("a.cmake", "# In a wheel.\n"),
            ("a.c", "/* which calls it */\n"),
            ("a.f90", "! With a map.\ninteger :: a  ! of one rank\n"),
            ("a.js", "// By rank.\nconst a = 1; // of them\n"),
        ]:
            found = self.found(path, text)
            self.assertTrue(found, text)
            self.assertTrue(all("open it with its subject" in line for line in found), found)

    def test_comments_that_go_on_with_a_sentence(self):
        for path, text in [
            ("src/base/a.hpp", "/// The end\n/// Of the file.\nint a;\n// Ranks do as others do.\nint b;\n"),
            ("src/base/a.hpp", '/// Often "Of" is right.\nconst char* c = "// Of";\n'),
            ("src/base/a.hpp", "int a;  ///< in bytes, which it has\n        ///< of the file\n"),
            ("src/base/a.hpp", "// As_written() and to_text.hpp are names.\n"),
            ("a.sh", '#!/bin/sh\necho "# of" ${a# of}  # counts\n'),
            ("a.py", 'a = \'# of\'\n\nb = """\nOf a text.\n"""\n'),
        ]:
            self.assertEqual(self.found(path, text), [], text)


class Measures(unittest.TestCase):
    TEXT = (
        "// Of fragments.\n"
        '// A class, and "class Quoted { void f(); };" in words.\n'
        "class Example : public Base<int, char> {\n"
        " public:\n"
        "  Example(int a) : a_(a) {}\n"
        "  Example(const Example&) = delete;\n"
        "  ~Example() override;\n"
        "  int inline_one() const { return f(g()); }\n"
        "  template <typename Make>\n"
        "  Result<std::pair<int, int>> declared(const Make& make, int b = h(1));\n"
        "  bool operator==(const Example& other) const;\n"
        "  struct Inner {\n"
        "    int method();\n"
        "  };\n"
        "\n"
        " private:\n"
        "  std::function<void(int)> callback_;\n"
        "  using Alias = int (*)(int);\n"
        "  int (*pointer_)(int) = nullptr;\n"
        "  int a_ = initial();\n"
        "};\n"
        "enum class Kind { kOne };\n"
        "void f() {\n"
        "  STRIA_ASSERT(true);\n"
        "  assert(true);\n"
        "}\n"
    )

    def test_methods_are_counted_by_class(self):
        found = dict(measure.classes(function_length.blank(self.TEXT)))
        self.assertEqual(found, {"Example": 3, "Inner": 1})

    def test_a_class_has_a_limit_of_methods(self):
        methods = "".join(f"  void f{number}();\n" for number in range(measure.MOST_METHODS))
        small = f"class Small {{\n{methods}}};\n"
        large = f"class Large {{\n{methods}  int one_more() const;\n}};\n"
        found = class_size.check(tree(src__a_hpp=small, src__b_hpp=large, src__b_test_cpp=large))
        self.assertEqual([violation.path for violation in found], ["src/b.hpp"])

    def test_files_of_tests_and_of_others_are_left_out(self):
        files = tree(src__a_hpp=self.TEXT, src__a_test_cpp=self.TEXT, tests__b_cpp=self.TEXT, third_party__c_cpp=self.TEXT)
        measures = measure.measure(files)
        self.assertEqual(len(measures.file_lines), 1)
        self.assertEqual((measures.contracts, measures.comments, measures.fragments), (2, 1, 1))
        self.assertEqual(sorted(measures.function_lines), [1, 2, 4])

    def test_the_table_has_a_column_for_each_checkout(self):
        measures = measure.measure(tree(src__a_hpp=self.TEXT))
        rows = list(measure.table({"one": measures, "other": measures}))
        self.assertEqual(rows[0], "| | one | other |")
        self.assertTrue(all(row.count("|") == 4 for row in rows[:1] + rows[2:]))


class MissingIncludes(unittest.TestCase):
    def found(self, text, **others):
        files = tree(src__a_cpp=text, **others)
        return [violation.text for violation in missing_includes.check(files)]

    def test_headers_of_the_standard_library(self):
        use = "bool f() { assert(std::all_of(b, e, p)); return std::clamp(1, 2, 3); }\n"
        self.assertEqual(self.found(use), ["uses all_of without <algorithm>: include it"])
        self.assertEqual(self.found("#include <algorithm>\n" + use), [])
        through = {"src__b_hpp": '#include "c.hpp"\n', "src__c_hpp": "#include <algorithm>\n"}
        self.assertEqual(self.found('#include "b.hpp"\n' + use, **through), [])
        self.assertEqual(self.found("// std::sort\nstd::string a = b.find(c);\n"), [])

    def test_headers_of_ours(self):
        header = {"src__b_hpp": "struct Part {\n  int a;\n};\nusing Parts = std::vector<Part>;\n"}
        self.assertEqual(self.found("Part one;\n", **header), ['uses Part without "src/b.hpp": include it'])
        self.assertEqual(self.found('#include "b.hpp"\nParts all;\n', **header), [])
        for own in ("struct Part;\nPart& a;\n", "void f(Other::Part a);\n", "TEST(Part, IsThere) {}\n", "f(a.Part);\n"):
            self.assertEqual(self.found(own, **header), [])


class Whole(unittest.TestCase):
    def test_all_checks_run(self):
        files = tree(
            src__base__a_hpp='#include "bindings/b.hpp"\n',
            bindings__b_hpp=HEADER + "inline void f() {\n" + "g();\n" * 100 + "}\n",
            tools__stria__c_cpp='app->add_flag("--quiet");\n',
            README_md="`src/gone/`\n",
        )
        self.assertEqual(len(tidy.violations_of(files)), 6)


if __name__ == "__main__":
    unittest.main()
