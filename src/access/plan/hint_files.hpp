// Hints that tune programs from outside: files that the environment names (STRIA_HINTS_FILE), and
// `.stria-hints` beside the data.
//
// One "name value" per line, as in ROMIO's files; "#" begins a comment, and the first line for a
// name counts. A line that can't be used is left out, and a sentence says where it stands. One rank
// reads for all, so that every rank has the same hints and no more than one asks the file system.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "comm/comm.hpp"
#include "stria/hints.hpp"
#include "stria/status.hpp"

namespace stria::access {

struct FileHints {
  Hints hints;
  std::vector<std::string> problems;

  /// Takes over the hints of a file that counts less.
  void add(FileHints&& lower);
};

/// Parses the lines of `text`; problems name `path`, the line and the hint.
FileHints parse_hint_lines(const std::string& text, const std::string& path);

/// Gives the hints from files for a file at `path`: those of the files that `variables` of the
/// environment name, earlier ones before later ones, and then those of the directory's
/// `.stria-hints`. Only regular files of at most 1 MiB are read. Names in a store have no
/// directory's file. Rank 0's environment and file system count. Fails, perhaps on this rank alone,
/// when memory runs out. Collective: yes; the same hints everywhere.
Status hints_from_files(Comm& comm, const std::string& path, std::initializer_list<const char*> variables, FileHints& found);

}  // namespace stria::access
