#include "storage/rados/header.hpp"

#include <cerrno>

#include "storage/rados/flight.hpp"
#include "storage/rados/object_entries.hpp"
#include "storage/rados/rados_path.hpp"

namespace stria::storage {

namespace {

constexpr const char* kObjectBytes = "object_bytes";
constexpr const char* kServerCount = "servers";
constexpr const char* kSizeBytes = "size";
constexpr const char* kReach = "reach";
constexpr const char* kGone = "gone";

std::string text(int64_t number) {
  return hexadecimal(static_cast<uint64_t>(number));
}

int64_t number(const Entries& entries, const char* key) {
  const auto found = entries.find(key);
  return found == entries.end() ? 0 : static_cast<int64_t>(from_hexadecimal(found->second));
}

Status raise(const Pool& pool, uint64_t file, const char* key, int64_t value) {
  const std::string object = header_object(file);
  ObjectChange change(pool);
  change.expect_less(key, text(value));
  change.set(key, text(value));
  const int failed = change.apply(object);
  return failed == 0 || failed == ECANCELED ? Status() : pool.error(-failed, object);
}

Status set(const Pool& pool, uint64_t file, const char* key, const std::string& value) {
  const std::string object = header_object(file);
  ObjectChange change(pool);
  change.must_exist();
  change.set(key, value);
  const int failed = change.apply(object);
  return failed == 0 ? Status() : pool.error(-failed, object);
}

// What isn't there needs no change.
int unless_missing(int result) {
  return result == -ENOENT ? 0 : result;
}

void add_change(const Pool& pool, Flight& flight, const std::string& object, ObjectChange& change) {
  const auto start = [&](rados_completion_t completion) {
    return pool.rados().aio_write_op_operate(change.get(), pool.io(), completion, object.c_str(), nullptr, 0);
  };
  flight.add(object, start, unless_missing);
}

}  // namespace

int create_header(const Pool& pool, uint64_t file, const Header& header) {
  ObjectChange change(pool);
  change.create(ObjectChange::Creation::kNew);
  change.set(kObjectBytes, text(header.object_bytes));
  change.set(kServerCount, text(header.server_count));
  change.set(kSizeBytes, text(header.size_bytes));
  change.set(kReach, text(header.reach));
  return change.apply(header_object(file));
}

Result<Header> read_header(const Pool& pool, uint64_t file) {
  const std::string object = header_object(file);
  Entries entries;
  if (const int failed = read_entries(pool, object, "", entries); failed != 0) {
    return pool.error(-failed, object);
  }
  Header header{number(entries, kObjectBytes), number(entries, kServerCount), number(entries, kSizeBytes),
                number(entries, kReach), entries[kGone]};
  if (header.object_bytes <= 0 || header.size_bytes < 0 || header.reach < 0) {
    return Status(ErrorCode::kCorrupted, "object '" + object + "' of the pool '" + pool.name() + "' is not a file's header");
  }
  return header;
}

Status raise_size(const Pool& pool, uint64_t file, int64_t bytes) {
  return raise(pool, file, kSizeBytes, bytes);
}

Status raise_reach(const Pool& pool, uint64_t file, int64_t objects) {
  return raise(pool, file, kReach, objects);
}

Status set_size(const Pool& pool, uint64_t file, int64_t bytes) {
  return set(pool, file, kSizeBytes, text(bytes));
}

Status mark_gone(const Pool& pool, uint64_t file, const std::string& directory) {
  return set(pool, file, kGone, directory);
}

Status cut_data(const Pool& pool, uint64_t file, const Header& header, int64_t bytes) {
  Flight flight(pool);
  int64_t first = bytes / header.object_bytes;
  if (const int64_t kept = bytes % header.object_bytes; kept > 0 && first < header.reach) {
    ObjectChange change(pool);
    change.must_exist();
    change.truncate(kept);
    add_change(pool, flight, data_object(file, first), change);
    ++first;
  }
  for (int64_t index = first; index < header.reach; ++index) {
    ObjectChange change(pool);
    change.remove();
    add_change(pool, flight, data_object(file, index), change);
  }
  return flight.wait();
}

Status remove_objects(const Pool& pool, uint64_t file) {
  const auto header = read_header(pool, file);
  if (header.status().code() == ErrorCode::kNotFound) {
    return {};
  }
  STRIA_RETURN_IF_ERROR(header.status());
  STRIA_RETURN_IF_ERROR(cut_data(pool, file, *header, 0));
  Flight flight(pool);
  ObjectChange locks(pool);
  locks.remove();
  add_change(pool, flight, locks_object(file), locks);
  STRIA_RETURN_IF_ERROR(flight.wait());
  // The header goes last: as long as it is there, what is left can be found.
  ObjectChange last(pool);
  last.remove();
  add_change(pool, flight, header_object(file), last);
  return flight.wait();
}

}  // namespace stria::storage
