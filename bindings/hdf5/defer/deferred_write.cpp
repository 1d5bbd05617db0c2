#include "hdf5/defer/deferred_write.hpp"

#include <algorithm>
#include <atomic>
#include <new>
#include <utility>
#include <vector>

#include "datatype/cursor.hpp"
#include "hdf5/defer/files.hpp"
#include "hdf5/settings/settings.hpp"

namespace stria::hdf5 {

namespace {

constexpr int64_t kMostPieceBytes = 1 << 30;
constexpr int kContiguousCollective = 4;  // H5D_MPIO_CONTIGUOUS_COLLECTIVE

/// Returns the MPI_File of a file, where it is parallel HDF5's. Other drivers have another number
/// there, which is that of no MPI_File. The driver isn't asked for, because a file's access list
/// has a communicator of its own, which all ranks have to make together.
MpiFile handle_of(const Library& library, hid_t file) {
  void* handle = nullptr;
  return library.H5Fget_vfd_handle(file, kDefault, &handle) >= 0 && handle != nullptr ? *static_cast<MpiFile*>(handle)
                                                                                      : nullptr;
}

/// Calls `use`(file, or null) under the lock, for the file of an object.
template <typename Use>
auto with_file_of(const Library& library, hid_t object, Use&& use) {
  DeferredFiles& files = DeferredFiles::all();
  if (!files.has_any()) {
    const auto lock = files.lock();
    return use(nullptr);
  }
  const hid_t id = library.H5Iget_file_id(object);
  MpiFile handle = nullptr;
  if (id >= 0) {
    {
      const auto lock = files.lock();
      const DeferredFile* const known = files.find_id(id);
      handle = known == nullptr ? nullptr : known->handle;
    }
    handle = handle != nullptr ? handle : handle_of(library, id);
    library.H5Idec_ref(id);
  }
  const auto lock = files.lock();
  DeferredFile* const file = handle == nullptr ? nullptr : files.find(handle);
  if (file != nullptr) {
    file->hdf5_id = id;
  }
  return use(file);
}

/// All ranks find the same, because it depends on the dataset alone.
bool has_numbers_in_place(const Library& library, hid_t dataset) {
  if (!has_place(library, dataset)) {
    return false;
  }
  const hid_t type = library.H5Dget_type(dataset);
  const int type_class = type < 0 ? -1 : library.H5Tget_class(type);
  if (type >= 0) {
    library.H5Tclose(type);
  }
  return type_class == kIntegerClass || type_class == kFloatClass;
}

/// Returns where the bytes of a write belong, in their order. No value where that isn't plain.
std::optional<std::vector<Held>> places_of(const Library& library, const Arguments& arguments, const Packed& packed) {
  const OwnSpace whole(library, library.H5Dget_space(arguments.dataset));
  const hid_t space = arguments.file_space == kAll ? whole.get() : arguments.file_space;
  const hssize_t elements = library.H5Sget_select_npoints(space);
  if (elements < 0 || elements != packed.elements() || lengths_of(library, space) != lengths_of(library, whole.get())) {
    return std::nullopt;
  }
  std::vector<Held> places;
  if (elements == 0) {
    return places;
  }
  const auto selected = selected_memory(library, space, packed.bytes() / elements, Use::kToFile);
  if (!selected.ok()) {
    return std::nullopt;
  }
  const int64_t begin = static_cast<int64_t>(library.H5Dget_offset(arguments.dataset)) + selected->base_bytes;
  for (Cursor at(selected->type, begin); !at.done();) {
    ByteRange piece = at.piece();
    piece.end = std::min(piece.end, piece.begin + kMostPieceBytes);
    if (!places.empty() && places.back().place.end == piece.begin &&
        places.back().place.size() + piece.size() <= kMostPieceBytes) {
      places.back().place.end = piece.end;
    } else {
      places.push_back({piece, nullptr});
    }
    at.advance(piece.size());
  }
  return places;
}

bool hold(DeferredFile& file, const Packed& packed, std::vector<Held>& places) {
  DeferredFiles& files = DeferredFiles::all();
  std::byte* const room = file.is_open_twice ? nullptr : files.reserve(file, places);
  if (room == nullptr) {
    return false;
  }
  packed.pack_into(room, {0, packed.bytes()});
  const std::byte* at = room;
  for (Held& piece : places) {
    piece.bytes = at;
    at += piece.place.size();
  }
  return files.hold(file, places);
}

/// A connector doesn't see that the program asks for it; the preload does, and converts no more.
bool has_transform(const Library& library, hid_t transfer) {
  static std::atomic<bool> was_found{false};  // HDF5 makes a copy for each that asks
  if (library.is_preloaded || transfer == kDefault || was_found) {
    return was_found;
  }
  void* transform = nullptr;
  was_found = library.H5Pget(transfer, "data_transform", &transform) < 0 || transform != nullptr;
  return was_found;
}

/// Plans, packs and holds. False where this process has to write at once.
bool pack_and_hold(const Library& library, const Arguments& arguments, const void* data) try {
  Packed packed;
  auto* const memory = static_cast<std::byte*>(const_cast<void*>(data));  // It is only read.
  if (has_transform(library, arguments.transfer) || packed.plan_stream(library, arguments, memory)) {
    return false;
  }
  auto places = places_of(library, arguments, packed);
  if (!places) {
    return false;
  }
  const bool is_held = places->empty() || with_file_of(library, arguments.dataset, [&](DeferredFile* file) {
                         return file != nullptr && hold(*file, packed, *places);
                       });
  if (is_held) {
    count_packed(true, packed.bytes(), library.version);
    count_deferred();
    if (packed.converts()) {
      count_converted(true);
    }
  }
  return is_held;
} catch (const std::bad_alloc&) {
  return false;
}

/// HDF5 notes how it has moved the data.
void note_collective(const Library& library, hid_t transfer) {
  const int mode = kContiguousCollective;
  library.H5Pset(transfer, "actual_io_mode", &mode);
}

}  // namespace

Deferred defer_write(const Library& library, const Arguments& arguments, const void* data) {
  if (most_held_bytes() == 0 || !library.can_defer || is_turned_off() || library.H5Iget_type(arguments.dataset) != kDatasetId) {
    return Deferred::kNo;
  }
  const bool is_together = is_collective(library, arguments.transfer);
  if (!has_numbers_in_place(library, arguments.dataset)) {
    return Deferred::kNo;
  }
  const bool may_hold = with_file_of(library, arguments.dataset, [&](DeferredFile* file) {
    const bool may = file != nullptr && file->may_hold;
    if (may && is_together) {
      file->has_collective = true;
    }
    return may;
  });
  if (!may_hold) {
    return Deferred::kNo;
  }
  if (pack_and_hold(library, arguments, data)) {
    if (is_together) {
      note_collective(library, arguments.transfer);
    }
    return Deferred::kHeld;
  }
  return is_together ? Deferred::kAlone : Deferred::kNo;
}

void write_before_read(const Library& library, hid_t dataset) {
  DeferredFiles& files = DeferredFiles::all();
  if (!files.has_any_held() || !library.can_defer || library.H5Iget_type(dataset) != kDatasetId) {
    return;
  }
  with_file_of(library, dataset, [&](const DeferredFile* file) {
    if (file == nullptr) {
      files.write_all_alone();
    }
  });
}

void write_before_copy(const Library& library, hid_t place) {
  if (most_held_bytes() == 0 || !library.can_defer) {
    return;
  }
  with_file_of(library, place, [](const DeferredFile* file) {
    DeferredFiles::all().write_all_alone();
    if (file != nullptr && file->may_hold && file->rank_count > 1) {
      file->mpi->MPI_Barrier(file->comm);
    }
  });
}

void write_before_removal(const Library& library, hid_t place) {
  if (most_held_bytes() == 0 || !library.can_defer) {
    return;
  }
  with_file_of(library, place, [](DeferredFile* file) {
    if (file != nullptr) {
      file->may_hold = false;
    }
    DeferredFiles::all().write_all_alone();
  });
}

hid_t independent_copy(const Library& library, hid_t transfer) {
  const hid_t copy = library.H5Pcopy(transfer);
  if (copy >= 0) {
    library.H5Pset_dxpl_mpio(copy, kIndependentTransfer);
  }
  return copy;
}

}  // namespace stria::hdf5
