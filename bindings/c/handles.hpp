// What is behind the handles of stria.h, and the one place where exceptions become codes.
#pragma once

#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "stria.h"
#include "stria/file.hpp"
#include "stria/trace.hpp"

namespace stria::c {
/// The words of the options "format" and "meaning".
const char* format_name(Format format);
const char* meaning_name(Meaning meaning);
}  // namespace stria::c

struct stria_list {
  std::vector<std::string> strings;
};

struct stria_type {
  stria::Datatype type;
  std::shared_ptr<const std::vector<stria::Column>> columns{};  // of records
};

struct stria_elements {
  stria::Elements elements;
};

struct stria_options {
  std::map<std::string, std::string> values;
};

struct stria_dataset {
  stria::Dataset dataset;
  // What never changes, for the calls that can't fail.
  std::string path;
  std::string type_name;
  std::string filters;
  std::vector<std::string> dimensions;
  const char* meaning;
  bool can_grow;
  int rank;
  int element;
};

struct stria_file {
  explicit stria_file(stria::File opened) : file(std::move(opened)) {}
  std::mutex keeping;                                              // of what follows
  std::map<std::string, std::unique_ptr<stria_dataset>> datasets;  // by path
  // Ends first, after the call of another thread.
  stria::File file;
  // What never changes.
  std::string path = file.path();
  const char* format = stria::c::format_name(file.format());
};

struct stria_commit_handle {
  stria::Commit commit;
};

namespace stria::c {

/// Keeps the words of an error for stria_error_message(), and returns its code.
int fail(ErrorCode code, const char* message) noexcept;

/// Every function of stria.h that can fail is one call of this, so that no exception leaves it.
template <typename Call>
int guarded(Call&& call) noexcept {
  try {
    call();
    return STRIA_OK;
  } catch (const Error& error) {
    return fail(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::kResourceExhausted, "out of memory");
  } catch (const std::exception& error) {
    return fail(ErrorCode::kInternal, error.what());
  } catch (...) {
    return fail(ErrorCode::kInternal, "an exception of an unknown type");
  }
}

[[noreturn]] inline void refuse(const std::string& message) {
  throw Error(ErrorCode::kInvalidArgument, message);
}

/// A handle or a place for a result that must be there.
template <typename T>
T& given(T* pointer, const char* what) {
  if (pointer == nullptr) {
    refuse(std::string(what) + " is NULL");
  }
  return *pointer;
}

/// Text that may be NULL, which counts as empty. Where the library needs some text, it refuses
/// that on all ranks.
inline std::string text(const char* chars) {
  return chars == nullptr ? std::string() : std::string(chars);
}

/// Fails the file's next collective call on every rank with this error, as one that the library
/// finds itself. An earlier one stays.
struct Refusal {
  static void fail_next_call(File& file, const Error& error) noexcept;
  static void fail_next_call(Dataset& dataset, const Error& error) noexcept;
};

/// Makes a transfer by `move`. An error in what a rank passes fails the next collective call on all
/// ranks, as one that the library finds.
template <typename Move>
void record(stria_dataset* dataset, Move&& move) {
  Dataset& of = given(dataset, "dataset").dataset;
  try {
    move(of);
  } catch (const Error& error) {
    Refusal::fail_next_call(of, error);
    throw;
  }
}

/// The handle of a dataset, which the file keeps.
stria_dataset* keep(stria_file& file, const Dataset& dataset);

ElementType element(int value);
trace::Level trace_level(int level);
/// Memory as C describes it: `elements` numbers one behind another where `type` is null.
Memory memory_of(const void* data, const stria_type* type, int element, int64_t elements);
CreateOptions create_options(const stria_options* options);
AppendOptions append_options(const stria_options* options);
OpenOptions open_options(const stria_options* options);
DatasetOptions dataset_options(const stria_options* options);

inline stria_list* new_list(std::vector<std::string> strings) {
  return new stria_list{std::move(strings)};
}

}  // namespace stria::c
