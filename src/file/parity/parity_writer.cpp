#include "file/parity/parity_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <utility>

#include "base/check.hpp"
#include "base/out_of_memory.hpp"
#include "file/checksums/seal.hpp"
#include "file/meet/message_fields.hpp"
#include "file/nodes/node_places.hpp"
#include "file/parity/parity_code.hpp"
#include "file/parity/parity_set.hpp"
#include "file/parts/part_names.hpp"
#include "file/parts/part_places.hpp"
#include "file/parts/part_servers.hpp"
#include "storage/path.hpp"

namespace stria::file {

namespace {

/// The stripes of one rank, made in memory for one of them at a time.
class StripeEncoder {
 public:
  explicit StripeEncoder(const ParityHead& head)
      : head_(head), code_(head.member_count(), head.parities), memory_(bytes_of_memory(head)) {
    for (int unit = 0; unit < head.unit_count(); ++unit) {
      units_.push_back(memory_.data() + int64_t{unit} * head.unit_bytes);
    }
  }

  Status encode(int64_t stripe, const std::vector<storage::File*>& members,
                const std::vector<std::unique_ptr<storage::File>>& parities) {
    std::vector<uint64_t> sums;
    for (int member = 0; member < head_.member_count(); ++member) {
      STRIA_RETURN_IF_ERROR(read(stripe, member, *members[static_cast<size_t>(member)]));
      sums.push_back(sum(stripe, member));  // while the processor's cache has it
    }
    const auto count = static_cast<size_t>(head_.member_count());
    code_.encode(std::span(units_).first(count), std::span(units_).subspan(count), head_.unit_bytes);
    for (int unit = head_.member_count(); unit < head_.unit_count(); ++unit) {
      sums.push_back(sum(stripe, unit));
    }
    const std::vector<uint64_t> record = sealed_record(std::move(sums));
    STRIA_CHECK(static_cast<int64_t>(record.size() * sizeof(uint64_t)) == head_.record_bytes(), record.size(),
                head_.record_bytes());
    for (size_t parity = 0; parity < parities.size(); ++parity) {
      const storage::WriteSegment segments[] = {{head_.records_begin() + stripe * head_.record_bytes(),
                                                 reinterpret_cast<const std::byte*>(record.data()), head_.record_bytes()},
                                                {head_.units_begin() + stripe * head_.unit_bytes, units_[count + parity],
                                                 head_.bytes_of(stripe, static_cast<int>(count + parity))}};
      STRIA_RETURN_IF_ERROR(parities[parity]->write(segments));
    }
    return Status();
  }

 private:
  static size_t bytes_of_memory(const ParityHead& head) { return static_cast<size_t>(head.unit_count() * head.unit_bytes); }

  uint64_t sum(int64_t stripe, int unit) const {
    return sum_of({units_[static_cast<size_t>(unit)], static_cast<size_t>(head_.bytes_of(stripe, unit))});
  }

  // What lies behind the end of what was written is zeros, as it is once the file has its size.
  Status read(int64_t stripe, int member, storage::File& file) {
    std::byte* const to = units_[static_cast<size_t>(member)];
    const int64_t bytes = head_.bytes_of(stripe, member);
    const storage::ReadSegment segment{head_.members[static_cast<size_t>(member)].begin + stripe * head_.unit_bytes, to, bytes};
    STRIA_ASSIGN_OR_RETURN(const int64_t got, bytes == 0 ? Result<int64_t>(0) : file.read(std::span(&segment, 1)));
    std::fill(to + got, to + head_.unit_bytes, std::byte{0});
    return Status();
  }

  const ParityHead& head_;
  ParityCode code_;
  std::vector<std::byte> memory_;
  std::vector<std::byte*> units_;
};

Status check_count(size_t members, int parities) {
  return members + static_cast<size_t>(parities) <= ParityCode::kMostUnits
             ? Status()
             : Status(ErrorCode::kUnsupported,
                      fmt::format("stria_parity: {} parts, the file that names them and {} of parity are more than {}",
                                  members - 1, parities, ParityCode::kMostUnits));
}

int parities_of(const StoredFile& file) {
  const auto set = ParitySet::find(file.environment.driver, file.path);
  return set.ok() ? (*set)->head().parities : 0;
}

}  // namespace

Result<std::vector<std::string>> ParityWriter::list_old(const StoredFile& file) {
  storage::Driver& driver = *file.environment.driver;
  STRIA_ASSIGN_OR_RETURN(const auto names, list_parity(driver, file.path));
  std::vector<std::string> paths;
  for (const auto& one : names) {
    paths.push_back(path_beside(file.path, one.name));
    if (const std::string real = real_path(driver, paths.back()); real != paths.back()) {
      places_.push_back(storage::directory_of(real));
    }
  }
  return paths;
}

Result<int> ParityWriter::find_old(const StoredFile& file) {
  STRIA_RETURN_IF_ERROR(list_old(file).status());
  return parities_of(file);
}

Result<int> ParityWriter::remove_all(const StoredFile& file) {
  const int count = parities_of(file);
  STRIA_ASSIGN_OR_RETURN(const auto paths, list_old(file));
  for (const std::string& path : paths) {
    STRIA_RETURN_IF_ERROR(remove_placed(*file.environment.driver, path));
  }
  return count;
}

std::string ParityWriter::path_of(int number, const std::string& path) const {
  return path_beside(path, head_.parity_name(number));
}

Result<std::vector<std::byte>> ParityWriter::begin(const StoredFile& file, const std::vector<ParityFile>& files, int parities,
                                                   int64_t generation) {
  STRIA_RETURN_IF_ERROR(check_count(files.size(), parities));
  head_ = {.file_name = storage::file_name_of(file.path), .generation = generation, .parities = parities, .members = {}};
  if (generation == 0) {
    STRIA_ASSIGN_OR_RETURN(const auto there, list_parity(*file.environment.driver, file.path));
    for (const auto& one : there) {
      head_.generation = std::max(head_.generation, one.generation);
    }
    ++head_.generation;
  }
  std::random_device random;
  std::generate(head_.identity.begin(), head_.identity.end(), [&] { return static_cast<std::byte>(random()); });
  if (files.size() == 1) {
    constexpr int64_t kManyUnits = 16 * ParityHead::kLargeUnitBytes;
    head_.unit_bytes = files[0].bytes >= kManyUnits ? ParityHead::kLargeUnitBytes : ParityHead::kSmallUnitBytes;
    head_.members = stretches_of(files[0].name, files[0].bytes, head_.unit_bytes);
  } else {
    for (const ParityFile& each : files) {
      head_.members.push_back({.name = each.name, .begin = 0, .bytes = each.bytes});
    }
    head_.unit_bytes = unit_bytes_for(head_.longest_bytes());
  }
  const std::vector<int> nodes = nodes_of_parity(*file.environment.comm, static_cast<int>(files.size()) - 1, parities);
  for (size_t number = 0; number < nodes.size(); ++number) {
    const std::string path = path_of(static_cast<int>(number), file.path);
    const auto places = places_on(file.environment, nodes[number]);
    real_paths_.push_back(places.empty() ? placed_path(places_, number, path)
                                         : placed_path(places, files.size() - 1 + number, path));
  }
  STRIA_RETURN_IF_ERROR(choose_servers(file, files));
  STRIA_RETURN_IF_ERROR(create_files(file));
  STRIA_CHECK(real_paths_.size() == static_cast<size_t>(parities) && numbers_.size() == real_paths_.size(), real_paths_.size(),
              numbers_.size(), parities);
  FieldWriter fields;
  fields.bytes(head_.encode(0));
  for (const std::string& path : real_paths_) {
    fields.text(path);
  }
  fields.bytes(std::as_bytes(std::span(numbers_)));
  return fields.take();
}

// Rank 0 chooses. In a store, parity lies where none of the parts does.
Status ParityWriter::choose_servers(const StoredFile& file, const std::vector<ParityFile>& files) {
  servers_.assign(static_cast<size_t>(head_.parities), -1);
  if (files.size() == 1) {
    return Status();
  }
  STRIA_ASSIGN_OR_RETURN(PartServers servers, PartServers::find(file.path, file.environment.hints.first_server));
  for (const ParityFile& each : files) {
    servers.note(each.path);
  }
  std::generate(servers_.begin(), servers_.end(), [&] { return servers.next(); });
  return Status();
}

// Rank 0 creates the files. What a killed program has left by these names goes first.
Status ParityWriter::create_files(const StoredFile& file) {
  storage::Driver& driver = *file.environment.driver;
  STRIA_ASSIGN_OR_RETURN(const storage::Destination destination, driver.find_destination(file.path));
  for (int number = 0; number < head_.parities; ++number) {
    const Status removed = remove_placed(driver, path_of(number, file.path));
    STRIA_RETURN_IF_ERROR(removed.code() == ErrorCode::kNotFound ? Status() : removed);
    is_made_ = true;
    STRIA_RETURN_IF_ERROR(begin_placed(driver, path_of(number, file.path), real_paths_[static_cast<size_t>(number)]));
    storage::OpenOptions open;
    open.mode = storage::OpenOptions::Mode::kCreateNew;
    open.permissions = destination.replaced ? 0600 : open.permissions;
    open.striping = on_server(servers_[static_cast<size_t>(number)]);
    STRIA_ASSIGN_OR_RETURN(const auto made, driver.open(real_paths_[static_cast<size_t>(number)], open));
    STRIA_RETURN_IF_ERROR(destination.replaced ? driver.set_attributes(*made, *destination.replaced) : Status());
    const auto identity = made->identity();
    numbers_.push_back(identity.ok() ? identity->number : 0);
    STRIA_RETURN_IF_ERROR(made->resize(head_.file_bytes()));
    STRIA_RETURN_IF_ERROR(made->close());
  }
  return Status();
}

Result<std::unique_ptr<storage::File>> ParityWriter::open_made(int number, storage::Driver& driver) const {
  storage::OpenOptions open;
  open.mode = storage::OpenOptions::Mode::kReadWrite;
  open.plain_only = true;
  open.expected_number = numbers_[static_cast<size_t>(number)];
  return driver.open(real_paths_[static_cast<size_t>(number)], open);
}

Status ParityWriter::take(std::span<const std::byte> message, const std::string& path) {
  FieldReader fields(message);
  const auto encoded = fields.bytes();
  STRIA_ASSIGN_OR_RETURN(ReadHead read, decode_head(encoded, path));
  head_ = std::move(read.head);
  for (int number = 0; number < head_.parities; ++number) {
    real_paths_.push_back(fields.text());
  }
  fields.append_to(numbers_);
  // Rank 0 has made as many files as it tells of.
  return fields.is_whole() && numbers_.size() == static_cast<size_t>(head_.parities)
             ? Status()
             : Status(ErrorCode::kInternal, "what rank 0 says of the parity of '" + path + "' was garbled on its way");
}

Status ParityWriter::make(const StoredFile& file, const std::vector<ParityFile>& files, int parities, int64_t generation,
                          bool sync) {
  Comm& comm = *file.environment.comm;
  std::vector<std::byte> message;
  Status mine;
  if (comm.rank() == 0) {
    auto begun = or_out_of_memory([&] { return begin(file, files, parities, generation); });
    mine = begun.status();
    message = begun.ok() ? std::move(*begun) : message;
  }
  STRIA_RETURN_IF_ERROR(comm.agree(mine));
  mine = or_out_of_memory([&]() -> Status {
    broadcast_bytes(comm, message, 0);
    STRIA_RETURN_IF_ERROR(comm.rank() == 0 ? Status() : take(message, file.path));
    return encode_share(file.environment, files, sync);
  });
  STRIA_RETURN_IF_ERROR(comm.agree(mine));
  mine = comm.rank() == 0 ? or_out_of_memory([&] { return write_heads(file, sync); }) : Status();
  return comm.agree(mine);
}

// Each rank has the stripes of one stretch. Local.
Status ParityWriter::encode_share(const Environment& environment, const std::vector<ParityFile>& files, bool sync) const {
  const Comm& comm = *environment.comm;
  const auto share = [&](int rank) {
    return head_.stripe_count() / comm.size() * rank + std::min<int64_t>(head_.stripe_count() % comm.size(), rank);
  };
  const ByteRange stripes{share(comm.rank()), share(comm.rank() + 1)};
  if (stripes.empty()) {
    return Status();
  }
  std::vector<std::unique_ptr<storage::File>> opened;
  std::vector<storage::File*> members;
  for (const ParityFile& file : files) {
    STRIA_ASSIGN_OR_RETURN(auto handle, environment.driver->open(file.path, {}));
    STRIA_RETURN_IF_ERROR(handle->refresh({0, INT64_MAX}));
    opened.push_back(std::move(handle));
  }
  STRIA_CHECK(opened.size() == 1 || opened.size() == static_cast<size_t>(head_.member_count()), opened.size(),
              head_.member_count());
  for (int member = 0; member < head_.member_count(); ++member) {
    members.push_back(opened[opened.size() == 1 ? 0 : static_cast<size_t>(member)].get());
  }
  std::vector<std::unique_ptr<storage::File>> parities;
  for (int number = 0; number < head_.parities; ++number) {
    STRIA_ASSIGN_OR_RETURN(auto handle, open_made(number, *environment.driver));
    parities.push_back(std::move(handle));
  }
  StripeEncoder encoder(head_);
  for (int64_t stripe = stripes.begin; stripe < stripes.end; ++stripe) {
    STRIA_RETURN_IF_ERROR(encoder.encode(stripe, members, parities));
  }
  for (const auto& file : parities) {
    STRIA_RETURN_IF_ERROR(sync ? file->sync() : Status());
    STRIA_RETURN_IF_ERROR(file->close());
  }
  return Status();
}

// Rank 0 writes the heads when all else of the parity is written.
Status ParityWriter::write_heads(const StoredFile& file, bool sync) const {
  for (int number = 0; number < head_.parities; ++number) {
    STRIA_ASSIGN_OR_RETURN(const auto made, open_made(number, *file.environment.driver));
    const std::vector<std::byte> head = head_.encode(number);
    const storage::WriteSegment segment{0, head.data(), static_cast<int64_t>(head.size())};
    STRIA_RETURN_IF_ERROR(made->write(std::span(&segment, 1)));
    STRIA_RETURN_IF_ERROR(sync ? made->sync() : Status());
    STRIA_RETURN_IF_ERROR(made->close());
    const std::string& real = real_paths_[static_cast<size_t>(number)];
    const bool is_elsewhere = real != path_of(number, file.path);
    STRIA_RETURN_IF_ERROR(sync && is_elsewhere ? file.environment.driver->sync_directory(real) : Status());
  }
  return sync ? file.environment.driver->sync_directory(file.path) : Status();
}

// Where this fails, the file has its name and its parity, and only a file that is lost as a whole
// isn't known to have had one.
void ParityWriter::note_published(const StoredFile& file) noexcept {
  static_cast<void>(or_out_of_memory([&]() -> Status {
    is_made_ = false;
    const auto mark = mark_of(head_);
    for (int number = 0; number < head_.parities; ++number) {
      STRIA_ASSIGN_OR_RETURN(const auto made, open_made(number, *file.environment.driver));
      const storage::WriteSegment segment{ParityHead::kMarkOffset, mark.data(), static_cast<int64_t>(mark.size())};
      STRIA_RETURN_IF_ERROR(made->write(std::span(&segment, 1)));
      STRIA_RETURN_IF_ERROR(made->close());
    }
    STRIA_ASSIGN_OR_RETURN(const auto there, list_parity(*file.environment.driver, file.path));
    for (const auto& [name, generation] : there) {
      STRIA_RETURN_IF_ERROR(
          generation == head_.generation ? Status() : remove_placed(*file.environment.driver, path_beside(file.path, name)));
    }
    return Status();
  }));
}

void ParityWriter::discard(const StoredFile& file) noexcept {
  static_cast<void>(or_out_of_memory([&]() -> Status {
    for (int number = 0; is_made_ && number < head_.parities; ++number) {
      // The outcome doesn't matter: the caller needs the reason of the failure.
      static_cast<void>(remove_placed(*file.environment.driver, path_of(number, file.path)));
    }
    is_made_ = false;
    return Status();
  }));
}

}  // namespace stria::file
