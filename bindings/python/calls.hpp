// Calls of stria.h from Python: errors, lists, options.
#pragma once

#include <nanobind/nanobind.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "stria.h"

namespace stria::python {

using Names = std::map<std::string, std::string>;

/// An error of the library on its way to Python.
struct Failure {
  int code;
  std::string message;
};

inline void check(int code) {
  if (code != STRIA_OK) {
    throw Failure{code, stria_error_message()};
  }
}

/// Text for the library, where it would end at a NUL.
inline const char* chars(const std::string& text) {
  if (text.find('\0') != std::string::npos) {
    throw Failure{STRIA_INVALID_ARGUMENT,
                  "'" + text.substr(0, text.find('\0')) + "…' has a NUL, where the library's text ends"};
  }
  return text.c_str();
}

template <auto kFunction>
struct FreedBy {
  template <typename T>
  void operator()(T* object) const {
    kFunction(object);
  }
};
using List = std::unique_ptr<stria_list, FreedBy<stria_list_free>>;
using Options = std::unique_ptr<stria_options, FreedBy<stria_options_free>>;

inline std::vector<std::string> strings_of(const stria_list* list) {
  std::vector<std::string> strings;
  for (int64_t i = 0; i < stria_list_size(list); ++i) {
    strings.emplace_back(stria_list_at(list, i));
  }
  return strings;
}

/// Returns the strings for the library, which must outlive them.
inline std::vector<const char*> pointers(const std::vector<std::string>& strings) {
  std::vector<const char*> result;
  for (const std::string& one : strings) {
    result.push_back(chars(one));
  }
  return result;
}

inline Options options_of(const Names& names) {
  stria_options* options = nullptr;
  check(stria_options_new(&options));
  Options owned(options);
  for (const auto& [name, value] : names) {
    check(stria_options_set(options, chars(name), chars(value)));
  }
  return owned;
}

/// Makes a call that may wait, for other ranks or for storage. Other threads of Python go on
/// meanwhile: the one that the other ranks wait for may be among them.
template <typename Call>
void released(Call&& call) {
  nanobind::gil_scoped_release release;
  check(call());
}

/// Returns the strings that `call` gives, which may wait.
template <typename Call>
std::vector<std::string> listed(Call&& call) {
  stria_list* list = nullptr;
  released([&] { return call(&list); });
  return strings_of(List(list).get());
}

/// Defines functions of the module: names of files, and tracing.
void define_paths(nanobind::module_& module);
void define_tracing(nanobind::module_& module);

}  // namespace stria::python
