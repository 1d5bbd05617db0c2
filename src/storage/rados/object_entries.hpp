// The entries (omap) of one object: read, and changed together or not at all.
#pragma once

#include <map>
#include <string>

#include "storage/rados/pool.hpp"

namespace stria::storage {

using Entries = std::map<std::string, std::string>;

/// Changes of one object. apply() does all of them, or none.
class ObjectChange {
 public:
  explicit ObjectChange(const Pool& pool);
  ObjectChange(const ObjectChange&) = delete;
  ObjectChange& operator=(const ObjectChange&) = delete;
  ~ObjectChange();

  enum class Creation { kNew, kIfMissing };
  void create(Creation how);
  void must_exist();
  /// The entry must have this value; an entry that is missing has an empty one.
  void expect(const std::string& key, const std::string& value);
  void expect_less(const std::string& key, const std::string& value);
  void set(const std::string& key, const std::string& value);
  void drop(const std::string& key);
  /// Cuts the object's bytes.
  void truncate(int64_t bytes);
  void remove();

  /// \returns 0, or an errno value: ECANCELED when an entry is not as expected, ENOENT, EEXIST
  int apply(const std::string& object);
  rados_write_op_t get() { return operation_; }

 private:
  void compare(const std::string& key, const std::string& value, uint8_t how);

  const Pool& pool_;
  rados_write_op_t operation_;
};

/// Reads the entries whose keys begin with `prefix`, at most `limit` of them.
/// \returns 0, or an errno value: ENOENT when there is no such object
int read_entries(const Pool& pool, const std::string& object, const std::string& prefix, Entries& entries,
                 size_t limit = SIZE_MAX);

}  // namespace stria::storage
