// Opens arbitrary bytes as an HDF5 file and reads everything in it: nothing may crash,
// hang or print.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "container/hdf5/exercise.hpp"
#include "container/hdf5/test_support.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  stria::container::test::Bytes bytes(size);
  if (size > 0) {
    std::memcpy(bytes.data(), data, size);
  }
  stria::container::test::BytesFile storage(std::move(bytes));
  static_cast<void>(stria::container::test::read_everything(storage));
  return 0;
}
