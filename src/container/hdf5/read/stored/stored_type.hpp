// A datatype as the bytes of a file say it (format specification IV.A.2.d).
//
// Problem: libhdf5 1.10 takes a datatype message for what it says, past the end of its bytes, and
// tells of types only in the form that they have in memory.
// Method: the message is parsed here, every length compared with what is there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "container/hdf5/read/stored/decoder.hpp"
#include "stria/status.hpp"

namespace stria::container::h5 {

struct StoredType {
  enum class Class : uint8_t {
    kInteger = 0,
    kFloat = 1,
    kTime = 2,
    kString = 3,
    kBitfield = 4,
    kOpaque = 5,
    kCompound = 6,
    kReference = 7,
    kEnumeration = 8,
    kList = 9,  ///< a list of variable length
    kArray = 10,
  };
  struct Member;

  Class type_class = Class::kInteger;
  int64_t bytes = 0;             ///< the bytes of an element in the file
  bool is_text = false;          ///< a list: a string of variable length
  bool is_region = false;        ///< a reference: to a region, and not to an object
  std::vector<StoredType> base;  ///< one: of a list, an array or an enumeration
  std::vector<Member> members;   ///< the members of a compound

  /// Returns how many elements of the base an array has.
  int64_t array_count() const;
  /// Tells whether elements hold places in a global heap.
  bool has_heap_places() const;
  /// Tells whether elements hold references, of any kind.
  bool has_references() const;
};
struct StoredType::Member {
  int64_t offset = 0;
  StoredType type;
};

/// Decodes the type at the begin of `decoder`, which goes on behind it. kCorrupted when it makes no
/// sense, kUnsupported when it has a form of a newer release.
Result<StoredType> decode_type(Decoder& decoder);

}  // namespace stria::container::h5
