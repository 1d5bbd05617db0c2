// Describes what names of a store mean, and what the servers know of many files at once.
//
// Problem: a listing of a directory with all details asked the manager once for each name, and each
// server once for each file.
// Method: one request to the manager tells of thousands of names, and one to each server of as many
// files. All servers are asked at the same time.
// Cost: for a directory of n names on s servers, n / 4096 × (1 + s) requests.
#pragma once

#include <chrono>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "storage/striped/file_state.hpp"
#include "storage/striped/store.hpp"
#include "wire/tree.hpp"

namespace stria::storage {

/// Returns what a path means, by the manager.
Result<wire::Looked> look(Store& store, const wire::Look& what);

/// Returns a page of a directory's names and what they mean, behind the name `after`.
Result<wire::LookedAll> look_all(Store& store, const wire::List& request);

struct StatesAsker {
  std::chrono::milliseconds patience{0};  ///< 0: that of every request
  std::set<std::string> silent = {};      ///< not asked; gets servers that don't answer
};

/// Returns what the servers know of each file. Its `trouble` is an error where one of its servers
/// can't tell; the others' word stands then: the file has at least so many bytes.
std::vector<FileState> states_of_files(const std::shared_ptr<Store>& store, std::span<const wire::Opened> places,
                                       StatesAsker& asker);

}  // namespace stria::storage
