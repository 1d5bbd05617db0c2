// Parallel HDF5 since 1.14: all variables of a checkpoint in one H5Dwrite_multi, by which the
// library may join them into one collective call; and selection I/O, which hands the driver
// selections where it had handed it datatypes.
#include "limits/plain_file.hpp"
#include "peers/hdf5_file.hpp"
#include "peers/naive_pack.hpp"

namespace stria::bench {

#if H5_VERSION_GE(1, 14, 0)

namespace {

struct MultiWay {
  bool collective = true;
  Source source = Source::kOneVariable;
  bool selection_io = false;
};

/// Holds what the multi-dataset calls want, one entry a variable.
struct Datasets {
  std::vector<Hdf5Id> open;
  std::vector<Hdf5Id> memory_open;
  std::vector<hid_t> ids, types, memory_spaces, file_spaces;

  void add(Hdf5Id dataset, Hdf5Id memory_space, hid_t file_space) {
    ids.push_back(dataset);
    types.push_back(H5T_NATIVE_DOUBLE);
    memory_spaces.push_back(memory_space);
    file_spaces.push_back(file_space);
    open.push_back(std::move(dataset));
    memory_open.push_back(std::move(memory_space));
  }
};

Hdf5Id transfer_list_of(const MultiWay& way) {
  Hdf5Id list = transfer_list(way.collective);
  if (way.selection_io) {
    require(H5Pset_selection_io(list, H5D_SELECTION_IO_MODE_ON) >= 0, "HDF5: cannot ask for selection I/O");
  }
  return list;
}

BlockRows rows_of(const Round& r) {
  const int64_t side = r.data.unk.parameters().nxb;
  return {r.data.unk.partition(), {side, side, side}};
}

/// Returns where the values of every variable lie. They stay until all are written.
std::vector<const void*> sources_of(Round& r, const MultiWay& way) {
  RankData& data = r.data;
  std::vector<const void*> sources;
  for (int64_t variable = 0; variable < data.unk.parameters().nvar; ++variable) {
    const int64_t first = variable * data.run_values();
    if (way.source == Source::kInPlace) {
      sources.push_back(data.unk.data());
    } else if (way.source == Source::kOnePass) {
      sources.push_back(data.limit.packed() + first);
    } else {
      pack_one_variable(data.unk, variable, data.all_variables.data() + first);
      sources.push_back(data.all_variables.data() + first);
    }
  }
  return sources;
}

void write_variables(Round& r, const MultiWay& way, hid_t file, hid_t transfer) {
  const BlockRows rows = rows_of(r);
  std::vector<const void*> sources = flash::timed(&r.times.pack_s, [&] { return sources_of(r, way); });
  const double start_s = flash::now_s();
  const Hdf5Id file_space = rows.file_space();
  Datasets all;
  for (int64_t variable = 0; variable < r.data.unk.parameters().nvar; ++variable) {
    const std::string name = flash::variable_label(variable);
    all.add({H5Dcreate2(file, name.c_str(), H5T_NATIVE_DOUBLE, file_space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose,
             "create '" + name + "'"},
            way.source == Source::kInPlace ? interleaved_space(r.data.unk, variable) : rows.memory_space(), file_space);
  }
  require(H5Dwrite_multi(all.ids.size(), all.ids.data(), all.types.data(), all.memory_spaces.data(), all.file_spaces.data(),
                         transfer, sources.data()) >= 0,
          "HDF5: cannot write all variables to " + r.path);
  all.open.clear();
  r.times.transfer_s += flash::now_s() - start_s;
}

void write_multi(Round& r, const MultiWay& way) {
  const Hdf5Id transfer = transfer_list_of(way);
  write_hdf5_file(r, transfer, way.source, [&](hid_t file) { write_variables(r, way, file, transfer); });
}

Mode multi_write_mode(const char* name, const MultiWay& way) {
  Mode mode;
  mode.name = name;
  mode.slow = way.source == Source::kInPlace;
  mode.run = [way](Round& r) { write_multi(r, way); };
  mode.file_runs = [](Round& r) { return hdf5_file_runs(r.path, r.data, r.data.every_variable(), sizeof(double)); };
  mode.check_lists = [](Round& r) { return check_hdf5_lists(r.path, r.data); };
  return mode;
}

void read_variables(Round& r, hid_t file, hid_t transfer) {
  const BlockRows rows = rows_of(r);
  double start_s = flash::now_s();
  const Hdf5Id file_space = rows.file_space();
  Datasets all;
  std::vector<void*> targets;
  for (int64_t variable = 0; variable < r.data.unk.parameters().nvar; ++variable) {
    const std::string name = flash::variable_label(variable);
    all.add({H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose, "open '" + name + "'"}, rows.memory_space(), file_space);
    targets.push_back(r.data.all_variables.data() + variable * r.data.run_values());
  }
  require(H5Dread_multi(all.ids.size(), all.ids.data(), all.types.data(), all.memory_spaces.data(), all.file_spaces.data(),
                        transfer, targets.data()) >= 0,
          "HDF5: cannot read all variables of " + r.path);
  all.open.clear();
  r.times.transfer_s += flash::now_s() - start_s;
  start_s = flash::now_s();
  for (int64_t variable = 0; variable < r.data.unk.parameters().nvar; ++variable) {
    unpack_one_variable(r.data.all_variables.data() + variable * r.data.run_values(), variable, r.target);
  }
  r.times.pack_s += flash::now_s() - start_s;
}

Mode read_mode(const char* name, const MultiWay& way) {
  Mode mode;
  mode.name = name;
  mode.kind = ModeKind::kRead;
  mode.prepare = [](Round& r) { write_multi(r, {.source = Source::kOnePass}); };
  mode.run = [way](Round& r) {
    const Hdf5Id transfer = transfer_list_of(way);
    read_hdf5_file(r, [&](hid_t file) { read_variables(r, file, transfer); });
  };
  return mode;
}

}  // namespace

std::vector<Mode> hdf5_multi_modes() {
  const auto packed = Source::kOnePass;
  const auto in_place = Source::kInPlace;
  return {multi_write_mode("hdf5-multi", {}),
          multi_write_mode("hdf5-multi+pack", {.source = packed}),
          multi_write_mode("hdf5-multi-independent+pack", {.collective = false, .source = packed}),
          multi_write_mode("hdf5-multi-selection+pack", {.source = packed, .selection_io = true}),
          multi_write_mode("hdf5-multi-hyperslab", {.source = in_place}),
          multi_write_mode("hdf5-multi-selection-hyperslab", {.source = in_place, .selection_io = true}),
          read_mode("read-hdf5-multi", {}),
          read_mode("read-hdf5-multi-selection", {.selection_io = true})};
}

#else

std::vector<Mode> hdf5_multi_modes() {
  return {};
}

#endif

}  // namespace stria::bench
