#include "mpiio/support/suite.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>

#include "support/sanitized.hpp"

namespace mpiio {

namespace {

constexpr int kTicksASecond = 10;

// Gives three times as many with sanitizers.
int ticks_of(int seconds) {
  return seconds * kTicksASecond * (stria::kSanitized ? 3 : 1);
}

// The watchdog counts the ticks that it has slept itself. So a process that is stopped as a
// whole doesn't age.
std::atomic<int> ticks_left{0};
std::atomic<int> ticks_passed{0};
std::atomic<bool> watching{false};
std::mutex case_mutex;
std::string case_name;
std::function<void()> hang_cleanup;
std::atomic<int> case_failures = 0;
int job_rank = 0;
std::thread watchdog;

void watch() {
  while (watching) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1000 / kTicksASecond));
    ++ticks_passed;
    if (--ticks_left > 0 || !watching) {
      continue;
    }
    const std::lock_guard<std::mutex> lock(case_mutex);
    std::fprintf(stderr, "HANG rank %d in %s\n", job_rank, case_name.c_str());
    std::fflush(stderr);
    if (hang_cleanup) {
      hang_cleanup();
    }
    _exit(3);
  }
}

void begin_case(const std::string& name, int seconds) {
  const std::lock_guard<std::mutex> lock(case_mutex);
  case_name = name;
  case_failures = 0;
  ticks_left = ticks_of(seconds);
}

Options parse(int argc, char** argv) {
  Options options;
  const char* directory = std::getenv("TMPDIR");
  options.directory = directory ? directory : ".";
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    if (name == "--seed") {
      options.seed = std::strtoull(argv[i + 1], nullptr, 10);
    } else if (name == "--count") {
      options.count = std::atoi(argv[i + 1]);
    } else if (name == "--only") {
      options.only = argv[i + 1];
    } else if (name == "--dir") {
      options.directory = argv[i + 1];
    } else if (name == "--prefix") {
      options.prefix = argv[i + 1];
    } else if (name == "--seconds") {
      options.seconds = std::atoi(argv[i + 1]);
    } else {
      std::fprintf(stderr, "unknown option %s; use --seed, --count, --only, --dir, --prefix or --seconds\n", name.c_str());
      MPI_Abort(MPI_COMM_WORLD, 2);
    }
  }
  return options;
}

bool opens_with_stria() {
  Dl_info info{};
  void* open = dlsym(RTLD_DEFAULT, "MPI_File_open");
  return open && dladdr(open, &info) != 0 && info.dli_fname && std::strstr(info.dli_fname, "libstria_mpiio");
}

}  // namespace

Suite::Suite(int* argc, char*** argv, int thread_level) {
  if (thread_level == MPI_THREAD_SINGLE) {
    MPI_Init(argc, argv);
  } else {
    int provided = MPI_THREAD_SINGLE;
    MPI_Init_thread(argc, argv, thread_level, &provided);
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &rank_count_);
  job_rank = rank_;
  options_ = parse(*argc, *argv);
  is_stria_ = opens_with_stria();
  const char* name = std::strrchr((*argv)[0], '/');
  long long id = getpid();
  MPI_Bcast(&id, 1, MPI_LONG_LONG, 0, MPI_COMM_WORLD);
  job_ = text(name ? name + 1 : (*argv)[0], ".", id, ".");
  // A job that is to test Stria must not pass with another library.
  const char* wanted = std::getenv("MPIIO_TEST_LIBRARY");
  if (wanted && std::strcmp(wanted, "stria") == 0 && !is_stria_) {
    std::fprintf(stderr, "MPIIO_TEST_LIBRARY=stria, but MPI_File_open isn't libstria_mpiio's: check LD_PRELOAD\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  ticks_left = ticks_of(options_.seconds);
  watching = true;
  watchdog = std::thread(watch);
}

Suite::~Suite() {
  watching = false;
  watchdog.join();
  MPI_Finalize();
}

std::string Suite::path(const std::string& name) const {
  return options_.directory + "/" + job_ + name;
}

void Suite::run(const std::string& name, const std::function<void()>& body) {
  if (!wanted(name)) {
    return;
  }
  begin_case(name, options_.seconds);
  body();
  int failures = case_failures;
  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  ++cases_;
  if (failures > 0) {
    ++failed_;
    if (rank_ == 0) {
      std::fprintf(stderr, "FAILED %s\n", name.c_str());
    }
  }
}

void Suite::run_random(const std::string& name, int count, const std::function<void(uint64_t)>& body) {
  const int wanted_count = options_.count > 0 ? options_.count : count;
  for (int i = 0; i < wanted_count; ++i) {
    const uint64_t seed = options_.seed + static_cast<uint64_t>(i);
    if (wanted(name)) {
      run(text(name, " --seed ", seed, " --count 1"), [&] { body(seed); });
    }
  }
}

void Suite::allow_seconds(int seconds) {
  ticks_left = ticks_of(seconds);
}

double Suite::awake_seconds() const {
  return ticks_passed * 1.0 / kTicksASecond;
}

int Suite::finish() {
  if (rank_ == 0) {
    std::printf("%s: %d cases, %d failed, %d ranks, %s\n", job_.c_str(), cases_, failed_, rank_count_,
                is_stria_ ? "Stria" : "native MPI-IO");
  }
  if (cases_ == 0 && rank_ == 0) {
    std::fprintf(stderr, "no case matches --only %s\n", options_.only.c_str());
  }
  return failed_ == 0 && cases_ > 0 ? 0 : 1;
}

void note_failure(const char* file, int line, const std::string& message) {
  std::string name;
  {
    const std::lock_guard<std::mutex> lock(case_mutex);
    name = case_name;
  }
  if (++case_failures <= 3) {
    const char* base = std::strrchr(file, '/');
    std::fprintf(stderr, "rank %d, %s, %s:%d: %s\n", job_rank, name.c_str(), base ? base + 1 : file, line, message.c_str());
  }
}

void set_hang_cleanup(std::function<void()> cleanup) {
  const std::lock_guard<std::mutex> lock(case_mutex);
  hang_cleanup = std::move(cleanup);
}

std::string error_text(int code) {
  if (code == MPI_SUCCESS) {
    return "MPI_SUCCESS";
  }
  char words[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, words, &length);
  return text("error class ", error_class(code), " (", words, ")");
}

int error_class(int code) {
  int result = MPI_ERR_UNKNOWN;
  MPI_Error_class(code, &result);
  return result;
}

}  // namespace mpiio
