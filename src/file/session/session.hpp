// An open file as the public interface holds it: what can be asked of it whichever way it was
// opened. A WriteSession is put into, a ReadSession is got from.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "file/session/open_file.hpp"
#include "stria/file.hpp"
#include "stria/status.hpp"

namespace stria::file {

class ReadSession;
class WriteSession;

class Session {
 public:
  virtual ~Session() = default;

  /// Returns what every open file has.
  virtual OpenFile& file() = 0;
  /// Returns the one of two kinds that this is.
  virtual std::variant<WriteSession*, ReadSession*> itself() = 0;

  /// Moves what is pending. Collective: yes.
  virtual Status flush() = 0;
  /// Moves what is pending and completes. Collective: yes.
  virtual Status commit() = 0;
  /// Gives up what is pending, and the file. Collective: yes.
  virtual Status abandon() = 0;
  /// Ends this rank's part, as file::leave() says. Collective: no.
  virtual void leave(std::string_view reason) noexcept = 0;

  /// Finds the number by which file().catalog knows a dataset.
  virtual Result<int> find(const std::string& dataset_path) = 0;
  /// Reads the columns of a dataset of records, and the size of one. Collective: no.
  virtual Result<std::vector<Column>> read_columns(const std::string& dataset_path, int64_t& row_bytes) = 0;
};

}  // namespace stria::file
