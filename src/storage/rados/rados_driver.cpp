#include "storage/rados/rados_driver.hpp"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <span>
#include <utility>

#include "base/byte_range.hpp"
#include "storage/messages.hpp"
#include "storage/rados/directory.hpp"
#include "storage/rados/header.hpp"
#include "storage/rados/names.hpp"
#include "storage/rados/rados_file.hpp"
#include "storage/rados/rados_path.hpp"
#include "wire/trust/key.hpp"

namespace stria::storage {

namespace {

constexpr int64_t kDefaultObjectBytes = 4 << 20;
constexpr int64_t kMinObjectBytes = 64 << 10;
constexpr int64_t kMaxObjectBytes = 64 << 20;  // a cluster's own limit is 128 MiB
// How often a name may come to mean something else while it is opened.
constexpr int kMaxOpenAttempts = 20;

/// A path, and its pool.
struct RadosPlace {
  std::shared_ptr<const Pool> pool;
  RadosPath path;
};

Result<RadosPlace> find_rados(const std::string& text) {
  STRIA_ASSIGN_OR_RETURN(RadosPath path, RadosPath::parse(text));
  STRIA_ASSIGN_OR_RETURN(auto pool, Pool::named(path.pool));
  return RadosPlace{std::move(pool), std::move(path)};
}

int64_t object_bytes_of(const Striping& striping) {
  const int64_t wanted = striping.unit_bytes > 0 ? striping.unit_bytes : kDefaultObjectBytes;
  return align_down(std::clamp(wanted, kMinObjectBytes, kMaxObjectBytes), kMinObjectBytes);
}

/// Makes a file and gives it the name; null when the name has been taken meanwhile.
Result<std::unique_ptr<RadosFile>> make_named(const RadosPlace& place, const std::string& path, const OpenOptions& options) {
  uint64_t number = 0;
  wire::randomise(std::as_writable_bytes(std::span(&number, 1)));
  const Pool& pool = *place.pool;
  STRIA_ASSIGN_OR_RETURN(const std::string note, note_new_file(pool, place.path.directory, number));
  const Header header{object_bytes_of(options.striping), pool.server_count(), 0, 0, ""};
  if (const int failed = create_header(pool, number, header); failed != 0) {
    if (failed == EEXIST) {
      forget_new_file(pool, place.path.directory, number);  // the number is another file's
    }
    return pool.error(-failed, header_object(number));
  }
  const auto make = [&]() -> Result<std::unique_ptr<RadosFile>> {
    STRIA_ASSIGN_OR_RETURN(auto file, RadosFile::open(place.pool, number, {.path = path, .writable = true}));
    STRIA_RETURN_IF_ERROR(file->lock_file(options));
    STRIA_ASSIGN_OR_RETURN(const bool is_named, add_name(pool, {place.path.directory, place.path.name, number, note}));
    return is_named ? std::move(file) : nullptr;
  };
  auto made = make();
  if (!made.ok() || *made == nullptr) {
    // The error that counts is the first one.
    if (remove_objects(pool, number).ok()) {
      forget_new_file(pool, place.path.directory, number);
    }
  }
  remove_left_behind(pool, place.path.directory, number);
  return made;
}

/// Opens a file that has a name; null when it has lost it meanwhile.
Result<std::unique_ptr<RadosFile>> open_named(const RadosPlace& place, uint64_t number, const std::string& path,
                                              const OpenOptions& options) {
  const bool writable = options.mode != OpenOptions::Mode::kRead;
  auto file = RadosFile::open(place.pool, number, {.path = path, .writable = writable});
  if (file.status().code() == ErrorCode::kNotFound) {
    return std::unique_ptr<RadosFile>();
  }
  STRIA_RETURN_IF_ERROR(file.status());
  if (options.expected_number != 0 && number != options.expected_number) {
    // A pool always tells what a name means now; waiting would not change its answer.
    return Status(ErrorCode::kIo, "the name means another file than the one that was opened first");
  }
  STRIA_RETURN_IF_ERROR((*file)->lock_file(options));
  if (options.mode == OpenOptions::Mode::kCreate) {
    STRIA_RETURN_IF_ERROR((*file)->resize(0));
  }
  return file;
}

Result<std::unique_ptr<RadosFile>> open_or_make(const RadosPlace& place, const std::string& path, const OpenOptions& options) {
  const bool creates = options.mode == OpenOptions::Mode::kCreate || options.mode == OpenOptions::Mode::kCreateNew;
  for (int attempt = 0; attempt < kMaxOpenAttempts; ++attempt) {
    STRIA_ASSIGN_OR_RETURN(const auto found, look_up(*place.pool, place.path.directory, place.path.name));
    if (!found && !creates) {
      return no_such_file();
    }
    if (found && (found->is_directory || options.mode == OpenOptions::Mode::kCreateNew)) {
      const int reason = found->is_directory ? EISDIR : EEXIST;
      return Status::from_errno(reason, "the name is taken");
    }
    STRIA_ASSIGN_OR_RETURN(auto file, found ? open_named(place, found->file, path, options) : make_named(place, path, options));
    if (file != nullptr) {
      return file;
    }
  }
  return Status(ErrorCode::kIo, "the name has no file, or comes to mean another one all the time");
}

using FoundObject = std::pair<std::shared_ptr<const Pool>, std::optional<Named>>;

Result<FoundObject> look_for(const std::string& path) {
  const std::string what = describe("look up", path);
  const auto place = find_rados(path);
  if (!place.ok()) {
    return place.status().with_context(what);
  }
  const auto named = look_up(*place->pool, place->path.directory, place->path.name);
  return named.ok() ? Result<FoundObject>(FoundObject{place->pool, *named}) : named.status().with_context(what);
}

class RadosDriver final : public Driver {
 public:
  const char* name() const override { return "rados"; }

  Result<std::unique_ptr<File>> open(const std::string& path, const OpenOptions& options) override {
    const bool creates = options.mode == OpenOptions::Mode::kCreate || options.mode == OpenOptions::Mode::kCreateNew;
    const std::string what = describe(creates ? "create" : "open", path);
    if (options.direct) {
      return Status(ErrorCode::kUnsupported, what + ": a pool offers no direct I/O");
    }
    const auto place = find_rados(path);
    if (!place.ok()) {
      return place.status().with_context(what);
    }
    auto file = open_or_make(*place, path, options);
    return file.ok() ? Result<std::unique_ptr<File>>(std::move(*file)) : file.status().with_context(what);
  }

  Result<std::unique_ptr<File>> open_again(const File& file, const OpenOptions& options) override {
    const auto* open = dynamic_cast<const RadosFile*>(&file.plain());
    STRIA_RETURN_IF_ERROR(check_open_again(file, open != nullptr, options));
    return open->open_again(options.mode != OpenOptions::Mode::kRead);
  }

  Result<Identity> identity(const std::string& path) override {
    STRIA_ASSIGN_OR_RETURN(const auto found, look_for(path));
    if (!found.second) {
      return no_such_file().with_context(describe("look up", path));
    }
    return Identity{found.first->number(), found.second->file};
  }

  Status rename(const std::string& from, const std::string& to) override {
    const std::string what = describe("rename", from) + " to '" + to + "'";
    const auto source = find_rados(from);
    const auto target = find_rados(to);
    if (!source.ok() || !target.ok()) {
      return (source.ok() ? target : source).status().with_context(what);
    }
    if (source->pool != target->pool || source->path.directory != target->path.directory) {
      return Status(ErrorCode::kUnsupported, what + ": a file can be renamed within its directory only; copy it (stria cp)");
    }
    return change_name(*source->pool, source->path.directory, source->path.name, target->path.name).with_context(what);
  }

  Status remove(const std::string& path) override {
    const std::string what = describe("remove", path);
    const auto place = find_rados(path);
    if (!place.ok()) {
      return place.status().with_context(what);
    }
    const Pool& pool = *place->pool;
    if (place->path.name.empty()) {
      return Status(ErrorCode::kInvalidArgument, what + ": a pool's root stays");
    }
    const auto named = look_up(pool, place->path.directory, place->path.name);
    if (named.ok() && *named && (*named)->is_directory) {
      return remove_directory(pool, place->path.as_directory()).with_context(what);
    }
    return remove_name(pool, place->path.directory, place->path.name).with_context(what);
  }

  Result<bool> exists(const std::string& path) override {
    STRIA_ASSIGN_OR_RETURN(const auto found, look_for(path));
    return found.second.has_value();
  }

  // A change of a name returns when all copies of the pool have it on their disks.
  Status sync_directory(const std::string& path) override { return look_for(path).status(); }

  Result<std::vector<std::string>> list_directory(const std::string& directory) override {
    STRIA_ASSIGN_OR_RETURN(const auto entries, list_pool_directory(directory));
    std::vector<std::string> names;
    for (const PoolEntry& entry : entries) {
      names.push_back(entry.name);
    }
    return names;
  }
};

}  // namespace

Result<std::shared_ptr<Driver>> make_rados_driver() {
  static const std::shared_ptr<Driver> driver = std::make_shared<RadosDriver>();
  return driver;
}

Result<std::vector<PoolEntry>> list_pool_directory(const std::string& url) {
  const std::string what = describe("list", url);
  const auto place = find_rados(url);
  if (!place.ok()) {
    return place.status().with_context(what);
  }
  auto entries = list_names(*place->pool, place->path.as_directory());
  return entries.ok() ? std::move(entries) : entries.status().with_context(what);
}

Result<PoolName> look_in_pool(const std::string& url) {
  STRIA_ASSIGN_OR_RETURN(const FoundObject found, look_for(url));
  if (!found.second) {
    return no_such_file().with_context(describe("look up", url));
  }
  if (found.second->is_directory) {
    return PoolName{.is_directory = true};
  }
  const auto header = read_header(*found.first, found.second->file);
  if (!header.ok()) {
    return header.status().with_context(describe("look up", url));
  }
  return PoolName{.is_directory = false, .bytes = header->size_bytes, .object_bytes = header->object_bytes};
}

}  // namespace stria::storage
