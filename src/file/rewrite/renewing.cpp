#include "file/rewrite/renewing.hpp"

#include <fmt/format.h>

#include <memory>

#include "base/check.hpp"
#include "base/out_of_memory.hpp"
#include "comm/self/self_comm.hpp"
#include "file/parity/parity_writer.hpp"
#include "file/parts/part_names.hpp"
#include "file/read/lookups.hpp"
#include "storage/path.hpp"
#include "storage/registry/registry.hpp"

namespace stria::file {

namespace {

Result<ParityFile> described(storage::Driver& driver, const std::string& path) {
  STRIA_ASSIGN_OR_RETURN(const auto file, driver.open(path, {}));
  STRIA_ASSIGN_OR_RETURN(const int64_t bytes, file->size());
  return ParityFile{.path = path, .name = storage::file_name_of(path), .bytes = bytes};
}

// What is damaged already must not become what the parity is of.
Status check_content(ReadSession& session, const std::string& path) {
  STRIA_ASSIGN_OR_RETURN(const bool has_sums, has_checksums(session));
  if (!has_sums) {
    return Status();
  }
  STRIA_ASSIGN_OR_RETURN(const auto damages, session.verify());
  return damages.empty() ? Status()
                         : Status(ErrorCode::kCorrupted, fmt::format("'{}' is damaged: 'stria verify' tells where", path));
}

}  // namespace

Status renew_parity(const std::string& given_path, int parities) {
  STRIA_ASSERT(parities > 0, parities);
  return or_out_of_memory([&]() -> Status {
    Environment environment;
    environment.comm = make_self_comm();
    STRIA_ASSIGN_OR_RETURN(environment.driver, storage::make_driver("posix"));
    const std::string path = environment.driver->follow_links(given_path);
    std::vector<ParityFile> files;
    int64_t generation = 0;
    {
      STRIA_ASSIGN_OR_RETURN(const auto session, ReadSession::open(environment, path, {}));
      STRIA_RETURN_IF_ERROR(check_content(*session, path));
      for (int part = 0; session->source().parts != nullptr && part < session->source().parts->part_count(); ++part) {
        STRIA_ASSIGN_OR_RETURN(files.emplace_back(),
                               described(*environment.driver, session->source().parts->parts[static_cast<size_t>(part)].path));
        generation = generation_of(storage::file_name_of(path), files.back().name).value_or(0);
      }
    }
    STRIA_ASSIGN_OR_RETURN(files.emplace_back(), described(*environment.driver, path));
    const StoredFile file{.environment = environment, .path = path};
    ParityWriter writer;
    STRIA_RETURN_IF_ERROR(writer.remove_all(file).status());
    const Status made = writer.make(file, files, parities, generation, true);
    if (!made.ok()) {
      writer.discard(file);
      return made;
    }
    writer.note_published(file);
    return Status();
  });
}

}  // namespace stria::file
