#include "file/opening/open_files.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

#include "base/check.hpp"
#include "comm/end_of_mpi.hpp"
#include "file/background/background.hpp"

namespace stria::file {

namespace {

// When this rank ends without MPI_Finalize, mpiexec may kill the others at once. So ranks that wait
// for it get this long to come and hear why, and then a moment to pass it on.
constexpr double kFarewellSeconds = 1;
constexpr std::chrono::milliseconds kPassingOn{100};

struct OpenFiles {
  std::mutex mutex;
  std::vector<std::weak_ptr<Session>> sessions;
};

// Never destroyed, because it is used while everything else is being destroyed.
OpenFiles& open_files() {
  static OpenFiles* instance = new OpenFiles;
  return *instance;
}

// True when there was a file to leave.
bool leave_all() {
  std::vector<std::weak_ptr<Session>> sessions;
  {
    const std::lock_guard lock(open_files().mutex);
    sessions.swap(open_files().sessions);
  }
  bool any = false;
  for (const auto& one : sessions) {
    const std::shared_ptr<Session> session = one.lock();
    if (session != nullptr && session->file().calls.is_of_this_process()) {
      any = session->file().meetings.is_open() || any;
      tell_of_loss(session->file());
      session->leave("ended its program");
    }
  }
  return any;
}

void leave_at_finalize() {
  leave_all();
  Background::instance().finish();
}

void leave_at_exit() {
  if (leave_all() && is_mpi_running()) {
    wait_for_parked_messages(kFarewellSeconds);
    std::this_thread::sleep_for(kPassingOn);
  }
  Background::instance().finish();
}

}  // namespace

void tell_of_loss(const OpenFile& file) {
  const char* verbose = std::getenv("STRIA_VERBOSE");
  const bool silent = verbose != nullptr && std::string_view(verbose) == "0";
  const bool meant = !file.meetings.is_open() || !file.calls.is_of_this_process() || !file.meetings.failure().ok() ||
                     std::uncaught_exceptions() > 0;
  if (!silent && !meant && file.meetings.is_root() && file.is_written()) {
    std::fprintf(stderr, "stria: warning: '%s' was not %s: it ended without a commit\n", file.path.c_str(),
                 file.grows() ? "changed" : "written");
  }
}

void leave_at_end(const std::shared_ptr<Session>& session) {
  STRIA_ASSERT(session != nullptr);
  static const int registered = std::atexit(leave_at_exit);
  static_cast<void>(registered);
  if (is_mpi_running()) {
    at_end_of_mpi(MpiEnd::kFiles, leave_at_finalize);
  }
  const std::lock_guard lock(open_files().mutex);
  std::erase_if(open_files().sessions, [](const std::weak_ptr<Session>& one) { return one.expired(); });
  open_files().sessions.push_back(session);
}

}  // namespace stria::file
