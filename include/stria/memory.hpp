// Describes where data lie: regions of a dataset, and of the application's memory.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "stria/datatype.hpp"
#include "stria/element_type.hpp"
#include "stria/meaning.hpp"

namespace stria {

namespace file {
class ElementMap;
}

/// A regular region of a dataset. In each dimension, slowest first, it has `count` blocks of
/// `block` elements, `stride` apart; the first begins at `start`.
struct Hyperslab {
  std::vector<int64_t> start;
  std::vector<int64_t> count;
  std::vector<int64_t> stride{};  ///< empty: `block`
  std::vector<int64_t> block{};   ///< empty: ones
};

/// One column of records: a number, a string of fixed size, a record within the record, or an array
/// of one of these.
struct Column {
  /// It is the name of the member of the file's records. One that no member has is a path: "pos.x"
  /// is a member of a member, and "v[2]" an element of an array, of which others are "v[0]",
  /// "t[0][1]". A dot, a bracket or a backslash in a part of a path has a backslash before it.
  std::string name;
  int64_t offset_bytes = 0;
  /// A number; or, when string_bytes > 0, a string of fixed size, which is padded with blanks in
  /// create_table(), and with what is in memory in create_records().
  ElementType number = ElementType::kByte;
  int64_t string_bytes = 0;
  /// What a number means: kBoolean in kUint8; kHalf in kUint16, converted to and from others where
  /// both sides say so; kComplex: two numbers, the real part first.
  Meaning meaning = Meaning::kNumber;
  /// An array in each record, in C order, of these lengths; empty: one value.
  std::vector<int64_t> dims{};
  /// A record within the record, of record_bytes, in which the members have their places.
  std::vector<Column> members{};
  int64_t record_bytes = 0;
  /// The byte order of the numbers in the file. Memory always has the machine's.
  bool big_endian = false;
  /// The file has text of any length here. It is read as strings of string_bytes, as long as the
  /// longest, and padded with NULs. Such records can be read, but not put.
  bool varies = false;
  std::vector<NamedNumber> enumeration{};  ///< names of the values of an integer
};

/// Data as they lie in the application's memory. `data` must stay valid until commit() or flush()
/// returns, and must not change from put() until then; copied() frees a put from both. Memory of an
/// accelerator must be reachable by the CPU, as managed memory is; copy other memory to the host
/// first.
struct Memory {
  Memory(const void* address, Datatype region, ElementType element_type)
      : data(const_cast<void*>(address)), type(std::move(region)), element(element_type) {}
  /// Describes `count` consecutive numbers.
  template <Number T>
  Memory(const T* numbers, int64_t count)
      : Memory(numbers, Datatype::bytes(count * static_cast<int64_t>(sizeof(T))), element_type_of<T>()) {}
  /// Describes `count` consecutive complex numbers: of a hyperslab that has the last dimension of 2
  /// whole.
  template <typename T>
  requires kIsComplex<T> Memory(const T* numbers, int64_t count)
      : Memory(numbers, Datatype::bytes(count * static_cast<int64_t>(sizeof(T))), element_type_of<typename T::value_type>()) {}
  template <typename T>
  requires kIsComplex<T> Memory(const std::vector<T>& numbers)  // NOLINT: as of other numbers
      : Memory(numbers.data(), static_cast<int64_t>(numbers.size())) {}
  template <typename T>
  requires kIsComplex<T> Memory(const std::vector<T>&& numbers)
  = delete;
  /// Returns all numbers of a span or a vector.
  template <typename T, size_t N>
  requires Number<std::remove_const_t<T>> Memory(std::span<T, N> numbers)  // NOLINT: a span is memory
      : Memory(static_cast<const std::remove_const_t<T>*>(numbers.data()), static_cast<int64_t>(numbers.size())) {}
  template <Number T>
  requires(!std::is_same_v<T, bool>) Memory(const std::vector<T>& numbers)  // NOLINT: so is a vector
      : Memory(numbers.data(), static_cast<int64_t>(numbers.size())) {}
  template <Number T>
  Memory(const std::vector<T>&&) = delete;  // it would be gone before the commit

  /// Returns a box of an array of shape `sizes`: `counts` numbers from `starts` in each dimension.
  /// Throws kInvalidArgument for a box that is not in the array.
  template <Number T>
  static Memory box(const T* array, const std::vector<int64_t>& sizes, const std::vector<int64_t>& starts,
                    const std::vector<int64_t>& counts, Order order = Order::kC) {
    return {array, box_type(element_type_of<T>(), sizes, starts, counts, order), element_type_of<T>()};
  }
  /// Returns an array of shape `sizes` without its ghost cells, of which dimension i has
  /// ghost_low[i] at its beginning and ghost_high[i] at its end. Throws kInvalidArgument when
  /// nothing can be left.
  template <Number T>
  static Memory interior(const T* array, const std::vector<int64_t>& sizes, const std::vector<int64_t>& ghost_low,
                         const std::vector<int64_t>& ghost_high, Order order = Order::kC) {
    return {array, interior_type(element_type_of<T>(), sizes, ghost_low, ghost_high, order), element_type_of<T>()};
  }
  /// Returns one member of an array of structs: Memory::member(particles, n, &Particle::mass).
  template <typename Struct, Number T>
  static Memory member(const Struct* structs, int64_t count, T Struct::*which) {
    const void* first = count == 0 ? nullptr : &(structs->*which);
    return {first, strided_type(element_type_of<T>(), count, static_cast<int64_t>(sizeof(Struct))), element_type_of<T>()};
  }

  /// Returns the same for puts that copy what it describes: it may change, or go, when they have
  /// returned.
  Memory copied() const {
    Memory memory = *this;
    memory.is_copied = true;
    return memory;
  }

  void* data;
  Datatype type;  ///< the bytes, in the order of the hyperslab's elements (C order)
  ElementType element;
  /// The columns of records(), which a dataset of others refuses; null: not known.
  std::shared_ptr<const std::vector<Column>> columns{};
  bool is_copied = false;  ///< see copied()

 private:
  static Datatype box_type(ElementType element, const std::vector<int64_t>& sizes, const std::vector<int64_t>& starts,
                           const std::vector<int64_t>& counts, Order order);
  static Datatype interior_type(ElementType element, const std::vector<int64_t>& sizes, const std::vector<int64_t>& ghost_low,
                                const std::vector<int64_t>& ghost_high, Order order);
  static Datatype strided_type(ElementType element, int64_t count, int64_t stride_bytes);
};

/// The rows (of the first dimension) of one rank, among those of all ranks.
struct Rows {
  int64_t first = 0;
  int64_t count = 0;
  int64_t total = 0;
};

/// A map of single elements: where each value of a rank's memory goes in a dataset, or comes from.
///
/// It is made once and used for any number of datasets of the same shape, of any element types. It
/// may be copied cheaply, and outlives files.
/// Cost: time and memory are linear in the number of values. A file with checksums keeps the map of
/// each put, at one to three bytes for each run of neighbouring elements; for many short runs turn
/// CreateOptions::checksums off.
class Elements {
 public:
  /// The place of a value that is neither put nor got.
  static constexpr int64_t kNone = -1;

  /// offsets[i] is the place of value i: the number of elements before it in the dataset, in C
  /// order of its dimensions. They may come in any order. Throws kInvalidArgument when a place
  /// comes twice, or is negative and not kNone.
  explicit Elements(std::span<const int64_t> offsets);

  /// Returns the number of values in memory, those with kNone included.
  int64_t count() const;

 private:
  friend class Dataset;
  std::shared_ptr<const file::ElementMap> map_;
};

}  // namespace stria
