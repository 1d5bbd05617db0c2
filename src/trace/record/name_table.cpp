#include "trace/record/name_table.hpp"

#include <algorithm>
#include <utility>

#include "trace/counters/counters.hpp"
#include "trace/events/kinds.hpp"

namespace stria::trace {

namespace {

constexpr uint16_t kOtherFiles = 65535;

}  // namespace

NameTable::NameTable() {
  uint32_t id = 0;
  for (const KindInfo& kind : built_in_kinds()) {
    new_names_.push_back({Table::kKind, id, kind.name, kind.layer, kind.detail, kind.overlaps});
    kinds_[layer_name(kind.layer) + kind.name] = {static_cast<uint16_t>(id), kind.layer};
    ++id;
  }
  for (int counter = 0; counter < kCounterCount; ++counter) {
    new_names_.push_back({Table::kCounter, static_cast<uint32_t>(counter) + 1, counter_name(static_cast<Counter>(counter))});
  }
}

uint16_t NameTable::file(const std::string& path) {
  auto found = files_.find(path);
  if (found != files_.end()) {
    return found->second;
  }
  const auto id = static_cast<uint16_t>(std::min<size_t>(file_numbers_, kOtherFiles));
  if (file_numbers_ <= kOtherFiles) {
    new_names_.push_back({Table::kFile, id, id == kOtherFiles ? "(other files)" : path});
    ++file_numbers_;
  }
  if (id != kOtherFiles) {
    files_.emplace(path, id);
  }
  return id;
}

int32_t NameTable::dataset(const std::string& name) {
  auto [found, inserted] = datasets_.emplace(name, static_cast<int32_t>(datasets_.size()) + 1);
  if (inserted) {
    new_names_.push_back({Table::kDataset, static_cast<uint32_t>(found->second), name});
  }
  return found->second;
}

Kind NameTable::kind(const std::string& name, Layer layer, Detail detail, bool overlaps) {
  auto [found, inserted] = kinds_.emplace(layer_name(layer) + name, Kind{static_cast<uint16_t>(kinds_.size()), layer});
  if (inserted) {
    new_names_.push_back({Table::kKind, found->second.id, name, layer, detail, overlaps});
  }
  return found->second;
}

std::vector<Name> NameTable::take_new() {
  return std::exchange(new_names_, {});
}

}  // namespace stria::trace
