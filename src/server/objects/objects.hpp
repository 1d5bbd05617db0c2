// All files of which one server has bytes, each with its checksums, in folders of its directory.
//
// Those used last stay open; fewer do when descriptors run out. Invariant: an object in use is not
// closed, because its locks would not keep out a user that opens it again. A part that the disk has
// lost is an error (part_record.hpp), once it was synced or was there for ten seconds. So is one
// that was removed (removal_record.hpp).
// Cost: two descriptors for each open object, and two mappings where it is used for long.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "server/objects/object.hpp"
#include "server/objects/part_record.hpp"
#include "server/objects/removal_record.hpp"
#include "server/objects/store_directory.hpp"
#include "stria/status.hpp"
#include "wire/tree.hpp"
#include "wire/upkeep.hpp"

namespace stria::server {

/// All objects of a server's directory. Thread-safe.
class Objects {
 public:
  static constexpr size_t kMostOpen = 1024;

  /// Keeps at most `most_open` unused objects open. Makes what is missing in and beside the
  /// directory of the data.
  static Result<std::unique_ptr<Objects>> open(const ObjectPaths& paths, size_t most_open = kMostOpen);
  Objects(const ObjectPaths& paths, size_t most_open)
      : directory_(paths.data), most_open_(most_open), record_(paths.parts), removals_(paths.removed) {}
  Objects(const Objects&) = delete;
  Objects& operator=(const Objects&) = delete;
  ~Objects();

  /// Finds the file's object; null when it has none and none is to be made. kCorrupted when it had
  /// one that is lost, was removed, or is damaged as a whole. `place`: how the file is striped,
  /// where data say so; it is noted with the part.
  Result<std::shared_ptr<Object>> find(uint64_t file, bool create, const wire::Striped& place = {});
  /// Finds where the file's bytes end, when they changed, and what they take on the disk. An object
  /// that isn't open stays so. An error as of find().
  Status look(uint64_t file, wire::Extents::Entry& to);
  /// An error, that of find(), where the part was removed from here, as one that has moved.
  Status check_not_moved(uint64_t file);
  /// Makes the file's bytes, and that it has any, survive a power loss.
  Status sync(uint64_t file);
  /// Removes the files' bytes for good; their numbers are not used again. Returns those that are
  /// removed, which is durable; the others are to be removed again.
  std::vector<uint64_t> remove(std::span<const uint64_t> files);
  /// Removes what is here of a part that comes from another server, and the note that one was
  /// removed. kAborted when somebody goes on using it.
  Status make_way(uint64_t part);
  /// Tells whether nobody uses the part after a while. The caller keeps others from beginning to.
  bool wait_until_unused(uint64_t part);
  /// The part was changed last at that time, in ns since 1970. To be called while nobody changes
  /// it.
  Status set_modified(uint64_t part, int64_t modified_ns);
  /// Notes on the disk which objects are synced, and which there are. Must be called every second
  /// or so.
  void rest();
  size_t open_count();
  struct Space {
    int64_t total_bytes = 0;
    int64_t free_bytes = 0;
  };
  /// The space of the file system. Where it doesn't tell, both are zero: then DiskHealth says that
  /// the disk fails, and why.
  Space space() const;

 private:
  static constexpr size_t kFolders = 256;
  static size_t folder_of(uint64_t file) { return file % kFolders; }
  std::string path_of(uint64_t file) const;
  std::string folder_path(size_t folder) const;
  void drop_oldest(size_t keep);
  Result<std::shared_ptr<Object>> open_object(uint64_t file, bool create);
  Status keep_place(uint64_t file, Object& object, const wire::Striped& place);
  Status check_not_removed(uint64_t file) const;
  Status make_record();
  Status remove_part(uint64_t file);
  /// Makes the names in the folder survive a power loss.
  Status sync_folder(size_t folder);
  /// Notes the part of the file, whose folder is synced.
  Status note(uint64_t file);
  void note_older(int64_t seconds);

  std::string directory_;
  size_t most_open_;
  PartRecord record_;
  RemovalRecord removals_;
  uint64_t run_ = 0;
  std::mutex mutex_;
  struct Entry {
    std::shared_ptr<Object> object;
    std::list<uint64_t>::iterator age;
  };
  std::unordered_map<uint64_t, Entry> open_;
  std::list<uint64_t> ages_;                       // used last first
  std::unordered_map<uint64_t, int64_t> unnoted_;  // parts that aren't in the record; since when
  std::unordered_set<uint64_t> unplaced_;          // open, without a noted place
  struct Folder {
    std::mutex mutex;  // held while it is synced: whoever finds it synced may rely on that
    // A server that was killed may have left names there that it had not synced.
    std::atomic<bool> unsynced = true;
  };
  std::array<Folder, kFolders> folders_;
};

}  // namespace stria::server
