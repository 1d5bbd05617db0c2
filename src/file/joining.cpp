#include "file/joining.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "comm/self/self_comm.hpp"
#include "file/calls.hpp"
#include "file/define/names.hpp"
#include "file/opening.hpp"
#include "file/read/read_session.hpp"
#include "file/write/write_session.hpp"
#include "storage/path.hpp"

namespace stria::file {

namespace {

using Kind = container::ElementSpec::Kind;

constexpr int64_t kAtOnceBytes = 64 << 20;

bool is_own(const std::string& path) {
  return path.starts_with(std::string(kOwnGroup) + "/");
}

bool is_group(const std::string& path) {
  return path.empty() || path.back() == '/';
}

/// The attributes that name dimensions follow from DatasetOptions::dimensions.
bool is_of_dimensions(const std::string& attribute) {
  constexpr std::array kNames = {"CLASS", "NAME", "REFERENCE_LIST", "DIMENSION_LIST"};
  return std::find(kNames.begin(), kNames.end(), attribute) != kNames.end();
}

/// Strings and records are small, and are made whole. Numbers are moved later.
void define_dataset(const container::Reader& from, const std::string& path, WriteSession& to) {
  const container::DatasetInfo info = from.dataset(path).value();
  container::DatasetSpec spec = info.spec;
  if (spec.is_dimension) {
    return;  // made by the datasets that have it
  }
  spec.path = path;
  spec.alignment_bytes = 1;
  if (spec.element.kind != Kind::kNumber) {
    std::vector<std::byte> content(static_cast<size_t>(container::dataset_bytes(spec).value()));
    from.read_hyperslab(path, std::vector<int64_t>(spec.dims.size()), spec.dims, content).throw_if_error();
    spec.chunking.reset();
    to.create_table(std::move(spec), content).throw_if_error();
    return;
  }
  DatasetOptions options;
  options.big_endian = spec.element.big_endian;
  options.meaning = spec.element.meaning;
  options.dimensions = std::move(spec.dimension_names);
  if (spec.chunking) {
    options.chunk = spec.chunking->dims;
    // What a lossy filter has left is to stay.
    options.filters = spec.chunking->filters.loses() ? Filters::compress() : spec.chunking->filters;
  }
  const bool grows = spec.extendable && spec.chunking;
  const int64_t rows = spec.dims.empty() ? 1 : spec.dims[0];
  if (grows) {
    spec.dims[0] = kUnlimited;
  }
  spec.chunking.reset();
  spec.extendable = false;
  to.create_dataset(spec, options).status().throw_if_error();
  if (grows) {
    to.append_rows(path, rows).status().throw_if_error();
  }
}

/// Whether a path is that of a link, or lies behind one.
bool is_linked(const std::string& path, const std::vector<container::LinkSpec>& links) {
  return std::any_of(links.begin(), links.end(),
                     [&](const container::LinkSpec& link) { return path == link.path || path.starts_with(link.path + "/"); });
}

/// Everything in the order of the list, which is that of creation where the file keeps it.
void define_all(const container::Reader& from, WriteSession& to) {
  const std::vector<container::LinkSpec> links = from.links().value();
  std::vector<std::string> paths = from.list().value();
  auto link = links.begin();
  for (size_t i = 0; i <= paths.size(); ++i) {
    for (; link != links.end() && link->order <= static_cast<int64_t>(i); ++link) {
      to.create_link(*link).throw_if_error();
    }
    if (i < paths.size() && !is_group(paths[i]) && !is_own(paths[i]) && !is_linked(paths[i], links)) {
      define_dataset(from, paths[i], to);
    }
  }
  paths.erase(std::remove_if(paths.begin(), paths.end(), [&](const std::string& path) { return is_linked(path, links); }),
              paths.end());
  const auto copy_attributes = [&](const std::string& object) {
    for (const std::string& name : from.attribute_names(object).value()) {
      if (!is_of_dimensions(name)) {
        to.set_attribute(from.attribute(object, name).value()).throw_if_error();
      }
    }
  };
  copy_attributes("/");
  for (const std::string& path : paths) {
    if (!path.empty() && !is_own(path)) {
      copy_attributes(is_group(path) ? path.substr(0, path.size() - 1) : path);
    }
  }
}

/// Moves a dataset of numbers, as many rows at once as fit into `buffer`, at least one.
void move_data(ReadSession& from, int number, WriteSession& to, std::vector<std::byte>& buffer) {
  const DatasetEntry& entry = from.dataset(number);
  const int target = to.find(entry.spec.path).value();
  const int64_t row_bytes = std::max<int64_t>(entry.row_bytes(), 1);
  const int64_t rows_at_once = std::max<int64_t>(kAtOnceBytes / row_bytes, 1);
  for (int64_t row = 0, rows = 0; row < entry.row_count() && entry.data_bytes() > 0; row += rows) {
    rows = std::min(rows_at_once, entry.row_count() - row);
    Hyperslab slab{.start = std::vector<int64_t>(entry.spec.dims.size()), .count = entry.spec.dims};
    if (!slab.start.empty()) {
      slab.start[0] = row;
      slab.count[0] = rows;
    }
    buffer.resize(static_cast<size_t>(rows * row_bytes));
    const Memory memory(buffer.data(), Datatype::bytes(rows * row_bytes), entry.stored_element());
    from.record(number, slab, memory).throw_if_error();
    from.flush().throw_if_error();
    to.record(target, slab, memory).throw_if_error();
    to.flush().throw_if_error();
  }
}

}  // namespace

Joined join_file(const std::string& from, const std::string& to, const Hints& hints) {
  const auto source = open_session(make_self_comm(), from, {.hints = {}, .verify = true});
  auto& read = directed<ReadSession>(*source, "join");
  if (read.parts() == nullptr) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("'{}' has no parts: it is one file", from));
  }
  Hints plain = hints;
  plain["stria_subfiles"] = "0";
  CreateOptions options{.hints = plain, .checksums = read.has_checksums()};
  options.track_order = read.reader().keeps_order();
  const auto made = create_session(make_self_comm(), to, options);
  auto& written = directed<WriteSession>(*made, "join");
  define_all(read.reader(), written);
  std::vector<std::byte> buffer;
  for (const std::string& path : read.dataset_paths()) {
    const int number = read.find(path).value();
    if (written.find(path).ok() && read.dataset(number).spec.element.kind == Kind::kNumber) {
      move_data(read, number, written, buffer);
    }
  }
  written.commit().throw_if_error();
  const storage::PartMap& parts = *read.parts();
  if (storage::absolute_path(from) == storage::absolute_path(to)) {
    for (const storage::PartMap::Part& part : parts.parts) {
      read.environment().driver->remove(part.path).throw_if_error();
    }
  }
  return {.part_count = parts.part_count(),
          .useful_bytes = written.report().useful_bytes,
          .file_bytes = written.report().file_bytes};
}

}  // namespace stria::file
