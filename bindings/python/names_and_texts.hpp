// Texts of any length, and what groups have, by the C++ interface: stria.h has neither.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "c/handles.hpp"

namespace stria::python {

using Texts = std::vector<std::string>;

/// The object and the name of an attribute.
using AttributeName = std::pair<std::string, std::string>;

/// A dataset of texts.
struct TextArray {
  std::string path;
  std::vector<int64_t> dims;
  Texts texts;
  Texts dimensions;
};

void set_texts(stria_file* file, const AttributeName& attribute, const Texts& texts, bool list);
void create_texts(stria_file* file, const TextArray& array);

bool has_group(stria_file* file, const std::string& path);
Texts members(stria_file* file, const std::string& group);
std::pair<std::string, std::string> link_to_file(stria_file* file, const std::string& path);

}  // namespace stria::python
