#include "peers/adios2_file.hpp"

#include <fmt/format.h>

#include <cstring>
#include <fstream>

namespace stria::bench {
namespace {

template <typename T>
void put_list(adios2::IO* io, adios2::Engine* engine, const flash::MetadataList& list, const BpRows& rows) {
  auto variable = io->DefineVariable<T>(list.hdf5_name, rows.all, rows.start, rows.count, adios2::ConstantDims);
  engine->Put(variable, static_cast<const T*>(list.data));
}

/// A file that one process reads.
class BpReader {
 public:
  explicit BpReader(const std::string& path) : adios_(MPI_COMM_SELF), io_(adios_.DeclareIO("read")) {
    io_.SetEngine("BP5");
    engine_ = io_.Open(path, adios2::Mode::ReadRandomAccess);
  }
  BpReader(const BpReader&) = delete;
  BpReader& operator=(const BpReader&) = delete;
  ~BpReader() { engine_.Close(); }

  template <typename T>
  std::vector<char> read(const std::string& name, const BpRows& rows) {
    auto variable = io_.InquireVariable<T>(name);
    require(static_cast<bool>(variable), "ADIOS2: no variable '" + name + "'");
    if (variable.Shape().size() > rows.all.size()) {  // written from a selection of memory
      BpRows deeper = rows;
      deeper.all.push_back(1), deeper.start.push_back(0), deeper.count.push_back(1);
      variable.SetSelection({deeper.start, deeper.count});
    } else {
      variable.SetSelection({rows.start, rows.count});
    }
    std::vector<T> values;
    engine_.Get(variable, values, adios2::Mode::Sync);
    std::vector<char> bytes(values.size() * sizeof(T));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
  }

 private:
  adios2::ADIOS adios_;
  adios2::IO io_;
  adios2::Engine engine_;
};

adios2::Dims dims(int64_t first, const std::vector<int64_t>& rest) {
  adios2::Dims all = {static_cast<size_t>(first)};
  all.insert(all.end(), rest.begin(), rest.end());
  return all;
}

}  // namespace

BpRows::BpRows(const flash::BlockPartition& partition, const std::vector<int64_t>& entry_shape)
    : all(dims(partition.total, entry_shape)),
      start(dims(partition.first, std::vector<int64_t>(entry_shape.size(), 0))),
      count(dims(partition.local, entry_shape)) {}

void put_bp_lists(adios2::IO* io, adios2::Engine* engine, const RankData& data) {
  for (const flash::MetadataList& list : metadata_lists(data.table)) {
    const BpRows rows(data.unk.partition(), list.entry_shape);
    if (list.is_integer) {
      put_list<int32_t>(io, engine, list, rows);
    } else {
      put_list<double>(io, engine, list, rows);
    }
  }
  std::vector<std::string> labels;
  for (int64_t variable = 0; variable < data.unk.parameters().nvar; ++variable) {
    labels.push_back(flash::variable_label(variable));
  }
  io->DefineAttribute<std::string>("unknown names", labels.data(), labels.size());
}

std::string check_bp_lists(const std::string& path, const RankData& data) {
  BpReader file(path);
  for (const flash::MetadataList& list : metadata_lists(data.table)) {
    const BpRows rows(data.unk.partition(), list.entry_shape);
    const std::vector<char> found =
        list.is_integer ? file.read<int32_t>(list.hdf5_name, rows) : file.read<double>(list.hdf5_name, rows);
    const size_t wanted_bytes = static_cast<size_t>(list.values) * (list.is_integer ? sizeof(int32_t) : sizeof(double));
    if (found.size() != wanted_bytes || std::memcmp(found.data(), list.data, wanted_bytes) != 0) {
      return path + ": the list '" + list.hdf5_name + "' is not what was written";
    }
  }
  return {};
}

flash::FileRuns export_bp_runs(const std::string& path, const RankData& data, const std::vector<int64_t>& variables,
                               int64_t element_bytes) {
  const int64_t side = data.unk.parameters().nxb;
  const BpRows rows(data.unk.partition(), {side, side, side});
  flash::FileRuns runs{fmt::format("{}/values.{}", path, data.unk.partition().first), variables, {}, element_bytes, false};
  BpReader file(path);
  std::ofstream values(runs.path, std::ios::binary);
  for (const int64_t variable : variables) {
    const std::string name = flash::variable_label(variable);
    const std::vector<char> bytes = element_bytes == 8 ? file.read<double>(name, rows) : file.read<float>(name, rows);
    runs.offsets_bytes.push_back(values.tellp());
    values.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  require(static_cast<bool>(values.flush()), "cannot write " + runs.path);
  return runs;
}

}  // namespace stria::bench
