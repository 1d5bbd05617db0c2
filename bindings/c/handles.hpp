// Describes what is behind the handles of stria.h, and the one place where exceptions become codes.
#pragma once

#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "handle_table.hpp"
#include "stria.h"
#include "stria/file.hpp"
#include "stria/trace.hpp"

namespace stria::c {
/// Returns the words of the options "format" and "meaning".
const char* format_name(Format format);
const char* meaning_name(Meaning meaning);
}  // namespace stria::c

struct stria_list {
  std::vector<std::string> strings;
};

struct stria_type {
  stria::Datatype type;
  std::shared_ptr<const std::vector<stria::Column>> columns{};  // the columns of records
};

struct stria_elements {
  stria::Elements elements;
  stria::c::OwnHandle<stria_elements> handle{this};
};

struct stria_options {
  std::map<std::string, std::string> values;
  stria::c::OwnHandle<stria_options> handle{this};
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
  stria::c::OwnHandle<stria_dataset> handle{this};
};

struct stria_file {
  explicit stria_file(stria::File opened) : file(std::move(opened)) {}
  std::mutex keeping;                                              // guards what follows
  std::map<std::string, std::unique_ptr<stria_dataset>> datasets;  // by path
  // Ends first, after the call of another thread.
  stria::File file;
  // What never changes.
  std::string path = file.path();
  const char* format = stria::c::format_name(file.format());
  stria::c::OwnHandle<stria_file> handle{this};
};

struct stria_commit_handle {
  stria::Commit commit;
  stria::c::OwnHandle<stria_commit_handle> handle{this};
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

/// What a handle says of an object that has ended; nothing for a type whose pointers are addresses.
template <typename T>
inline constexpr const char* kEnded = nullptr;
template <>
inline constexpr const char* kEnded<stria_file> = "this file was closed";
template <>
inline constexpr const char* kEnded<stria_dataset> = "the file of this dataset was closed";
template <>
inline constexpr const char* kEnded<stria_commit_handle> = "this commit was freed";
template <>
inline constexpr const char* kEnded<stria_options> = "these options were freed";
template <>
inline constexpr const char* kEnded<stria_elements> = "this map of elements was freed";

/// Returns what a handle names; null when that has ended, or the handle is NULL.
template <typename T>
T* find(T* handle) noexcept {
  return HandleTable<std::remove_const_t<T>>::instance().find(handle);
}

/// Does the same as find(), and the handle names nothing any more. The caller deletes what it
/// named.
template <typename T>
T* take(T* handle) noexcept {
  return HandleTable<T>::instance().take(handle);
}

/// Returns what a handle names, or a place for a result: it must be there.
template <typename T>
T& given(T* pointer, const char* what) {
  if (pointer == nullptr) {
    refuse(std::string(what) +
           (kEnded<std::remove_const_t<T>> == nullptr ? " is NULL" : " is NULL: it was never made, or was closed or freed"));
  }
  if constexpr (kEnded<std::remove_const_t<T>> != nullptr) {
    pointer = find(pointer);
    if (pointer == nullptr) {
      refuse(std::string(kEnded<std::remove_const_t<T>>) +
             ": the handle, or the one that it is a copy of, can't be used any more");
    }
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

/// Opens a file by `open`, with the options that `choose` makes. Where these can't be used on this
/// rank, the others, which are in a collective call, are met without a path, which is refused.
template <typename Choose, typename Open>
stria_file* opened(const char* path, Choose&& choose, Open&& open) {
  decltype(choose()) options{};
  std::optional<Error> wrong;
  try {
    options = choose();
  } catch (const Error& error) {
    wrong = error;
  }
  try {
    return (new stria_file(open(wrong ? std::string() : text(path), options)))->handle.get();
  } catch (const Error& error) {
    throw wrong ? *wrong : error;
  }
}

/// Returns the handle of a dataset, which the file keeps.
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
