// Parallel HDF5 as applications use it: one dataset per variable, one H5Dwrite each, independent
// or collective.
#include <algorithm>

#include "limits/plain_file.hpp"
#include "peers/hdf5_file.hpp"
#include "peers/naive_pack.hpp"

namespace stria::bench {
namespace {

/// Says what narrows double to float in a plot file.
enum class Hdf5Conversion { kNone, kLibrary, kApplication };

struct Hdf5Way {
  bool collective = false;
  Source source = Source::kOneVariable;
  Hdf5Conversion conversion = Hdf5Conversion::kNone;
  bool compressed = false;
};

// A chunk has several blocks, because HDF5 1.10.8 hands MPI a wild pointer where each has one.
constexpr hsize_t kBlocksOfChunk = 4;
constexpr unsigned kGzipLevel = 1;

/// Chunks of some blocks, shuffled and deflated; or one piece.
Hdf5Id creation_list(const Hdf5Way& way, const BlockRows& rows) {
  const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
  if (way.compressed) {
    std::vector<hsize_t> chunk = rows.all;
    chunk[0] = std::min(kBlocksOfChunk, chunk[0]);
    require(H5Pset_chunk(list, static_cast<int>(chunk.size()), chunk.data()) >= 0 && H5Pset_shuffle(list) >= 0 &&
                H5Pset_deflate(list, kGzipLevel) >= 0,
            "HDF5: cannot choose chunks");
  }
  return {list, H5Pclose, "make a creation list"};
}

/// The values of one variable as H5Dwrite wants them.
struct WriteSource {
  const void* values = nullptr;
  hid_t memory_type = H5T_NATIVE_DOUBLE;
};

std::vector<int64_t> variables_of(const Round& r, const Hdf5Way& way) {
  return way.conversion == Hdf5Conversion::kNone ? r.data.every_variable() : r.data.plot_variables;
}

WriteSource source_of(Round& r, const Hdf5Way& way, int64_t variable) {
  RankData& data = r.data;
  if (way.source == Source::kInPlace) {
    return {data.unk.data(), H5T_NATIVE_DOUBLE};
  }
  if (way.source != Source::kOneVariable) {
    return {data.limit.packed() + variable * data.run_values(), H5T_NATIVE_DOUBLE};
  }
  const double start_s = flash::now_s();
  WriteSource source{data.one_variable.data(), H5T_NATIVE_DOUBLE};
  if (way.conversion == Hdf5Conversion::kApplication) {
    pack_one_variable(data.unk, variable, reinterpret_cast<float*>(data.one_variable.data()));
    source.memory_type = H5T_NATIVE_FLOAT;
  } else {
    pack_one_variable(data.unk, variable, data.one_variable.data());
  }
  r.times.pack_s += flash::now_s() - start_s;
  return source;
}

void write_variable(Round& r, const Hdf5Way& way, int64_t variable, hid_t file, hid_t transfer) {
  const int64_t side = r.data.unk.parameters().nxb;
  const BlockRows rows(r.data.unk.partition(), {side, side, side});
  const WriteSource source = source_of(r, way, variable);
  const std::string name = flash::variable_label(variable);
  const hid_t file_type = way.conversion == Hdf5Conversion::kNone ? H5T_NATIVE_DOUBLE : H5T_NATIVE_FLOAT;
  const double start_s = flash::now_s();
  const Hdf5Id file_space = rows.file_space();
  const Hdf5Id memory_space = way.source == Source::kInPlace ? interleaved_space(r.data.unk, variable) : rows.memory_space();
  const Hdf5Id creation = creation_list(way, rows);
  Hdf5Id dataset(H5Dcreate2(file, name.c_str(), file_type, file_space, H5P_DEFAULT, creation, H5P_DEFAULT), H5Dclose,
                 "create '" + name + "'");
  require(H5Dwrite(dataset, source.memory_type, memory_space, file_space, transfer, source.values) >= 0,
          "HDF5: cannot write '" + name + "' to " + r.path);
  dataset.close();
  r.times.transfer_s += flash::now_s() - start_s;
}

void write_file(Round& r, const Hdf5Way& way) {
  const Hdf5Id transfer = transfer_list(way.collective);
  write_hdf5_file(r, transfer, way.source, [&](hid_t file) {
    for (const int64_t variable : variables_of(r, way)) {
      write_variable(r, way, variable, file, transfer);
    }
  });
}

Mode hdf5_write_mode(const char* name, const Hdf5Way& way, bool slow = false) {
  Mode mode;
  mode.name = name;
  mode.slow = slow;
  mode.kind = way.conversion == Hdf5Conversion::kNone ? ModeKind::kCheckpoint : ModeKind::kPlot;
  if (way.source == Source::kPrepacked) {
    mode.prepare = [](Round& r) { r.data.ensure_packed(); };
  }
  mode.run = [way](Round& r) { write_file(r, way); };
  mode.file_runs = [way](Round& r) {
    if (way.compressed) {  // the mode that reads such a file compares its values
      return flash::FileRuns{r.path, {}, {}, 8, false};
    }
    return hdf5_file_runs(r.path, r.data, variables_of(r, way), way.conversion == Hdf5Conversion::kNone ? 8 : 4);
  };
  mode.check_lists = [](Round& r) { return check_hdf5_lists(r.path, r.data); };
  return mode;
}

void read_variable(Round& r, int64_t variable, hid_t file, hid_t transfer) {
  const int64_t side = r.data.unk.parameters().nxb;
  const BlockRows rows(r.data.unk.partition(), {side, side, side});
  const double start_s = flash::now_s();
  const std::string name = flash::variable_label(variable);
  const Hdf5Id dataset(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose, "open '" + name + "'");
  require(
      H5Dread(dataset, H5T_NATIVE_DOUBLE, rows.memory_space(), rows.file_space(), transfer, r.data.one_variable.data()) >= 0,
      "HDF5: cannot read '" + name + "'");
  const double unpack_start_s = flash::now_s();
  r.times.transfer_s += unpack_start_s - start_s;
  unpack_one_variable(r.data.one_variable.data(), variable, r.target);
  r.times.pack_s += flash::now_s() - unpack_start_s;
}

void read_file(Round& r, bool collective) {
  const Hdf5Id transfer = transfer_list(collective);
  read_hdf5_file(r, [&](hid_t file) {
    for (int64_t variable = 0; variable < r.data.unk.parameters().nvar; ++variable) {
      read_variable(r, variable, file, transfer);
    }
  });
}

Mode read_mode(const char* name, bool collective, bool compressed = false) {
  Mode mode;
  mode.name = name;
  mode.kind = ModeKind::kRead;
  mode.prepare = [compressed](Round& r) {
    const LimitTimes before = r.times;
    write_file(r, {.collective = compressed, .source = Source::kOnePass, .compressed = compressed});
    r.times = before;
  };
  mode.run = [collective](Round& r) { read_file(r, collective); };
  return mode;
}

}  // namespace

std::vector<Mode> hdf5_modes() {
  const auto library = Hdf5Conversion::kLibrary;
  const auto application = Hdf5Conversion::kApplication;
  return {hdf5_write_mode("hdf5-independent", {}),
          hdf5_write_mode("hdf5-collective", {.collective = true}),
          hdf5_write_mode("hdf5-independent+pack", {.source = Source::kOnePass}),
          hdf5_write_mode("hdf5-collective+pack", {.collective = true, .source = Source::kOnePass}),
          hdf5_write_mode("hdf5-independent-prepacked", {.source = Source::kPrepacked}),
          hdf5_write_mode("hdf5-collective-prepacked", {.collective = true, .source = Source::kPrepacked}),
          hdf5_write_mode("hdf5-independent-hyperslab", {.source = Source::kInPlace}, true),
          hdf5_write_mode("hdf5-collective-hyperslab", {.collective = true, .source = Source::kInPlace}, true),
          hdf5_write_mode("plot-hdf5-independent-libconv", {.conversion = library}),
          hdf5_write_mode("plot-hdf5-collective-libconv", {.collective = true, .conversion = library}),
          hdf5_write_mode("plot-hdf5-independent-appconv", {.conversion = application}),
          hdf5_write_mode("plot-hdf5-collective-appconv", {.collective = true, .conversion = application}),
          read_mode("read-hdf5-independent", false),
          read_mode("read-hdf5-collective", true),
          hdf5_write_mode("hdf5-collective-gzip", {.collective = true, .compressed = true}),
          read_mode("read-hdf5-collective-gzip", true, true)};
}

}  // namespace stria::bench
