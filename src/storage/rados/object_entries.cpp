#include "storage/rados/object_entries.hpp"

#include <algorithm>
#include <cerrno>

namespace stria::storage {

namespace {

// A server gives 1,024 at once.
constexpr size_t kEntriesOfARequest = 1000;

/// Says which entries of an object a request asks for.
struct Wanted {
  const std::string& object;
  const std::string& prefix;
  std::string last;  ///< those behind this one
  size_t limit = 0;
};

/// Adds them to `entries`. \returns 0 or a negative errno value; `more`: there are more of them
int read_some(const Pool& pool, const Wanted& wanted, Entries& entries, bool& more) {
  const Librados& rados = pool.rados();
  rados_omap_iter_t iterator = nullptr;
  unsigned char left = 0;
  int outcome = 0;
  const rados_read_op_t operation = rados.create_read_op();
  rados.read_op_omap_get_vals2(operation, wanted.last.c_str(), wanted.prefix.c_str(), wanted.limit, &iterator, &left, &outcome);
  const int done = rados.read_op_operate(operation, pool.io(), wanted.object.c_str(), 0);
  rados.release_read_op(operation);
  while (done == 0 && outcome == 0) {
    char* key = nullptr;
    char* value = nullptr;
    size_t key_bytes = 0;
    size_t value_bytes = 0;
    if (rados.omap_get_next2(iterator, &key, &value, &key_bytes, &value_bytes) < 0 || key == nullptr) {
      break;
    }
    entries.emplace(std::string(key, key_bytes), std::string(value, value_bytes));
  }
  if (iterator != nullptr) {
    rados.omap_get_end(iterator);
  }
  more = left != 0;
  return done != 0 ? done : outcome;
}

}  // namespace

ObjectChange::ObjectChange(const Pool& pool) : pool_(pool), operation_(pool.rados().create_write_op()) {}

ObjectChange::~ObjectChange() {
  pool_.rados().release_write_op(operation_);
}

void ObjectChange::create(Creation how) {
  pool_.rados().write_op_create(operation_, how == Creation::kNew ? LIBRADOS_CREATE_EXCLUSIVE : LIBRADOS_CREATE_IDEMPOTENT,
                                nullptr);
}

void ObjectChange::must_exist() {
  pool_.rados().write_op_assert_exists(operation_);
}

void ObjectChange::compare(const std::string& key, const std::string& value, uint8_t how) {
  pool_.rados().write_op_omap_cmp2(operation_, key.data(), how, value.data(), key.size(), value.size(), nullptr);
}

void ObjectChange::expect(const std::string& key, const std::string& value) {
  compare(key, value, LIBRADOS_CMPXATTR_OP_EQ);
}

void ObjectChange::expect_less(const std::string& key, const std::string& value) {
  compare(key, value, LIBRADOS_CMPXATTR_OP_LT);
}

void ObjectChange::set(const std::string& key, const std::string& value) {
  const char* key_data = key.data();
  const char* value_data = value.data();
  const size_t key_bytes = key.size();
  const size_t value_bytes = value.size();
  pool_.rados().write_op_omap_set2(operation_, &key_data, &value_data, &key_bytes, &value_bytes, 1);
}

void ObjectChange::drop(const std::string& key) {
  const char* key_data = key.data();
  const size_t key_bytes = key.size();
  pool_.rados().write_op_omap_rm_keys2(operation_, &key_data, &key_bytes, 1);
}

void ObjectChange::truncate(int64_t bytes) {
  pool_.rados().write_op_truncate(operation_, static_cast<uint64_t>(bytes));
}

void ObjectChange::remove() {
  pool_.rados().write_op_remove(operation_);
}

int ObjectChange::apply(const std::string& object) {
  if (pool_.is_given_up()) {
    return ETIMEDOUT;
  }
  return -pool_.rados().write_op_operate(operation_, pool_.io(), object.c_str(), nullptr, 0);
}

int read_entries(const Pool& pool, const std::string& object, const std::string& prefix, Entries& entries, size_t limit) {
  Wanted wanted{.object = object, .prefix = prefix, .last = {}};
  bool more = true;
  while (more && entries.size() < limit) {
    const size_t before = entries.size();
    if (pool.is_given_up()) {
      return ETIMEDOUT;
    }
    wanted.limit = std::min(limit - before, kEntriesOfARequest);
    if (const int failed = read_some(pool, wanted, entries, more); failed != 0) {
      return -failed;
    }
    if (entries.size() == before) {
      break;
    }
    wanted.last = entries.rbegin()->first;
  }
  return 0;
}

}  // namespace stria::storage
