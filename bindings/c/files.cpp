// The life of a file, and what it tells about itself.
#include "handles.hpp"

using stria::Phase;
using stria::c::find;
using stria::c::given;
using stria::c::guarded;
using stria::c::new_list;
using stria::c::text;

int stria_create(const char* path, const stria_options* options, stria_file** file) {
  return guarded([&] {
    given(file, "file") = nullptr;
    *file = stria::c::opened(
        path, [&] { return stria::c::create_options(options); },
        [&](const std::string& name, const auto& chosen) { return stria::File::create(name, chosen); });
  });
}

int stria_open(const char* path, const stria_options* options, stria_file** file) {
  return guarded([&] {
    given(file, "file") = nullptr;
    *file = stria::c::opened(
        path, [&] { return stria::c::open_options(options); },
        [&](const std::string& name, const auto& chosen) { return stria::File::open(name, chosen); });
  });
}

int stria_append(const char* path, const stria_options* options, stria_file** file) {
  return guarded([&] {
    given(file, "file") = nullptr;
    *file = stria::c::opened(
        path, [&] { return stria::c::append_options(options); },
        [&](const std::string& name, const auto& chosen) { return stria::File::append(name, chosen); });
  });
}

int stria_flush(stria_file* file) {
  return guarded([&] { given(file, "file").file.flush(); });
}

int stria_commit(stria_file* file) {
  return guarded([&] { given(file, "file").file.commit(); });
}

int stria_commit_async(stria_file* file, stria_commit_handle** commit) {
  return guarded([&] {
    given(commit, "commit") = nullptr;
    auto handle = std::make_unique<stria_commit_handle>();
    handle->commit = given(file, "file").file.commit_async();
    *commit = handle.release()->handle.get();
  });
}

int stria_commit_done(const stria_commit_handle* commit) {
  const stria_commit_handle* of = find(commit);
  return of == nullptr || of->commit.done() ? 1 : 0;
}

int stria_commit_wait(const stria_commit_handle* commit) {
  return guarded([&] { given(commit, "commit").commit.wait(); });
}

void stria_commit_free(stria_commit_handle** commit) {
  if (commit != nullptr) {
    delete stria::c::take(*commit);
    *commit = nullptr;
  }
}

int stria_progress(stria_file* file, void (*report)(void* context, int64_t done_bytes, int64_t total_bytes), void* context) {
  return guarded([&] {
    std::function<void(const stria::Progress&)> call;
    if (report != nullptr) {
      call = [=](const stria::Progress& progress) { report(context, progress.done_bytes, progress.total_bytes); };
    }
    given(file, "file").file.progress(std::move(call));
  });
}

int stria_refuse(stria_file* file, const char* message) {
  return guarded([&] {
    const stria::Error error(stria::ErrorCode::kInvalidArgument, text(message));
    stria::c::Refusal::fail_next_call(given(file, "file").file, error);
    throw error;
  });
}

int stria_discard(stria_file* file) {
  return guarded([&] { given(file, "file").file.abandon(); });
}

void stria_close(stria_file** file) {
  if (file != nullptr) {
    delete stria::c::take(*file);
    *file = nullptr;
  }
}

void stria_give_up(stria_file** file, const char* reason) {
  if (file != nullptr && *file != nullptr) {
    guarded([&] { given(*file, "file").file.give_up(text(reason)); });
  }
  stria_close(file);
}

int stria_get_report(const stria_file* file, stria_report* report) {
  return guarded([&] {
    const stria::Report& of = given(file, "file").file.report();
    given(report, "report") = {of.useful_bytes, of.file_bytes, of.seconds, of.method.c_str(), of.reason.c_str()};
  });
}

int stria_get_phase(const stria_file* file, const char* phase, double* seconds) {
  return guarded([&] {
    for (size_t i = 0; i < stria::kPhaseCount; ++i) {
      if (text(phase) == stria::phase_name(static_cast<Phase>(i))) {
        given(seconds, "seconds") = given(file, "file").file.report().phases[static_cast<Phase>(i)];
        return;
      }
    }
    stria::c::refuse("there is no phase '" + text(phase) + "'");
  });
}

int stria_get_copied(const stria_file* file, int64_t* bytes) {
  return guarded([&] { given(bytes, "bytes") = given(file, "file").file.report().copied_bytes; });
}

int stria_get_cleared(const stria_file* file, int64_t* bytes) {
  return guarded([&] { given(bytes, "bytes") = given(file, "file").file.report().cleared_bytes; });
}

const char* stria_file_path(const stria_file* file) {
  const stria_file* of = find(file);
  return of == nullptr ? "" : of->path.c_str();
}

const char* stria_file_format(const stria_file* file) {
  const stria_file* of = find(file);
  return of == nullptr ? "" : of->format;
}

int stria_hints(const stria_file* file, stria_list** hints) {
  return guarded([&] {
    std::vector<std::string> pairs;
    for (const auto& [name, value] : given(file, "file").file.hints()) {
      pairs.push_back(name + "=" + value);
    }
    given(hints, "hints") = new_list(std::move(pairs));
  });
}

int stria_hint_warnings(const stria_file* file, stria_list** warnings) {
  return guarded([&] { given(warnings, "warnings") = new_list(given(file, "file").file.hint_warnings()); });
}
