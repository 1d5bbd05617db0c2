// One dataset of a file: what is put into it and got from it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "stria/fill_value.hpp"
#include "stria/meaning.hpp"
#include "stria/memory.hpp"
#include "stria/status.hpp"

namespace stria {

namespace file {
class Session;
}
namespace c {
struct Refusal;
}

/// A dataset of an open file. put() and get() throw kInvalidArgument or kAborted once the file is
/// closed or abandoned, or a new file is committed.
class Dataset {
 public:
  /// Returns the dataset's path in the file; of one found by a link, that of the dataset.
  const std::string& path() const;
  ElementType element() const;  ///< the type of its numbers
  Meaning meaning() const;      ///< the meaning of its numbers
  const std::vector<int64_t>& dims() const;
  /// Returns the names of integers' values, where they are an enumeration; else none. Collective:
  /// no.
  std::vector<NamedNumber> enumeration() const;
  /// Returns the name of each dimension, "" for one without; empty where none has one. In HDF5
  /// files names are paths. Collective: no.
  std::vector<std::string> dimensions() const;
  /// The first dimension has no limit: append_rows() may give it rows.
  bool can_grow() const;
  std::vector<int64_t> chunk() const;  ///< the lengths of its chunks; empty where it has none
  /// Returns what elements read as that nobody has put, in the dataset's type: not given where that
  /// is zero, or isn't a number. Of complex numbers it is the real part. Collective: no.
  FillValue fill_value() const;
  int64_t bytes() const;  ///< the bytes of all its elements
  /// The raw data lie in one piece.
  bool is_contiguous() const;
  /// Returns what chunks pass: "shuffle deflate(1)"; empty where they pass nothing, or there are
  /// none.
  std::string filters() const;
  /// Returns the bytes that the dataset takes in a file that is open for reading, by the index of
  /// its chunks where it has some; -1 when only libhdf5 can tell. Collective: no.
  int64_t stored_bytes() const;
  std::string type_name() const;  ///< "float64", "bool", "complex128", "string[4]", "record[84]" …

  /// Records a write of `memory` to `slab`. Numbers are converted to the dataset's type while they
  /// are packed, without a copy and without a warning. A number that the type can't hold becomes
  /// the nearest that it can: an integer the nearest end of the range, a double too large for
  /// float32 infinity. A floating-point number becomes an integer by rounding towards zero, and
  /// NaN becomes 0. Errors are local and thrown here; the file's next commit() then fails on every
  /// rank.
  /// A rank may put a dataset in any number of parts, before and after a flush(). Each element is
  /// meant to be put once: two puts of one flush() or commit() that share elements make it fail
  /// with kInvalidArgument, which names the dataset and the region, but for regions that several
  /// ranks put alike, and where the hint stria_put_overlaps allows it. Then, and after a flush(),
  /// the element holds either value, and File::verify() remarks where they differ. Elements that
  /// are never put read as DatasetOptions::fill_value.
  /// The memory must not change until flush() or commit() returns. A put of at most 64 KiB is
  /// copied, as far as the hint stria_put_copies allows, and stores what the memory holds now. Of
  /// others a sample is compared: where the memory has changed, flush() and commit() fail on every
  /// rank with kInvalidArgument, which names the dataset and the put. A change between sampled
  /// bytes isn't seen. Collective: no.
  void put(const Hyperslab& slab, const Memory& memory);
  /// Does the same as put(), with a copy: the memory may change or go as soon as this returns. As
  /// much memory is taken until flush() or commit() (Report::copied_bytes); kResourceExhausted
  /// where there is none. The other calls that put do so with Memory::copied(). Collective: no.
  void put_copy(const Hyperslab& slab, const Memory& memory) { put(slab, memory.copied()); }
  /// Records a read of `slab` into `memory`, which commit() does. Numbers are converted as by
  /// put(). The memory must stay until flush() or commit() returns, which nothing checks, and holds
  /// the numbers only then. Collective: no.
  void get(const Hyperslab& slab, const Memory& memory);

  /// Puts or gets a box: `count` elements from `start`, which lie in memory as a box of an array of
  /// shape `sizes`, from `memory_start`, with as many dimensions. As put() and get().
  template <Number T>
  void put_box(const std::vector<int64_t>& start, const std::vector<int64_t>& count, const T* array,
               const std::vector<int64_t>& sizes, const std::vector<int64_t>& memory_start) {
    put({start, count}, described([&] { return Memory::box(array, sizes, memory_start, count); }));
  }
  template <Number T>
  void get_box(const std::vector<int64_t>& start, const std::vector<int64_t>& count, T* array,
               const std::vector<int64_t>& sizes, const std::vector<int64_t>& memory_start) {
    get({start, count}, described([&] { return Memory::box(array, sizes, memory_start, count); }));
  }

  /// Puts or gets rows.count whole rows from rows.first; see File::place_rows() and
  /// File::share_rows(). Where the dataset can grow, puts count from the first of its last
  /// rows.total rows, those that append_rows() has given last. kInvalidArgument when the dataset
  /// has fewer rows than rows.total, or another number and can't grow. As put() and get().
  void put_rows(const Rows& rows, const Memory& memory);
  void get_rows(const Rows& rows, const Memory& memory);

  /// Puts or gets scattered elements: `memory` has elements.count() consecutive numbers, whose
  /// places `elements` tells. kInvalidArgument when a place is not in the dataset. As put() and
  /// get().
  void put_elements(const Elements& elements, const Memory& memory);
  void get_elements(const Elements& elements, const Memory& memory);

  /// Reads at once: `slab` into `memory`, and whatever was got before. Collective: yes; `slab` may
  /// differ between ranks, and be empty.
  void read(const Hyperslab& slab, const Memory& memory);
  /// Reads the numbers of `slab`, or all. Collective: yes.
  template <Number T>
  requires(!std::is_same_v<T, bool>) std::vector<T> read(const Hyperslab& slab) {
    std::vector<T> numbers;
    read_at_once(slab, element_type_of<T>(), [&](int64_t count) -> void* {
      numbers.resize(static_cast<size_t>(count));
      return numbers.data();
    });
    return numbers;
  }
  template <Number T>
  requires(!std::is_same_v<T, bool>) std::vector<T> read() { return read<T>({std::vector<int64_t>(dims().size(), 0), dims()}); }

 private:
  friend class File;
  friend struct c::Refusal;
  Dataset(std::shared_ptr<file::Session> session, int index) : session_(std::move(session)), index_(index) {}

  /// Returns what `describe` returns; where it throws, the next collective call fails on every
  /// rank.
  template <typename Describe>
  Memory described(Describe&& describe) {
    try {
      return describe();
    } catch (const Error& error) {
      refuse(error);
    }
  }
  [[noreturn]] void refuse(const Error& error);
  Hyperslab slab_of(const Rows& rows, bool put);
  void move_elements(const Elements& elements, const Memory& memory, bool put);
  void read_at_once(const Hyperslab& slab, ElementType element, const std::function<void*(int64_t count)>& make_room);

  std::shared_ptr<file::Session> session_;
  int index_;
};

}  // namespace stria
