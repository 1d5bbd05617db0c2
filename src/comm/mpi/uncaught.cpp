#include "comm/mpi/uncaught.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <thread>

#include "comm/end_of_mpi.hpp"
#include "comm/mpi/wait_watch.hpp"
#include "stria/status.hpp"

namespace stria {

namespace {

// How long ranks wait for lower ones to speak.
constexpr std::chrono::milliseconds kPatience(1000), kMorePerRank(20);
constexpr int kMostRanksApart = 100;

std::terminate_handler handler_before = nullptr;

[[noreturn]] void end_on(const Error& error) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank > 0) {
    std::this_thread::sleep_for(kPatience + std::min(rank, kMostRanksApart) * kMorePerRank);
  }
  say_line(fmt::format("rank {} ends the job, because this error was not caught: {}", rank, error.what()));
  give_up_job();
}

[[noreturn]] void end_program() {
  if (const std::exception_ptr thrown = std::current_exception(); thrown != nullptr && is_mpi_running()) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Error& error) {
      end_on(error);
    } catch (...) {
      // What was thrown is no stria::Error, and is not told here.
    }
  }
  handler_before();
  std::abort();
}

bool install() {
  const std::terminate_handler found = std::get_terminate();
  if (found == __gnu_cxx::__verbose_terminate_handler || found == std::abort) {
    handler_before = found;
    std::set_terminate(end_program);
  }
  return true;
}

}  // namespace

void speak_for_uncaught_errors() {
  static const bool done = install();
  static_cast<void>(done);
}

}  // namespace stria
