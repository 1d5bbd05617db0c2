// Types of which libhdf5 makes other ones in memory, because the engine can't move the file's
// bytes: numbers of fewer bits become plain ones, and text of any length strings of a fixed one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "container/hdf5/read/libhdf5/library.hpp"
#include "container/spec.hpp"

namespace stria::container::h5 {

/// Tells whether there is anything of an element that can be read.
bool is_read(const ElementSpec& element);
/// Gives the members of records their places, one behind another; those that can't be read have no
/// bytes. Numbers get the machine's byte order.
void lay_out(ElementSpec& element);
/// Returns the bytes of an element as libhdf5 gives it, with a pointer for text of any length.
size_t bytes_in_memory(const ElementSpec& element);
/// Returns the type in memory of such elements; `element` is describe_type(file_type).
Result<Id> remade_type(hid_t file_type, const ElementSpec& element);

/// An integer in every element of which some bits count.
struct KeptBits {
  int64_t offset_bytes = 0;
  int64_t width_bytes = 0;
  int bits = 0;
  bool has_sign = false;
};
/// Finds the bits that count in elements of a file's type; `element` is describe_type(file_type),
/// laid out.
std::vector<KeptBits> kept_bits(hid_t file_type, const ElementSpec& element);
/// Extends the bits that count over the others. Release 1.10 of libhdf5 takes over all bits of
/// big-endian integers, and nbit has dropped those that don't count.
void extend_bits(std::span<const KeptBits> kept, int64_t element_bytes, std::span<std::byte> elements);

}  // namespace stria::container::h5
