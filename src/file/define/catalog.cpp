#include "file/define/catalog.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "file/define/names.hpp"

namespace stria::file {

namespace {

std::string without_leading_slash(const std::string& path) {
  const size_t first = path.find_first_not_of('/');
  return first == std::string::npos ? "" : path.substr(first);
}

}  // namespace

int64_t DatasetEntry::row_bytes() const {
  int64_t bytes = spec.element.bytes;
  for (size_t dim = 1; dim < spec.dims.size(); ++dim) {
    bytes *= spec.dims[dim];
  }
  return bytes;
}

std::vector<std::string> DatasetEntry::dimension_names() const {
  std::vector<std::string> names;
  for (const std::string& name : spec.dimension_names) {
    names.push_back(without_leading_slash(name));
  }
  if (names.empty() && is_scale) {
    names = {spec.path};
  }
  const bool any = std::any_of(names.begin(), names.end(), [](const std::string& name) { return !name.empty(); });
  names.resize(any ? spec.dims.size() : 0);
  return names;
}

ByteRange DatasetEntry::extent() const {
  int64_t bytes = is_chunked() ? stored_bytes : data_bytes();
  if (is_interleaved() && bytes > 0) {
    bytes = (row_count() - 1) * spec.row_stride_bytes + row_bytes();
  }
  return {data_offset, data_offset + bytes};
}

ByteRange DatasetEntry::in_file(ByteRange raw) const {
  STRIA_ASSERT(data_offset >= 0, spec.path, data_offset);
  if (!is_interleaved()) {
    return {data_offset + raw.begin, data_offset + raw.end};
  }
  const int64_t row = raw.begin / row_bytes();
  const int64_t within = raw.begin - row * row_bytes();
  const int64_t begin = data_offset + row * spec.row_stride_bytes + within;
  return {begin, begin + std::min(raw.size(), row_bytes() - within)};
}

Catalog::Catalog(std::vector<DatasetEntry> datasets, CatalogPaths paths)
    : datasets_(std::move(datasets)),
      paths_(std::move(paths)),
      number_of_path_(paths_.datasets.begin(), paths_.datasets.end()) {}

int Catalog::add(DatasetEntry entry) {
  const auto number = static_cast<int>(datasets_.size());
  number_of_path_.emplace(entry.spec.path, number);
  paths_.datasets.emplace_back(entry.spec.path, number);
  datasets_.push_back(std::move(entry));
  return number;
}

std::optional<int> Catalog::find(const std::string& path) const {
  auto found = number_of_path_.find(without_leading_slash(path));
  if (found == number_of_path_.end() && !paths_.groups.empty()) {
    found = number_of_path_.find(listed_path(without_leading_slash(path)));
  }
  return found == number_of_path_.end() ? std::nullopt : std::optional(found->second);
}

// A path with each group by the name under which its content is listed.
std::string Catalog::listed_path(const std::string& path) const {
  std::string listed;
  for (size_t begin = 0, end = 0; end != std::string::npos; begin = end + 1) {
    end = path.find('/', begin);
    listed += (listed.empty() ? "" : "/") + path.substr(begin, end - begin);
    if (const auto group = paths_.groups.find(listed); group != paths_.groups.end()) {
      listed = group->second;
    }
  }
  return listed;
}

bool Catalog::has_packed() const {
  return std::any_of(datasets_.begin(), datasets_.end(), [](const DatasetEntry& dataset) { return dataset.is_packed(); });
}

std::vector<std::string> Catalog::content_paths() const {
  std::vector<std::string> paths;
  std::string own = std::string(kOwnGroup) + "/";
  for (const auto& [path, number] : paths_.datasets) {
    if (!(*this)[number].spec.is_dimension && path.compare(0, own.size(), own) != 0) {
      paths.push_back(path);
    }
  }
  return paths;
}

}  // namespace stria::file
