// The tables in which a file keeps what the library notes of it: sums, parts, the seal.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "container/spec.hpp"

namespace stria::file {

/// The dataset of such a table, which other programs needn't see (own_path() gives its path).
inline container::DatasetSpec hidden_table(std::string path, container::ElementSpec element, std::vector<int64_t> dims) {
  container::DatasetSpec spec;
  spec.path = std::move(path);
  spec.element = std::move(element);
  spec.dims = std::move(dims);
  spec.is_hidden = true;
  return spec;
}

/// A table of bytes.
inline container::DatasetSpec hidden_bytes(std::string path, int64_t bytes) {
  return hidden_table(std::move(path), container::ElementSpec::of_number(ElementType::kUint8), {bytes});
}

}  // namespace stria::file
