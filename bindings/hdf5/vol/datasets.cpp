#include "hdf5/vol/datasets.hpp"

#include <new>
#include <optional>
#include <vector>

#include "hdf5/transfer/packed.hpp"
#include "hdf5/vol/deferred.hpp"

namespace stria::hdf5::vol {

namespace {

// This thread is in a transfer of this HDF5.
thread_local const Hdf5* current = nullptr;
thread_local hid_t transfer_list = H5P_DEFAULT;

class Current {
 public:
  Current(const Hdf5& hdf5, hid_t transfer) : before_(current), list_before_(transfer_list) {
    current = &hdf5;
    transfer_list = transfer;
  }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;
  ~Current() {
    current = before_;
    transfer_list = list_before_;
  }

 private:
  const Hdf5* before_;
  hid_t list_before_;
};

bool ask(hid_t id, H5VL_dataset_get_args_t& question) {
  const Object* const dataset = dataset_of(id);
  return dataset->hdf5->H5VLdataset_get(dataset->under, dataset->connector, &question, H5P_DEFAULT, nullptr) >= 0;
}

hid_t space_of(hid_t id) {
  H5VL_dataset_get_args_t question{};
  question.op_type = H5VL_DATASET_GET_SPACE;
  return ask(id, question) ? question.args.get_space.space_id : H5I_INVALID_HID;
}

hid_t creation_list_of(hid_t id) {
  H5VL_dataset_get_args_t question{};
  question.op_type = H5VL_DATASET_GET_DCPL;
  return ask(id, question) ? question.args.get_dcpl.dcpl_id : H5I_INVALID_HID;
}

int type_of(hid_t id) {
  return dataset_of(id) != nullptr ? kDatasetId : current->H5Iget_type(id);
}

/// The arguments of a call, in lists that a packed transfer changes.
template <typename Memory>
struct Lists {
  const Hdf5* hdf5 = nullptr;
  hid_t connector = -1;
  std::vector<void*> under;
  std::vector<hid_t> types, memory_spaces, file_spaces;
  hid_t transfer = -1;
  std::vector<Memory*> data;

  /// Puts dataset `from` into place `to`.
  void take(size_t to, size_t from) {
    under[to] = under[from];
    types[to] = types[from];
    memory_spaces[to] = memory_spaces[from];
    file_spaces[to] = file_spaces[from];
    data[to] = data[from];
  }
  void resize(size_t count) {
    under.resize(count);
    types.resize(count);
    memory_spaces.resize(count);
    file_spaces.resize(count);
    data.resize(count);
  }
  herr_t call(void** request) {
    if constexpr (std::is_const_v<Memory>) {
      return hdf5->H5VLdataset_write(under.size(), under.data(), connector, types.data(), memory_spaces.data(),
                                     file_spaces.data(), transfer, data.data(), request);
    } else {
      return hdf5->H5VLdataset_read(under.size(), under.data(), connector, types.data(), memory_spaces.data(),
                                    file_spaces.data(), transfer, data.data(), request);
    }
  }
};

/// The datasets of a call whose memory is packed, and how far they are.
template <typename Memory>
class Transfer {
 public:
  explicit Transfer(Lists<Memory> given) : given_(given), lists_(std::move(given)), packed_(lists_.under.size()) {}

  /// Plans and packs. Returns whether the memory of any dataset is packed.
  bool begin(void* datasets[]) {
    bool any = false;
    for (size_t i = 0; i < packed_.size(); ++i) {
      std::optional<Reason> reason = plan(i, id_of(object_of(datasets[i])));
      if (!reason && !pack(i, 0)) {
        reason = Reason::kUnknown;
      }
      if (reason) {
        count_passed(kWrites, *reason, lists_.hdf5->core.version);
      } else {
        count_packed(kWrites, packed_[i].work.bytes(), lists_.hdf5->core.version);
        any = true;
      }
    }
    return any;
  }

  /// Moves what begin() has packed, and the pieces that follow where there is one dataset.
  herr_t move() {
    for (int64_t number = 0;; ++number) {
      const herr_t outcome = lists_.call(nullptr);
      end(outcome);
      if (outcome < 0 || packed_.size() > 1 || number + 1 == packed_[0].work.piece_count()) {
        return outcome;
      }
      if (!pack(0, number + 1)) {
        return -1;
      }
    }
  }

 private:
  static constexpr bool kWrites = std::is_const_v<Memory>;
  struct One {
    Packed work;
    Arguments arguments;
    std::optional<Piece> piece;
  };

  std::optional<Reason> plan(size_t i, hid_t dataset) try {
    One& one = packed_[i];
    one.arguments = {dataset, given_.types[i], given_.memory_spaces[i], given_.file_spaces[i], given_.transfer};
    auto* const memory = static_cast<std::byte*>(const_cast<void*>(static_cast<const void*>(given_.data[i])));
    return one.work.plan(lists_.hdf5->core, one.arguments, memory, kWrites ? Use::kToFile : Use::kFromFile, packed_.size() > 1);
  } catch (const std::bad_alloc&) {
    return Reason::kNoMemory;
  }

  bool pack(size_t i, int64_t number) try {
    One& one = packed_[i];
    one.piece = one.work.begin(lists_.hdf5->core, one.arguments, number);
    if (one.piece) {
      one.work.pack(*one.piece);
      lists_.memory_spaces[i] = one.piece->memory_space;
      lists_.file_spaces[i] = one.piece->file_space;
      lists_.data[i] = one.work.buffer();
    }
    return one.piece.has_value();
  } catch (const std::bad_alloc&) {
    return false;
  }

  void end(herr_t outcome) {
    for (One& one : packed_) {
      if (one.piece && outcome >= 0 && !kWrites) {
        one.work.unpack(*one.piece);
      }
      if (one.piece) {
        Packed::end(lists_.hdf5->core, *one.piece, outcome);
      }
    }
  }

  Lists<Memory> given_, lists_;
  std::vector<One> packed_;
};

/// Moves all, now.
template <typename Memory>
herr_t move_now(void* datasets[], const Lists<Memory>& lists, void** request) {
  Transfer<Memory> transfer(lists);
  // The packed memory goes when the call ends, so that a connector below must not go on with it.
  if (transfer.begin(datasets)) {
    return transfer.move();
  }
  Lists<Memory> given = lists;
  const herr_t outcome = given.call(request);
  wrap_request(*given.hdf5, given.connector, request);
  return outcome;
}

/// Moves one of several datasets, by a transfer of its own, which is closed.
herr_t write_alone(void* dataset, const Lists<const void>& lists, size_t i, hid_t transfer) {
  Lists<const void> one{lists.hdf5,       lists.connector,          {lists.under[i]},
                        {lists.types[i]}, {lists.memory_spaces[i]}, {lists.file_spaces[i]},
                        transfer,         {lists.data[i]}};
  // HDF5 keeps for the rest of a call what it has asked of a transfer's list: this is one of its
  // own.
  if (transfer < 0 || lists.hdf5->begin_state() < 0) {
    return -1;
  }
  const herr_t outcome = move_now(&dataset, one, nullptr);
  lists.hdf5->end_state();
  if (outcome >= 0) {
    lists.hdf5->H5Pclose(transfer);  // a call that fails leaves its reasons
  }
  return outcome;
}

/// Holds back what can be, and leaves the rest in `datasets` and `lists`.
herr_t hold_writes(std::vector<void*>& datasets, Lists<const void>& lists) {
  herr_t outcome = 0;
  size_t left = 0;
  for (size_t i = 0; i < datasets.size(); ++i) {
    const Object& dataset = object_of(datasets[i]);
    Arguments arguments{id_of(dataset), lists.types[i], lists.memory_spaces[i], lists.file_spaces[i], lists.transfer};
    if (hold_write(dataset, arguments, lists.data[i])) {
      continue;
    }
    if (arguments.transfer != lists.transfer) {
      outcome = write_alone(datasets[i], lists, i, arguments.transfer) < 0 ? -1 : outcome;
      continue;
    }
    datasets[left] = datasets[i];
    lists.take(left++, i);
  }
  datasets.resize(left);
  lists.resize(left);
  return outcome;
}

/// Writes what waits, here or on all ranks, before a read.
void write_before_reading(void* datasets[], const Lists<void>& lists) {
  const Object& first = object_of(datasets[0]);
  if (first.hdf5->core.can_defer && is_collective(first.hdf5->core, lists.transfer)) {
    write_held_together(first);
  }
  write_held();
}

template <typename Memory>
herr_t move(void* datasets[], Lists<Memory> lists, void** request) {
  for (size_t i = 0; i < lists.under.size(); ++i) {
    const Object& dataset = object_of(datasets[i]);
    lists.under[i] = dataset.under;
    if (dataset.connector != lists.connector) {
      return -1;  // one call can't go to several connectors
    }
  }
  const Current here(*lists.hdf5, lists.transfer);
  if constexpr (std::is_const_v<Memory>) {
    std::vector<void*> left(datasets, datasets + lists.under.size());
    const herr_t alone = hold_writes(left, lists);
    if (left.empty()) {
      return alone;
    }
    write_held();  // They may be the same bytes.
    const herr_t outcome = move_now(left.data(), lists, request);
    return outcome < 0 ? outcome : alone;
  } else {
    write_before_reading(datasets, lists);
    return move_now(datasets, lists, request);
  }
}

template <typename Memory>
herr_t move_unless_empty(size_t count, void* datasets[], hid_t types[], hid_t memory_spaces[], hid_t file_spaces[],
                         hid_t transfer, Memory* data[], void** request) try {
  if (count == 0) {
    return 0;
  }
  const Object& first = object_of(datasets[0]);
  return move(datasets,
              Lists<Memory>{.hdf5 = first.hdf5,
                            .connector = first.connector,
                            .under = std::vector<void*>(count),
                            .types = {types, types + count},
                            .memory_spaces = {memory_spaces, memory_spaces + count},
                            .file_spaces = {file_spaces, file_spaces + count},
                            .transfer = transfer,
                            .data = std::vector<Memory*>(data, data + count)},
              request);
} catch (const std::bad_alloc&) {
  return -1;
}

}  // namespace

hid_t current_transfer() {
  return transfer_list;
}

void take_datasets(Library& core) {
  core.H5Dget_space = space_of;
  core.H5Dget_create_plist = creation_list_of;
  core.H5Iget_type = type_of;
}

herr_t write_datasets(size_t count, void* datasets[], hid_t types[], hid_t memory_spaces[], hid_t file_spaces[], hid_t transfer,
                      const void* data[], void** request) {
  return move_unless_empty(count, datasets, types, memory_spaces, file_spaces, transfer, data, request);
}

herr_t read_datasets(size_t count, void* datasets[], hid_t types[], hid_t memory_spaces[], hid_t file_spaces[], hid_t transfer,
                     void* data[], void** request) {
  return move_unless_empty(count, datasets, types, memory_spaces, file_spaces, transfer, data, request);
}

}  // namespace stria::hdf5::vol
