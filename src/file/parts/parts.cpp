#include "file/parts/parts.hpp"

#include <algorithm>
#include <random>
#include <utility>

#include "base/check.hpp"
#include "base/out_of_memory.hpp"
#include "file/define/hidden_table.hpp"
#include "file/nodes/node_places.hpp"
#include "file/parts/part_names.hpp"
#include "file/parts/part_places.hpp"
#include "file/parts/part_servers.hpp"
#include "file/parts/parts_table.hpp"
#include "storage/path.hpp"

namespace stria::file {

int part_count(const Environment& environment) {
  const int64_t wanted = environment.hints.subfile_count;
  if (wanted != access::ResolvedHints::kSubfileForEachNode) {
    return static_cast<int>(wanted);
  }
  return environment.comm->node_count();
}

int64_t present_generation(storage::Driver& driver, const std::string& path) {
  const auto file = driver.open(path, {});
  if (!file.ok()) {
    return file.status().code() == ErrorCode::kNotFound ? 0 : -1;
  }
  const auto table = find_parts(**file, path);
  if (!table.ok() || !*table) {
    return table.ok() ? 0 : -1;
  }
  return generation_of(storage::file_name_of(path), storage::file_name_of((*table)->map.parts[0].path)).value_or(-1);
}

Parts::Parts(PartedLayout& layout) : layout_(layout), servers_(layout.map()->parts.size(), -1) {}

Status Parts::create(const StoredFile& file, const std::string& written_path) {
  Comm& comm = *file.environment.comm;
  Status mine;
  if (lies_on_single_servers(file.environment.hints, file.path)) {
    mine = or_out_of_memory([&] { return find_near_servers(file); });
    comm.all_reduce(servers_, ReduceOp::kMax);
    STRIA_RETURN_IF_ERROR(comm.agree(mine));
  }
  struct Beginning {
    int64_t generation = 0;
    storage::PartMap::Identity identity{};
    int64_t server_count = 0;  // servers that are up, where each part lies on one of them
  };
  Beginning beginning;
  if (comm.rank() == 0) {
    mine = or_out_of_memory([&]() -> Status {
      STRIA_RETURN_IF_ERROR(choose_servers(file, written_path, beginning.server_count));
      STRIA_ASSIGN_OR_RETURN(beginning.generation, find_generation(file));
      return Status();
    });
    std::random_device random;
    std::generate(beginning.identity.begin(), beginning.identity.end(), [&] { return static_cast<std::byte>(random()); });
  }
  comm.broadcast(std::as_writable_bytes(std::span(&beginning, 1)), 0);
  generation_ = beginning.generation;
  layout_.map()->identity = beginning.identity;
  if (beginning.server_count > 0) {
    comm.broadcast(std::as_writable_bytes(std::span(servers_)), 0);
  }
  std::vector<int64_t> numbers;
  if (generation_ > 0) {
    mine = or_out_of_memory([&]() -> Status {
      note_server_count(file, static_cast<int>(beginning.server_count));
      STRIA_RETURN_IF_ERROR(make_own(file));
      numbers = own_numbers();
      return Status();
    });
  }
  STRIA_RETURN_IF_ERROR(comm.agree(mine));
  comm.all_reduce(numbers, ReduceOp::kSum);
  for (size_t part = 0; part < numbers.size(); ++part) {
    layout_.map()->parts[part].number = static_cast<uint64_t>(numbers[part]);
  }
  return Status();
}

bool Parts::is_own(const StoredFile& file, int part) const {
  const Comm& comm = *file.environment.comm;
  return int64_t{part} * comm.size() / layout_.map()->part_count() == comm.rank();
}

Status Parts::find_near_servers(const StoredFile& file) {
  for (int part = 0; part < map()->part_count(); ++part) {
    if (is_own(file, part)) {
      STRIA_ASSIGN_OR_RETURN(servers_[static_cast<size_t>(part)], near_server(file.path, part));
    }
  }
  return Status();
}

// The file itself is there already, under its temporary name.
Status Parts::choose_servers(const StoredFile& file, const std::string& written_path, int64_t& up_count) {
  const access::ResolvedHints& hints = file.environment.hints;
  if (!lies_on_single_servers(hints, file.path)) {
    return Status();
  }
  STRIA_ASSIGN_OR_RETURN(PartServers servers, PartServers::find(file.path, hints.first_server));
  servers.note(written_path);
  for (int64_t& server : servers_) {
    server = servers.next_near(static_cast<int>(server), set_files(file));
  }
  up_count = servers.count();
  return Status();
}

void Parts::note_server_count(const StoredFile& file, int servers) {
  const auto parities = static_cast<int>(file.environment.hints.parity_count);
  server_warning_ = servers == 0 ? "" : warn_of_shared_servers(file.path, set_files(file), parities, servers);
}

// Each part has its number at the rank that has made it, and 0 elsewhere.
std::vector<int64_t> Parts::own_numbers() const {
  std::vector<int64_t> numbers(layout_.map()->parts.size());
  for (const auto& [part, file] : own_) {
    const auto identity = file->identity();
    numbers[static_cast<size_t>(part)] = identity.ok() ? static_cast<int64_t>(identity->number) : 0;
  }
  return numbers;
}

// The lowest rank among those that share a part makes it.
Status Parts::make_own(const StoredFile& file) {
  const std::string name = storage::file_name_of(file.path);
  storage::PartMap& map = *layout_.map();
  for (int part = 0; part < map.part_count(); ++part) {
    storage::PartMap::Part& one = map.parts[static_cast<size_t>(part)];
    one.path = path_beside(file.path, part_name(name, generation_, part));
    const int node = node_of_part(*file.environment.comm, part, map.part_count());
    one.real_path = placed_path(places_on(file.environment, node), static_cast<size_t>(part), one.path);
    if (is_own(file, part)) {
      STRIA_ASSIGN_OR_RETURN(const storage::Destination master, file.environment.driver->find_destination(file.path));
      storage::OpenOptions open;
      open.mode = storage::OpenOptions::Mode::kCreateNew;
      open.permissions = master.replaced ? 0600 : open.permissions;
      own_[part] = nullptr;  // Its link goes then where it can't be made.
      open.striping = on_server(static_cast<int>(servers_[static_cast<size_t>(part)]));
      STRIA_RETURN_IF_ERROR(begin_placed(*file.environment.driver, one.path, one.real_path));
      STRIA_ASSIGN_OR_RETURN(own_[part], file.environment.driver->open(one.real_path, open));
    }
  }
  return Status();
}

Result<int64_t> Parts::find_generation(const StoredFile& file) {
  STRIA_ASSIGN_OR_RETURN(const auto there, list_parts(*file.environment.driver, file.path));
  const int64_t present = there.empty() ? 0 : present_generation(*file.environment.driver, file.path);
  int64_t last = 0;
  for (const auto& [name, generation] : there) {
    last = std::max(last, generation);
    if (present >= 0 && generation != present) {
      const std::string path = path_beside(file.path, name);
      const Status removed = remove_placed(*file.environment.driver, path);
      // A disk that has failed since keeps what it has; that is no reason to write no more.
      STRIA_RETURN_IF_ERROR(real_path(*file.environment.driver, path) == path ? removed : Status());
    }
  }
  return last + 1;
}

Status Parts::define_table(const Definitions::Target& target, Definitions& definitions) const {
  STRIA_RETURN_IF_ERROR(layout_.place_marks());
  std::vector<std::string> paths;
  for (const DatasetEntry& entry : target.catalog.datasets()) {
    if (entry.data_offset >= storage::PartMap::kFirstAddress) {
      paths.push_back(entry.spec.path);
    }
  }
  // Each array of the map is one of these datasets, in this order.
  STRIA_CHECK(paths.size() == map()->arrays.size(), paths.size(), map()->arrays.size());
  const std::vector<std::byte> content = encode_parts(*map(), paths);
  return definitions.add_table(target, hidden_bytes(kPartsPath, static_cast<int64_t>(content.size())), content);
}

void Parts::name_sources(Catalog& catalog) const {
  for (DatasetEntry& entry : catalog.datasets()) {
    for (int part = 0; entry.data_offset >= storage::PartMap::kFirstAddress && part < map()->part_count(); ++part) {
      const ByteRange rows = storage::rows_of_part(entry.row_count(), map()->part_count(), part);
      if (!rows.empty()) {
        entry.spec.elsewhere.push_back({.file_name = storage::file_name_of(map()->parts[static_cast<size_t>(part)].path),
                                        .first_row = rows.begin,
                                        .row_count = rows.size()});
      }
    }
  }
}

Status Parts::finish(const StoredFile& file, const Catalog& catalog, bool sync) {
  for (const auto& [number, part] : own_) {
    STRIA_RETURN_IF_ERROR(finish_part(file, number, catalog, sync));
  }
  return Status();
}

Status Parts::finish_part(const StoredFile& file, int number, const Catalog& catalog, bool sync) const {
  storage::File& own = *own_.at(number);
  STRIA_ASSIGN_OR_RETURN(const auto writer, file.environment.format->make_writer(layout_.of_part(number)));
  auto array = map()->arrays.begin();
  for (const DatasetEntry& entry : catalog.datasets()) {
    if (entry.data_offset < storage::PartMap::kFirstAddress) {
      continue;
    }
    STRIA_CHECK(array != map()->arrays.end() && array->address == entry.data_offset, entry.spec.path, entry.data_offset);
    container::DatasetSpec share = entry.spec;
    share.dimension_names.clear();  // the master has them
    share.elsewhere.clear();
    share.dims[0] = storage::rows_of_part(entry.row_count(), map()->part_count(), number).size();
    share.data_offset = array->offsets[static_cast<size_t>(number)];
    ++array;
    if (share.dims[0] > 0) {
      STRIA_RETURN_IF_ERROR(writer->create_dataset(share).status());
    }
  }
  container::DatasetSpec mark = mark_dataset();
  mark.data_offset = map()->parts[static_cast<size_t>(number)].mark_offset;
  STRIA_RETURN_IF_ERROR(writer->create_dataset(mark).status());
  STRIA_ASSIGN_OR_RETURN(const container::SparseImage image, writer->finish());
  const storage::PartMap::Mark content = map()->mark_of(number);
  std::vector<storage::WriteSegment> segments{{mark.data_offset, content.data(), storage::PartMap::kMarkBytes}};
  for (const auto& extent : image.extents) {
    segments.push_back({extent.offset, extent.bytes.data(), static_cast<int64_t>(extent.bytes.size())});
  }
  STRIA_RETURN_IF_ERROR(own.write(segments));
  STRIA_RETURN_IF_ERROR(own.resize(image.file_bytes));
  STRIA_ASSIGN_OR_RETURN(const storage::Destination master, file.environment.driver->find_destination(file.path));
  STRIA_RETURN_IF_ERROR(master.replaced ? file.environment.driver->set_attributes(own, *master.replaced) : Status());
  STRIA_RETURN_IF_ERROR(sync ? own.sync() : Status());
  const storage::PartMap::Part& part = map()->parts[static_cast<size_t>(number)];
  STRIA_RETURN_IF_ERROR(sync && part.real_path != part.path ? file.environment.driver->sync_directory(part.real_path)
                                                            : Status());
  return own.close();
}

void Parts::discard(storage::Driver& driver) noexcept {
  for (auto& [number, file] : own_) {
    file.reset();
    // The outcome doesn't matter: the caller needs the reason of the failure.
    static_cast<void>(
        or_out_of_memory([&, part = number] { return remove_placed(driver, map()->parts[static_cast<size_t>(part)].path); }));
  }
  own_.clear();
}

void Parts::clear_others(const StoredFile& file) noexcept {
  STRIA_CHECK(generation_ > 0, generation_);  // All parts would be taken for others.
  static_cast<void>(or_out_of_memory([&]() -> Status {
    STRIA_ASSIGN_OR_RETURN(auto there, list_parts(*file.environment.driver, file.path));
    STRIA_ASSIGN_OR_RETURN(const auto parity, list_parity(*file.environment.driver, file.path));
    there.insert(there.end(), parity.begin(), parity.end());
    for (const auto& [name, generation] : there) {
      if (generation != generation_) {
        STRIA_RETURN_IF_ERROR(remove_placed(*file.environment.driver, path_beside(file.path, name)));
      }
    }
    return Status();
  }));
}

}  // namespace stria::file
