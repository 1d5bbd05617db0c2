#include "file/define/catalog.hpp"

#include <algorithm>
#include <unordered_set>

#include "base/check.hpp"
#include "file/define/names.hpp"

namespace stria::file {

namespace {

std::string without_slashes(const std::string& path) {
  const std::string begun = without_leading_slash(path);
  return begun.substr(0, begun.find_last_not_of('/') + 1);
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

// Returns a path with each group by the name under which its content is listed.
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

bool Catalog::has_group(const std::string& path) const {
  const std::string group = listed_path(without_slashes(path));
  return group.empty() || std::any_of(paths_.others.begin(), paths_.others.end(), [&](const CatalogPaths::Other& other) {
           return other.path.size() == group.size() + 1 && other.path.back() == '/' && other.path.starts_with(group);
         });
}

std::vector<std::string> Catalog::members(const std::string& group) const {
  const std::string listed = listed_path(without_slashes(group));
  const std::string prefix = listed.empty() ? "" : listed + "/";
  std::vector<std::string> names;
  std::unordered_set<std::string> known;
  const auto add = [&](const std::string& path) {
    if (path.size() > prefix.size() && path.starts_with(prefix)) {
      std::string name = path.substr(prefix.size(), path.find('/', prefix.size()) - prefix.size());
      if (!(prefix.empty() && name == kOwnGroup) && known.insert(name).second) {
        names.push_back(std::move(name));
      }
    }
  };
  auto other = paths_.others.begin();
  for (size_t i = 0; i <= paths_.datasets.size(); ++i) {
    for (; other != paths_.others.end() && other->datasets_before == static_cast<int64_t>(i); ++other) {
      add(other->path);
    }
    if (i < paths_.datasets.size()) {
      add(paths_.datasets[i].first);
    }
  }
  return names;
}

const CatalogPaths::Other* Catalog::link_to_file(const std::string& path) const {
  const std::string listed = listed_path(without_slashes(path));
  const auto found = std::find_if(paths_.others.begin(), paths_.others.end(), [&](const CatalogPaths::Other& other) {
    return !other.file.empty() && other.path == listed;
  });
  return found == paths_.others.end() ? nullptr : &*found;
}

Catalog Catalog::completed(Catalog all) const {
  std::vector<DatasetEntry> datasets = datasets_;
  std::vector<int> numbers;
  for (DatasetEntry& entry : all.datasets_) {
    const auto known = number_of_path_.find(entry.spec.path);
    numbers.push_back(known != number_of_path_.end() ? known->second : static_cast<int>(datasets.size()));
    if (known == number_of_path_.end()) {
      datasets.push_back(std::move(entry));
    }
  }
  CatalogPaths paths = std::move(all.paths_);
  for (auto& [path, number] : paths.datasets) {
    number = numbers[static_cast<size_t>(number)];
  }
  return Catalog(std::move(datasets), std::move(paths));
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
