#include "hdf5/vol/datasets.hpp"

#include <new>
#include <optional>
#include <vector>

#include "hdf5/transfer/packed.hpp"

namespace stria::hdf5::vol {

namespace {

// The HDF5 in whose transfer this thread is.
thread_local const Hdf5* current = nullptr;

class Current {
 public:
  explicit Current(const Hdf5& hdf5) : before_(current) { current = &hdf5; }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;
  ~Current() { current = before_; }

 private:
  const Hdf5* before_;
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

template <typename Memory>
herr_t move(void* datasets[], Lists<Memory> lists, void** request) {
  for (size_t i = 0; i < lists.under.size(); ++i) {
    const Object& dataset = object_of(datasets[i]);
    lists.under[i] = dataset.under;
    if (dataset.connector != lists.connector) {
      return -1;  // one call can't go to several connectors
    }
  }
  const Current here(*lists.hdf5);
  Transfer<Memory> transfer(lists);
  // The packed memory goes when the call ends, so that a connector below must not go on with it.
  if (transfer.begin(datasets)) {
    return transfer.move();
  }
  const herr_t outcome = lists.call(request);
  wrap_request(*lists.hdf5, lists.connector, request);
  return outcome;
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
