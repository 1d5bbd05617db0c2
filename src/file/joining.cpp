#include "file/joining.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

#include "comm/self/self_comm.hpp"
#include "file/calls.hpp"
#include "file/define/names.hpp"
#include "file/opening.hpp"
#include "file/read/read_session.hpp"
#include "file/write/write_session.hpp"
#include "storage/path.hpp"
#include "storage/registry.hpp"

namespace stria::file {

namespace {

using Kind = container::ElementSpec::Kind;

constexpr int64_t kAtOnceBytes = 64 << 20;
constexpr int64_t kMostWholeBytes = 1 << 20;  // of a table of records

bool is_own(const std::string& path) {
  return path.starts_with(std::string(kOwnGroup) + "/");
}

bool is_group(const std::string& path) {
  return path.empty() || path.back() == '/';
}

std::string without_slash(const std::string& path) {
  return is_group(path) ? path.substr(0, path.size() - 1) : path;
}

/// Whether an object among others has coordinates of a dimension.
bool is_scale(const container::Reader& from, const std::string& object, const std::vector<std::string>& attributes) {
  constexpr std::string_view kScale = "DIMENSION_SCALE";
  if (std::find(attributes.begin(), attributes.end(), "CLASS") == attributes.end()) {
    return false;
  }
  const container::AttributeSpec kind = from.attribute(object, "CLASS").value();
  return kind.element.kind == Kind::kString && kind.value.size() >= kScale.size() &&
         std::memcmp(kind.value.data(), kScale.data(), kScale.size()) == 0;
}

/// The attributes that name dimensions follow from DatasetOptions::dimensions. Two of their names
/// have another meaning elsewhere.
bool is_of_dimensions(const std::string& attribute, bool of_scale) {
  const bool is_list = attribute == "REFERENCE_LIST" || attribute == "DIMENSION_LIST";
  return is_list || (of_scale && (attribute == "CLASS" || attribute == "NAME"));
}

/// Strings and small tables of records are made whole. Numbers are moved, and so are records that
/// may be many.
bool is_moved(const DatasetEntry& entry) {
  const bool may_be_many =
      entry.is_chunked() || entry.spec.extendable || entry.is_virtual || entry.data_bytes() > kMostWholeBytes;
  return entry.spec.element.kind == Kind::kNumber ||
         (entry.spec.element.kind == Kind::kCompound && entry.is_readable() && may_be_many);
}

void make_whole(const container::Reader& from, container::DatasetSpec spec, WriteSession& to) {
  std::vector<std::byte> content(static_cast<size_t>(container::dataset_bytes(spec).value()));
  from.read_hyperslab(spec.path, std::vector<int64_t>(spec.dims.size()), spec.dims, content).throw_if_error();
  spec.chunking.reset();
  spec.extendable = false;
  to.create_table(std::move(spec), content).throw_if_error();
}

/// Makes a dataset at `path`, without the data that move_data() brings.
void define_dataset(const ReadSession& from, const std::string& path, WriteSession& to) {
  const DatasetEntry& entry = from.dataset(from.find(path).value());
  container::DatasetSpec spec = entry.spec;
  if (spec.is_dimension) {
    return;  // made by the datasets that have it
  }
  spec.path = path;
  spec.alignment_bytes = 1;
  if (!is_moved(entry)) {
    make_whole(from.reader(), std::move(spec), to);
    return;
  }
  DatasetOptions options;
  options.big_endian = spec.element.kind == Kind::kNumber && spec.element.big_endian;
  options.meaning = spec.element.meaning;
  options.dimensions = std::move(spec.dimension_names);
  if (spec.chunking) {
    options.chunk = spec.chunking->dims;
    // What a lossy filter has left is to stay.
    options.filters = spec.chunking->filters.loses() ? Filters::compress() : spec.chunking->filters;
  }
  const bool grows = spec.extendable && spec.chunking;
  const int64_t rows = entry.row_count();
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

/// The links of a file in the order of its list. Hard links become soft ones.
std::vector<container::LinkSpec> links_of(const container::Reader& from, const std::vector<std::string>& paths) {
  std::vector<container::LinkSpec> links = from.links().value();
  for (const container::Alias& alias : from.aliases().value()) {
    const std::string path = without_slash(alias.path);
    if (std::none_of(links.begin(), links.end(), [&](const container::LinkSpec& link) { return link.path == path; })) {
      links.push_back({.path = path,
                       .target = alias.of.empty() ? "/" : "/" + without_slash(alias.of),
                       .order = std::find(paths.begin(), paths.end(), alias.path) - paths.begin()});
    }
  }
  std::stable_sort(links.begin(), links.end(), [](const auto& a, const auto& b) { return a.order < b.order; });
  return links;
}

/// Whether a path is that of a link, or lies behind one.
bool is_linked(const std::string& path, const std::vector<container::LinkSpec>& links) {
  return std::any_of(links.begin(), links.end(),
                     [&](const container::LinkSpec& link) { return path == link.path || path.starts_with(link.path + "/"); });
}

/// Everything in the order of the list, which is that of creation where the file keeps it.
void define_all(const ReadSession& session, WriteSession& to) {
  const container::Reader& from = session.reader();
  std::vector<std::string> paths = from.list().value();
  const std::vector<container::LinkSpec> links = links_of(from, paths);
  auto link = links.begin();
  for (size_t i = 0; i <= paths.size(); ++i) {
    for (; link != links.end() && link->order <= static_cast<int64_t>(i); ++link) {
      to.create_link(*link).throw_if_error();
    }
    if (i == paths.size() || paths[i].empty() || is_own(paths[i]) || is_linked(paths[i], links)) {
      continue;
    }
    if (!is_group(paths[i])) {
      define_dataset(session, paths[i], to);
    } else if (i + 1 == paths.size() || !paths[i + 1].starts_with(paths[i])) {
      to.create_group(without_slash(paths[i])).throw_if_error();  // others come with their members
    }
  }
  paths.erase(std::remove_if(paths.begin(), paths.end(), [&](const std::string& path) { return is_linked(path, links); }),
              paths.end());
  const auto copy_attributes = [&](const std::string& object) {
    const std::vector<std::string> names = from.attribute_names(object).value();
    const bool of_scale = is_scale(from, object, names);
    for (const std::string& name : names) {
      if (!is_of_dimensions(name, of_scale)) {
        to.set_attribute(from.attribute(object, name).value()).throw_if_error();
      }
    }
  };
  copy_attributes("/");
  for (const std::string& path : paths) {
    if (!path.empty() && !is_own(path)) {
      copy_attributes(without_slash(path));
    }
  }
}

/// Moves a dataset, as many rows at once as fit into `buffer`, at least one.
void move_data(ReadSession& from, int number, WriteSession& to, int target, std::vector<std::byte>& buffer) {
  const DatasetEntry& entry = from.dataset(number);
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

/// Moves all data, and compares everything with its sums.
void move_all(ReadSession& from, WriteSession& to) {
  std::vector<std::byte> buffer;
  std::vector<std::string> moved;
  for (const std::string& path : from.dataset_paths()) {
    const int number = from.find(path).value();
    const auto target = to.find(path);
    if (target.ok() && is_moved(from.dataset(number))) {
      move_data(from, number, to, *target, buffer);
      moved.push_back(path);
    }
  }
  const std::vector<Damage> damages = from.has_checksums() ? from.verify(nullptr, moved).value() : std::vector<Damage>();
  if (!damages.empty()) {
    throw Error(ErrorCode::kCorrupted,
                fmt::format("'{}' is damaged: {} ('stria verify' says more)", from.path(),
                            damages[0].dataset.empty() ? "its metadata" : "dataset '" + damages[0].dataset + "'"));
  }
}

std::shared_ptr<Session> open_verified(const std::string& path) {
  return open_session(make_self_comm(), path, {.hints = {}, .verify = true});
}

Rewritten write_anew(ReadSession& read, const std::string& to, const Hints& hints) {
  Hints plain = hints;
  plain["stria_subfiles"] = "0";
  CreateOptions options{.hints = plain, .checksums = read.has_checksums()};
  options.track_order = read.reader().keeps_order();
  const auto made = create_session(make_self_comm(), to, options);
  auto& written = directed<WriteSession>(*made, "join");
  define_all(read, written);
  move_all(read, written);
  written.commit().throw_if_error();
  return {.old_bytes = read.report().file_bytes, .file_bytes = written.report().file_bytes};
}

/// Whether two names mean one file, through links too.
bool is_same_file(const std::string& a, const std::string& b) {
  const auto driver = storage::make_driver("posix");
  const auto one = driver.ok() ? (*driver)->identity(a) : Result<storage::Identity>(driver.status());
  const auto other = driver.ok() ? (*driver)->identity(b) : Result<storage::Identity>(driver.status());
  return storage::absolute_path(a) == storage::absolute_path(b) || (one.ok() && other.ok() && *one == *other);
}

}  // namespace

Rewritten join_file(const std::string& from, const std::string& to, const Hints& hints) {
  const auto source = open_verified(from);
  auto& read = directed<ReadSession>(*source, "join");
  if (read.parts() == nullptr) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("'{}' has no parts: it is one file", from));
  }
  Rewritten joined = write_anew(read, to, hints);
  const storage::PartMap& parts = *read.parts();
  if (is_same_file(from, to)) {
    for (const storage::PartMap::Part& part : parts.parts) {
      read.environment().driver->remove(part.path).throw_if_error();
    }
  }
  joined.part_count = parts.part_count();
  return joined;
}

// What another program would add meanwhile to a file that is replaced would be lost.
Rewritten compact_file(const std::string& from, const std::string& to, const Hints& hints) {
  const auto growing = is_same_file(from, to) ? append_session(make_self_comm(), from, {}) : nullptr;
  const auto source = open_verified(from);
  auto& read = directed<ReadSession>(*source, "compact");
  if (is_netcdf(read.format()) || read.parts() != nullptr) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("'{}': {}", from,
                            read.parts() != nullptr ? "it has parts; 'stria join' makes one file of it, without unused space"
                                                    : "a classic netCDF file has no unused space"));
  }
  const Rewritten compacted = write_anew(read, to, hints);
  if (growing != nullptr) {
    growing->abandon().throw_if_error();
  }
  return compacted;
}

}  // namespace stria::file
