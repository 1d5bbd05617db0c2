// H5Dwrite and H5Dread, and their forms for several datasets, as the program calls them. Their
// memory is packed where it is scattered or converted; see transfer/packed.hpp. Calls that change
// what a conversion means are noted.
#include <new>
#include <optional>
#include <vector>

#include "hdf5/defer/deferred_write.hpp"
#include "hdf5/defer/files.hpp"
#include "hdf5/settings/settings.hpp"
#include "hdf5/transfer/packed.hpp"

namespace stria::hdf5 {

namespace {

/// Plans, and packs the first piece. No value where the transfer is to pass through as it comes.
std::optional<Piece> prepare(const Library& library, const Arguments& given, std::byte* memory, Use use, Packed& packed,
                             bool must_be_whole = false) {
  const bool writes = use == Use::kToFile;
  std::optional<Reason> reason;
  std::optional<Piece> piece;
  try {
    reason = packed.plan(library, given, memory, use, must_be_whole);
    if (!reason) {
      piece = packed.begin(library, given, 0);
    }
    if (piece) {
      packed.pack(*piece);
    }
  } catch (const std::bad_alloc&) {
    reason = Reason::kNoMemory;
    piece = std::nullopt;
  }
  if (!piece) {
    count_passed(writes, reason.value_or(Reason::kUnknown), library.version);
    return std::nullopt;
  }
  count_packed(writes, packed.bytes(), library.version);
  if (packed.converts()) {
    count_converted(writes);
  }
  return piece;
}

/// Calls `move`(piece) for the first piece, which is packed, and for all that follow.
template <typename Move>
herr_t move_pieces(const Library& library, const Arguments& given, Packed& packed, std::optional<Piece> piece, Move&& move) {
  for (int64_t number = 0;; ++number) {
    const herr_t outcome = move(*piece);
    Packed::end(library, *piece, outcome);
    if (outcome < 0 || number + 1 == packed.piece_count()) {
      return outcome;
    }
    try {
      piece = packed.begin(library, given, number + 1);
      if (piece) {
        packed.pack(*piece);
      }
    } catch (const std::bad_alloc&) {
      piece = std::nullopt;
    }
    if (!piece) {
      return -1;
    }
  }
}

herr_t write_now(const Library& library, const Arguments& given, const void* data) {
  Packed packed;
  auto* const memory = static_cast<std::byte*>(const_cast<void*>(data));  // It is only read.
  const auto first = prepare(library, given, memory, Use::kToFile, packed);
  if (!first) {
    return library.write(given.dataset, given.type, given.memory_space, given.file_space, given.transfer, data);
  }
  return move_pieces(library, given, packed, first, [&](const Piece& piece) {
    return library.write(given.dataset, piece.type, piece.memory_space, piece.file_space, given.transfer, packed.buffer());
  });
}

/// Makes a collective write of this rank alone.
herr_t write_alone(const Library& library, Arguments given, const void* data) {
  given.transfer = independent_copy(library, given.transfer);
  const herr_t outcome = given.transfer < 0 ? -1 : write_now(library, given, data);
  if (outcome >= 0) {
    library.H5Pclose(given.transfer);  // a call that fails leaves its reasons, as in Packed::end
  }
  return outcome;
}

herr_t write_one(const Library& library, const Arguments& given, const void* data) {
  switch (defer_write(library, given, data)) {
    case Deferred::kHeld:
      return 0;
    case Deferred::kAlone:
      return write_alone(library, given, data);
    default:
      return write_now(library, given, data);
  }
}

herr_t read_one(const Library& library, const Arguments& given, void* data) {
  write_before_read(library, given.dataset);
  Packed packed;
  const auto first = prepare(library, given, static_cast<std::byte*>(data), Use::kFromFile, packed);
  if (!first) {
    return library.read(given.dataset, given.type, given.memory_space, given.file_space, given.transfer, data);
  }
  return move_pieces(library, given, packed, first, [&](const Piece& piece) {
    const herr_t outcome =
        library.read(given.dataset, piece.type, piece.memory_space, piece.file_space, given.transfer, packed.buffer());
    if (outcome >= 0) {
      packed.unpack(piece);
    }
    return outcome;
  });
}

/// Calls the function of this name in the caller's HDF5.
template <typename Outcome, typename... Given>
Outcome call_function(const char* name, const void* caller, Given... given) {
  using Function = Outcome(Given...);
  auto* const function = reinterpret_cast<Function*>(function_of(caller, name));
  return function == nullptr ? Outcome{-1} : function(given...);
}

/// The arguments of a call for several datasets; what is packed takes its place in the lists.
class Several {
 public:
  Several(size_t count, const hid_t* datasets, const hid_t* types, const hid_t* memory_spaces, const hid_t* file_spaces)
      : datasets_(datasets, datasets + count),
        types_(types, types + count),
        memory_spaces_(memory_spaces, memory_spaces + count),
        file_spaces_(file_spaces, file_spaces + count),
        packed_(count),
        pieces_(count) {}

  /// Holds back what can be, or writes it. Returns whether a dataset is left.
  bool defer_all(const Library& library, hid_t transfer, const void** data, herr_t& outcome) {
    if (most_held_bytes() == 0) {
      return true;
    }
    size_t left = 0;
    for (size_t i = 0; i < datasets_.size(); ++i) {
      const Arguments given{datasets_[i], types_[i], memory_spaces_[i], file_spaces_[i], transfer};
      const Deferred deferred = defer_write(library, given, data[i]);
      if (deferred == Deferred::kAlone && write_alone(library, given, data[i]) < 0) {
        outcome = -1;
      }
      if (deferred == Deferred::kNo) {
        move_to(left, i);
        data[left++] = data[i];
      }
    }
    packed_ = std::vector<Packed>(left);
    pieces_.resize(left);
    return left > 0 || datasets_.empty();
  }

  template <typename Memory>
  void prepare_all(const Library& library, hid_t transfer, Memory* data[], Use use) {
    std::vector<Memory*>& list = memory<Memory>();
    list.assign(data, data + packed_.size());
    for (size_t i = 0; i < packed_.size(); ++i) {
      const Arguments given{datasets_[i], types_[i], memory_spaces_[i], file_spaces_[i], transfer};
      auto* const memory = static_cast<std::byte*>(const_cast<void*>(data[i]));
      pieces_[i] = prepare(library, given, memory, use, packed_[i], true);
      if (pieces_[i]) {
        types_[i] = pieces_[i]->type;
        memory_spaces_[i] = pieces_[i]->memory_space;
        list[i] = packed_[i].buffer();
      }
    }
  }
  template <typename Memory, typename Call>
  herr_t call(Call* real, hid_t transfer) {
    return real(packed_.size(), datasets_.data(), types_.data(), memory_spaces_.data(), file_spaces_.data(), transfer,
                memory<Memory>().data());
  }
  void release_all(const Library& library, herr_t outcome, Use use) {
    for (size_t i = 0; i < packed_.size(); ++i) {
      if (!pieces_[i]) {
        continue;
      }
      if (use == Use::kFromFile && outcome >= 0) {
        packed_[i].unpack(*pieces_[i]);
      }
      Packed::end(library, *pieces_[i], outcome);
    }
  }

 private:
  void move_to(size_t to, size_t from) {
    for (std::vector<hid_t>* list : {&datasets_, &types_, &memory_spaces_, &file_spaces_}) {
      (*list)[to] = (*list)[from];
    }
  }
  template <typename Memory>
  std::vector<Memory*>& memory() {
    if constexpr (std::is_const_v<Memory>) {
      return read_only_;
    } else {
      return writable_;
    }
  }

  std::vector<hid_t> datasets_, types_, memory_spaces_, file_spaces_;
  std::vector<Packed> packed_;
  std::vector<std::optional<Piece>> pieces_;
  std::vector<const void*> read_only_;
  std::vector<void*> writable_;
};

}  // namespace

}  // namespace stria::hdf5

using namespace stria::hdf5;  // NOLINT: the calls below are this file's purpose

extern "C" {

herr_t H5Dwrite(hid_t dataset, hid_t type, hid_t memory_space, hid_t file_space, hid_t transfer, const void* data) {
  return write_one(library_of(__builtin_return_address(0)), {dataset, type, memory_space, file_space, transfer}, data);
}

herr_t H5Dread(hid_t dataset, hid_t type, hid_t memory_space, hid_t file_space, hid_t transfer, void* data) {
  return read_one(library_of(__builtin_return_address(0)), {dataset, type, memory_space, file_space, transfer}, data);
}

herr_t H5Dwrite_multi(size_t count, hid_t datasets[], hid_t types[], hid_t memory_spaces[], hid_t file_spaces[], hid_t transfer,
                      const void* data[]) {
  const Library& library = library_of(__builtin_return_address(0));
  if (datasets == nullptr || types == nullptr || memory_spaces == nullptr || file_spaces == nullptr || data == nullptr) {
    return library.write_multi(count, datasets, types, memory_spaces, file_spaces, transfer, data);
  }
  Several several(count, datasets, types, memory_spaces, file_spaces);
  std::vector<const void*> left(data, data + count);
  herr_t alone = 0;
  if (!several.defer_all(library, transfer, left.data(), alone)) {
    return alone;
  }
  several.prepare_all<const void>(library, transfer, left.data(), Use::kToFile);
  const herr_t outcome = several.call<const void>(library.write_multi, transfer);
  several.release_all(library, outcome, Use::kToFile);
  return outcome < 0 ? outcome : alone;
}

herr_t H5Dread_multi(size_t count, hid_t datasets[], hid_t types[], hid_t memory_spaces[], hid_t file_spaces[], hid_t transfer,
                     void* data[]) {
  const Library& library = library_of(__builtin_return_address(0));
  if (datasets == nullptr || types == nullptr || memory_spaces == nullptr || file_spaces == nullptr || data == nullptr) {
    return library.read_multi(count, datasets, types, memory_spaces, file_spaces, transfer, data);
  }
  for (size_t i = 0; i < count; ++i) {
    write_before_read(library, datasets[i]);
  }
  Several several(count, datasets, types, memory_spaces, file_spaces);
  several.prepare_all<void>(library, transfer, data, Use::kFromFile);
  const herr_t outcome = several.call<void>(library.read_multi, transfer);
  several.release_all(library, outcome, Use::kFromFile);
  return outcome;
}

// Calls that change what a conversion means, from then on or for some transfers.

herr_t H5Tregister(int persistence, const char* name, hid_t source, hid_t target, void* convert) {
  note_conversion(library_of(__builtin_return_address(0)), source, target);
  return call_function<herr_t>("H5Tregister", __builtin_return_address(0), persistence, name, source, target, convert);
}

herr_t H5Tunregister(int persistence, const char* name, hid_t source, hid_t target, void* convert) {
  note_conversion(library_of(__builtin_return_address(0)), source, target);
  return call_function<herr_t>("H5Tunregister", __builtin_return_address(0), persistence, name, source, target, convert);
}

herr_t H5Pset_type_conv_cb(hid_t transfer, void* called, void* data) {
  leave_conversions_to_hdf5();
  return call_function<herr_t>("H5Pset_type_conv_cb", __builtin_return_address(0), transfer, called, data);
}

herr_t H5Pset_data_transform(hid_t transfer, const char* expression) {
  leave_conversions_to_hdf5();
  return call_function<herr_t>("H5Pset_data_transform", __builtin_return_address(0), transfer, expression);
}

// Calls that matter to writes that are held back.

hid_t H5Fcreate(const char* name, unsigned flags, hid_t creation, hid_t access) {
  const OpeningByHdf5 opening;
  return call_function<hid_t>("H5Fcreate", __builtin_return_address(0), name, flags, creation, access);
}

hid_t H5Fopen(const char* name, unsigned flags, hid_t access) {
  const OpeningByHdf5 opening;
  return call_function<hid_t>("H5Fopen", __builtin_return_address(0), name, flags, access);
}

herr_t H5Fclose(hid_t file) {
  const int before = files_that_lost_bytes();
  const auto outcome = call_function<herr_t>("H5Fclose", __builtin_return_address(0), file);
  return files_that_lost_bytes() > before ? -1 : outcome;
}

herr_t H5Ocopy(hid_t from, const char* name, hid_t to, const char* new_name, hid_t copying, hid_t link_creation) {
  write_before_copy(library_of(__builtin_return_address(0)), from);
  return call_function<herr_t>("H5Ocopy", __builtin_return_address(0), from, name, to, new_name, copying, link_creation);
}

herr_t H5Ldelete(hid_t place, const char* name, hid_t access) {
  write_before_removal(library_of(__builtin_return_address(0)), place);
  return call_function<herr_t>("H5Ldelete", __builtin_return_address(0), place, name, access);
}

herr_t H5Ldelete_by_idx(hid_t place, const char* group, int index, int order, hsize_t number, hid_t access) {
  write_before_removal(library_of(__builtin_return_address(0)), place);
  return call_function<herr_t>("H5Ldelete_by_idx", __builtin_return_address(0), place, group, index, order, number, access);
}

herr_t H5Gunlink(hid_t place, const char* name) {
  write_before_removal(library_of(__builtin_return_address(0)), place);
  return call_function<herr_t>("H5Gunlink", __builtin_return_address(0), place, name);
}

herr_t H5Odecr_refcount(hid_t object) {
  write_before_removal(library_of(__builtin_return_address(0)), object);
  return call_function<herr_t>("H5Odecr_refcount", __builtin_return_address(0), object);
}

herr_t H5Ldelete_async(const char* file, const char* function, unsigned line, hid_t place, const char* name, hid_t access,
                       hid_t events) {
  write_before_removal(library_of(__builtin_return_address(0)), place);
  return call_function<herr_t>("H5Ldelete_async", __builtin_return_address(0), file, function, line, place, name, access,
                               events);
}

}  // extern "C"
