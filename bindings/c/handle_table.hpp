// Handles that know when what they name has ended.
//
// Problem: a program keeps a copy of a handle, and uses or ends it after the object has ended. As
// an address it would lead to freed memory, or to another object in its place.
// Method: a handle only looks like a pointer. It is odd, as no object's address is, and holds the
// number of a slot in a table of the process, and how often that slot had been taken before: a slot
// that is taken again makes another handle. As with identifiers of HDF5, copies of a handle are
// names of one object.
// Cost: a lock for each call; 16 bytes for each object that was ever there at the same time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <shared_mutex>
#include <utility>
#include <vector>

namespace stria::c {

/// The objects of one type that handles name. Threads may use it at the same time.
template <typename T>
class HandleTable {
  static_assert(sizeof(T*) == sizeof(uint64_t), "a handle takes 64 bits");

 public:
  static constexpr int kSlotBits = 24;

  /// Returns the table of the process. It never ends: handles may be used while the process exits.
  static HandleTable& instance() {
    static HandleTable& table = *new HandleTable;
    return table;
  }

  /// Returns a handle of the object. Throws std::bad_alloc, also when 2^24 objects are there.
  T* add(T* object) {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) {
      if (slots_.size() >> kSlotBits != 0) {
        throw std::bad_alloc();
      }
      if (free_.capacity() <= slots_.size()) {
        free_.reserve(2 * slots_.size() + 8);  // take() then needs no memory.
      }
      slots_.push_back({});
      free_.push_back(slots_.size() - 1);
    }
    const size_t index = free_.back();
    free_.pop_back();
    slots_[index].object = object;
    return handle_of(index, slots_[index].takings);
  }

  /// Finds the object; null when it has ended, or there was none.
  T* find(const T* handle) const noexcept {
    const std::shared_lock lock(mutex_);
    const size_t index = index_of(handle);
    return is_current(handle, index) ? slots_[index].object : nullptr;
  }

  /// Does the same as find(), and the handle names nothing any more: of two calls one gets the
  /// object.
  T* take(const T* handle) noexcept {
    const std::lock_guard lock(mutex_);
    const size_t index = index_of(handle);
    if (!is_current(handle, index)) {
      return nullptr;
    }
    ++slots_[index].takings;
    free_.push_back(index);
    return std::exchange(slots_[index].object, nullptr);
  }

 private:
  struct Slot {
    T* object = nullptr;
    uint64_t takings = 0;
  };

  static T* handle_of(size_t index, uint64_t takings) {
    return reinterpret_cast<T*>(((takings << kSlotBits | index) << 1) | 1);
  }
  static size_t index_of(const T* handle) { return reinterpret_cast<uint64_t>(handle) >> 1 & ((uint64_t{1} << kSlotBits) - 1); }
  bool is_current(const T* handle, size_t index) const {
    return index < slots_.size() && slots_[index].object != nullptr && handle_of(index, slots_[index].takings) == handle;
  }

  mutable std::shared_mutex mutex_;
  std::vector<Slot> slots_;
  std::vector<size_t> free_;
};

/// An object's own handle, as its member: the handle ends with the object.
template <typename T>
class OwnHandle {
 public:
  explicit OwnHandle(T* object) : handle_(HandleTable<T>::instance().add(object)) {}
  ~OwnHandle() { HandleTable<T>::instance().take(handle_); }
  OwnHandle(const OwnHandle&) = delete;
  OwnHandle& operator=(const OwnHandle&) = delete;
  T* get() const { return handle_; }

 private:
  T* handle_;
};

}  // namespace stria::c
