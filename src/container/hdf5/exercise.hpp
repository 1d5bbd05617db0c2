// Reads everything that a file says of itself, as the damage tests and the fuzzer do.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/checked.hpp"
#include "container/hdf5/read/reader.hpp"

namespace stria::container::test {

/// Says how much is read of the values of datasets: at most this many bytes of each, and those of
/// chunked datasets only on request. libhdf5 1.10 doesn't check that a chunk has its right size
/// after its filters, so that it can't safely read chunks that are made to do harm.
struct Depth {
  int64_t dataset_bytes_max = int64_t{1} << 20;
  bool chunks = false;
};

/// Reads everything and returns a line for each object and attribute. The first error ends it
/// and is returned.
inline Result<std::vector<std::string>> read_everything(storage::File& storage, const Depth& depth = {}) {
  STRIA_ASSIGN_OR_RETURN(const std::unique_ptr<Hdf5Reader> reader, Hdf5Reader::open(storage));
  STRIA_ASSIGN_OR_RETURN(const std::vector<std::string> paths, reader->list());
  std::vector<std::string> lines;
  const auto text = [](const std::vector<std::byte>& bytes) {
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  for (const std::string& path : paths) {
    STRIA_ASSIGN_OR_RETURN(const std::vector<std::string> names, reader->attribute_names(path));
    for (const std::string& name : names) {
      STRIA_ASSIGN_OR_RETURN(const AttributeSpec attribute, reader->attribute(path, name));
      lines.push_back(path + "@" + name + "=" + text(attribute.value));
    }
    if (path.back() == '/') {
      lines.push_back(path);
      continue;
    }
    STRIA_ASSIGN_OR_RETURN(const DatasetInfo info, reader->dataset(path));
    int64_t bytes = info.spec.element.bytes;
    for (const int64_t dim : info.spec.dims) {
      if (!checked_multiply(bytes, dim, &bytes)) {
        bytes = INT64_MAX;
        break;
      }
    }
    std::string line = path + " kind " + std::to_string(static_cast<int>(info.spec.element.kind)) + " bytes " +
                       std::to_string(bytes) + " at " + std::to_string(info.data_offset);
    if (bytes <= depth.dataset_bytes_max && (depth.chunks || info.layout != DatasetInfo::Layout::kChunked)) {
      std::vector<std::byte> out(static_cast<size_t>(bytes));
      const std::vector<int64_t> start(info.spec.dims.size(), 0);
      STRIA_RETURN_IF_ERROR(reader->read_hyperslab(path, start, info.spec.dims, out));
      line += " " + text(out);
    }
    lines.push_back(line);
  }
  return lines;
}

}  // namespace stria::container::test
