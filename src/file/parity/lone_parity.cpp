#include "file/parity/lone_parity.hpp"

#include <utility>

#include "comm/self/self_comm.hpp"
#include "storage/path.hpp"

namespace stria::file {

LoneParity::LoneParity(std::shared_ptr<storage::Driver> driver, access::ResolvedHints hints, std::string path, int parities,
                       bool renews)
    : path_(std::move(path)), parities_(parities), renews_(renews) {
  environment_.comm = make_self_comm();
  environment_.driver = std::move(driver);
  environment_.hints = std::move(hints);
}

Status LoneParity::make(const std::string& present_path, int64_t file_bytes, bool sync) {
  const ParityFile present{.path = present_path, .name = storage::file_name_of(path_), .bytes = file_bytes};
  return writer_.make(file(), {present}, parities_, 0, sync);
}

}  // namespace stria::file
