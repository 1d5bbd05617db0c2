#include "file/opening/opening.hpp"

#include <fmt/format.h>
#include <limits.h>
#include <unistd.h>

#include <charconv>

#include "access/plan/aggregators.hpp"
#include "access/plan/hint_files.hpp"
#include "base/check.hpp"
#include "base/out_of_memory.hpp"
#include "file/background/background.hpp"
#include "file/opening/open_files.hpp"
#include "file/read/read_session.hpp"
#include "file/write/write_session.hpp"
#include "storage/registry/registry.hpp"
#include "trace/record/recorder.hpp"
#include "trace/record/span.hpp"

namespace stria::file {

namespace {

/// Resolves the hints, and makes the driver that they name. The program's go before those of files.
Status equip(Environment& environment, Hints hints, access::FileHints&& from_files, std::vector<uint64_t> node_hosts) {
  environment.hint_warnings = std::move(from_files.problems);
  hints.merge(from_files.hints);
  environment.hints = access::resolve_hints(hints, environment.hint_warnings);
  environment.hints.node_hosts = std::move(node_hosts);
  if (!access::names_a_node(environment.hints, *environment.comm)) {
    environment.hint_warnings.emplace_back(access::kNoPlaceForAggregators);
  }
  auto driver = storage::make_driver(environment.hints.driver, environment.comm->rank());
  if (!driver.ok() && driver.status().code() == ErrorCode::kUnsupported) {
    environment.hint_warnings.push_back("stria_driver: " + driver.status().message() + "; posix is used");
    environment.hints.driver = "posix";
    driver = storage::make_driver("posix", environment.comm->rank());
  }
  STRIA_RETURN_IF_ERROR(driver.status());
  environment.driver = *driver;
  if (environment.hints.driver == "posix") {
    // A ring keeps many direct requests under way at once. Where the kernel has none, the posix
    // driver uses a thread.
    environment.make_direct_driver = [rank = environment.comm->rank(), cached = *driver] {
      auto ring = storage::make_driver("uring", rank);
      return ring.ok() ? *ring : cached;
    };
  }
  return Status();
}

Environment make_environment(const char* call, std::shared_ptr<Comm> comm, const std::string& path, const Hints& hints) {
  STRIA_ASSERT(comm != nullptr, call, path);
  Environment environment;
  environment.comm = std::move(comm);
  environment.absolute_paths = true;
  char host[HOST_NAME_MAX + 1] = "";
  static_cast<void>(gethostname(host, sizeof host - 1));
  auto node_hosts = access::hosts_of_nodes(*environment.comm, host);
  access::FileHints from_files;
  const Status read = access::hints_from_files(*environment.comm, path, {"STRIA_HINTS_FILE"}, from_files);
  environment.problem = or_out_of_memory([&]() -> Status {
    STRIA_RETURN_IF_ERROR(read);
    STRIA_RETURN_IF_ERROR(equip(environment, hints, std::move(from_files), std::move(node_hosts)));
    const Status unheard = Background::instance().take_unheard_failure(*environment.comm);
    environment.puts_off = !unheard.ok();
    return unheard.with_context(fmt::format(
        "{}('{}') was not begun, so that an earlier commit_async() is told first that has failed: call it again", call, path));
  });
  return environment;
}

}  // namespace

CallNote note_opening(const char* call, const std::string& path, const Hints& hints) {
  WaitLimits limits;
  for (const auto& [name, value] : hints) {
    double* limit = name == "stria_wait_warning_s"    ? &limits.warning_s
                    : name == "stria_wait_deadline_s" ? &limits.deadline_s
                                                      : nullptr;
    int64_t seconds = 0;
    if (limit != nullptr && std::from_chars(value.data(), value.data() + value.size(), seconds).ec == std::errc()) {
      *limit = static_cast<double>(seconds);
    }
  }
  return CallNote(call, path, limits);
}

std::shared_ptr<Session> create_session(std::shared_ptr<Comm> comm, const std::string& path, const CreateOptions& options) {
  Environment environment = make_environment("create", std::move(comm), path, options.hints);
  environment.format = &container::format_of(options.format, path);
  std::shared_ptr<Session> session = WriteSession::create(std::move(environment), path, options).value();
  leave_at_end(session);
  return session;
}

std::shared_ptr<Session> append_session(std::shared_ptr<Comm> comm, const std::string& path, const AppendOptions& options) {
  std::shared_ptr<Session> session =
      WriteSession::append(make_environment("append", std::move(comm), path, options.hints), path, options).value();
  leave_at_end(session);
  return session;
}

std::shared_ptr<Session> open_session(std::shared_ptr<Comm> comm, const std::string& path, const OpenOptions& options) {
  std::shared_ptr<Session> session =
      ReadSession::open(make_environment("open", std::move(comm), path, options.hints), path, options).value();
  leave_at_end(session);
  return session;
}

}  // namespace stria::file
