// The objects of a file that is written, by their paths: those that are made, and those of a file
// that grows as far as they were looked for.
#pragma once

#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "container/hdf5/write/objects.hpp"
#include "container/hdf5/write/old_file.hpp"

namespace stria::container::h5 {

class ObjectTree {
 public:
  /// `old_file`: the file that grows, which must outlive this; null for a new one.
  explicit ObjectTree(const OldFile* old_file);
  ObjectTree(const ObjectTree&) = delete;
  ObjectTree& operator=(const ObjectTree&) = delete;

  /// Returns all of them, in the order in which they came, the root group first.
  std::deque<Object>& objects() { return objects_; }
  const std::deque<Object>& objects() const { return objects_; }
  const std::unordered_map<std::string, Object*>& by_path() const { return by_path_; }
  Object& root() { return objects_.front(); }
  /// Returns the object at a path, once it is made or looked for; else null.
  Object* find(const std::string& path) const;
  /// All that is made from now on keeps the order of its members and attributes.
  void keep_order();

  /// Learns what the old file has on the way to `path`, so that find() sees it.
  Status look_for(const std::string& path);
  /// Adds an object below an existing group.
  Result<Object*> add(const std::string& path, Object::Content content);
  /// Makes the groups of `path` whose names end before `end`, unless they are there.
  Status make_groups(const std::string& path, size_t end);
  Status make_group(const std::string& path);
  /// Notes that an object changes, which its file may have already: it gets another header, and so
  /// do the groups above it.
  static Status change(Object& object);
  /// Removes the name of an object that the file has.
  Status remove(const std::string& path);

  /// Notes when an object was made: its groups came before.
  static void note_order(Object& object, int64_t order);
  /// Puts what is new in each group behind what was there, in order of creation.
  void put_links_in_order();

 private:
  Status learn(Object& object, const std::string& path);

  const OldFile* old_file_;
  std::deque<Object> objects_;
  std::unordered_map<std::string, Object*> by_path_;
  bool keeps_order_ = false;
};

}  // namespace stria::container::h5
