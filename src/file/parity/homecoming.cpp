#include "file/parity/homecoming.hpp"

#include <algorithm>
#include <set>

#include "base/out_of_memory.hpp"
#include "file/parity/parity_head.hpp"
#include "file/parts/part_names.hpp"
#include "file/parts/part_places.hpp"
#include "file/parts/parts.hpp"
#include "storage/path.hpp"

namespace stria::file {

namespace {

constexpr int64_t kCopiedBytes = 8 << 20;  // at once
constexpr const char* kComing = ".coming";

// Returns the file to which a part or a parity file belongs, by its own path.
std::string file_of(const std::string& path) {
  const std::string name = storage::file_name_of(path);
  for (size_t end = name.find(".pa"); end != std::string::npos; end = name.find(".pa", end + 1)) {
    const std::string file = name.substr(0, end);
    if (generation_of(file, name) || parity_generation_of(file, name)) {
      return path_beside(path, file);
    }
  }
  return "";
}

Result<bool> belongs_to_whole_file(storage::Driver& driver, const std::string& path, const std::string& real) {
  const std::string file = file_of(path);
  const auto linked = driver.identity(path);
  if (file.empty() || !linked.ok() || real_path(driver, path) == path) {
    return false;
  }
  STRIA_ASSIGN_OR_RETURN(const storage::Identity here, driver.identity(real));
  if (*linked != here) {  // the link leads to another place by now
    return false;
  }
  const std::string name = storage::file_name_of(file);
  if (const auto generation = generation_of(name, storage::file_name_of(path))) {
    return present_generation(driver, file) == *generation;
  }
  STRIA_ASSIGN_OR_RETURN(const auto opened, driver.open(real, {}));
  const auto read = read_head(*opened);
  return read.ok() && read->is_committed;
}

Status copy(storage::Driver& driver, const std::string& from, const std::string& to) {
  STRIA_ASSIGN_OR_RETURN(const auto source, driver.open(from, {}));
  STRIA_ASSIGN_OR_RETURN(const storage::Destination like, driver.find_destination(from));
  const Status removed = driver.remove(to);  // A killed program may have left it.
  STRIA_RETURN_IF_ERROR(removed.code() == ErrorCode::kNotFound ? Status() : removed);
  const storage::OpenOptions open{.mode = storage::OpenOptions::Mode::kCreateNew, .permissions = like.replaced ? 0600U : 0666U};
  STRIA_ASSIGN_OR_RETURN(const auto target, driver.open(to, open));
  STRIA_RETURN_IF_ERROR(like.replaced ? driver.set_attributes(*target, *like.replaced) : Status());
  STRIA_ASSIGN_OR_RETURN(const int64_t size, source->size());
  std::vector<std::byte> piece(static_cast<size_t>(std::min(size, kCopiedBytes)));
  for (int64_t done = 0; done < size;) {
    const int64_t bytes = std::min(size - done, kCopiedBytes);
    const storage::ReadSegment read{done, piece.data(), bytes};
    STRIA_ASSIGN_OR_RETURN(const int64_t got, source->read({&read, 1}));
    if (got < bytes) {
      return Status(ErrorCode::kCorrupted, "'" + from + "' ends before its size");
    }
    const storage::WriteSegment write{done, piece.data(), bytes};
    STRIA_RETURN_IF_ERROR(target->write({&write, 1}));
    done += bytes;
  }
  STRIA_RETURN_IF_ERROR(target->sync());
  return target->close();
}

Status bring_one(storage::Driver& driver, const std::string& real, const std::string& path) {
  const std::string coming = path + kComing;
  Status status = copy(driver, real, coming);
  status = status.ok() ? driver.rename(coming, path) : status;
  if (!status.ok()) {
    static_cast<void>(driver.remove(coming));
    return status.with_context("'" + path + "', which lies in '" + real + "'");
  }
  STRIA_RETURN_IF_ERROR(driver.sync_directory(path));
  return driver.remove(real);
}

// Parity is never older than what it is of.
Status mark_again(storage::Driver& driver, const std::string& file) {
  STRIA_ASSIGN_OR_RETURN(const auto names, list_parity(driver, file));
  for (const PartName& one : names) {
    const auto opened = driver.open(path_beside(file, one.name), {.mode = storage::OpenOptions::Mode::kReadWrite});
    const auto read = opened.ok() ? read_head(**opened) : Result<ReadHead>(opened.status());
    if (read.ok() && read->is_committed) {
      const auto mark = mark_of(read->head);
      const storage::WriteSegment segment{ParityHead::kMarkOffset, mark.data(), static_cast<int64_t>(mark.size())};
      STRIA_RETURN_IF_ERROR((*opened)->write({&segment, 1}));
    }
  }
  return Status();
}

}  // namespace

std::vector<std::string> bring_parts_home(storage::Driver& driver, const std::string& place, Status& failure) {
  std::vector<std::string> brought;
  std::set<std::string> files;
  const auto names = driver.list_directory(place);
  failure.update(names.status());
  for (size_t i = 0; names.ok() && i < names->size(); ++i) {
    const auto path = path_of_placed((*names)[i]);
    const std::string real = place + (place.ends_with('/') ? "" : "/") + (*names)[i];
    failure.update(or_out_of_memory([&]() -> Status {
      STRIA_ASSIGN_OR_RETURN(const bool comes, path ? belongs_to_whole_file(driver, *path, real) : Result<bool>(false));
      if (comes) {
        STRIA_RETURN_IF_ERROR(bring_one(driver, real, *path));
        brought.push_back(*path);
        files.insert(file_of(*path));
      }
      return Status();
    }));
  }
  for (const std::string& file : files) {
    failure.update(or_out_of_memory([&] { return mark_again(driver, file); }));
  }
  return brought;
}

}  // namespace stria::file
