#include "mpiio/file/handles.hpp"

#include <atomic>
#include <map>
#include <mutex>
#include <shared_mutex>

#include "mpiio/file/file.hpp"

namespace stria::mpiio {

namespace {

struct Table {
  std::shared_mutex mutex;
  std::map<MPI_Fint, std::shared_ptr<File>> files;  // by the number that Fortran uses
  std::map<const File*, MPI_Fint> numbers;
  MPI_Fint next = 1;  // 0 is MPI_FILE_NULL in the Fortran of every MPI
  std::atomic<uint64_t> changes{0};
};

Table& table() {
  static Table* instance = new Table;
  return *instance;
}

const File* address_in(MPI_File handle) {
  return reinterpret_cast<const File*>(handle);
}

}  // namespace

std::shared_ptr<File> find_file(MPI_File handle) {
  // Says what the thread found last, because there are many small accesses to one file. Entries of
  // the table don't move.
  struct Last {
    MPI_File handle{};
    uint64_t changes = 0;
    const std::shared_ptr<File>* file = nullptr;
  };
  static constinit thread_local Last last __attribute__((tls_model("initial-exec"))) = {};
  if (last.file != nullptr && last.handle == handle && last.changes == table().changes.load(std::memory_order_acquire)) {
    return *last.file;
  }
  std::shared_lock lock(table().mutex);
  auto number = table().numbers.find(address_in(handle));
  if (number == table().numbers.end()) {
    return nullptr;
  }
  last = {handle, table().changes.load(), &table().files.find(number->second)->second};
  return *last.file;
}

MPI_File handle_of(const File& file) {
  return reinterpret_cast<MPI_File>(const_cast<File*>(&file));
}

void add_file(const std::shared_ptr<File>& file) {
  std::unique_lock lock(table().mutex);
  table().files[table().next] = file;
  table().numbers[file.get()] = table().next;
  ++table().next;
  table().changes.fetch_add(1);
}

void remove_file(const File& file) {
  std::unique_lock lock(table().mutex);
  auto number = table().numbers.find(&file);
  if (number != table().numbers.end()) {
    table().changes.fetch_add(1);
    table().files.erase(number->second);
    table().numbers.erase(number);
  }
}

std::vector<std::shared_ptr<File>> open_files() {
  std::shared_lock lock(table().mutex);
  std::vector<std::shared_ptr<File>> all;
  for (const auto& [number, file] : table().files) {
    all.push_back(file);
  }
  return all;
}

MPI_Fint file_to_fortran(MPI_File handle) {
  std::shared_lock lock(table().mutex);
  auto number = table().numbers.find(address_in(handle));
  return number == table().numbers.end() ? 0 : number->second;
}

MPI_File file_from_fortran(MPI_Fint number) {
  std::shared_lock lock(table().mutex);
  auto entry = table().files.find(number);
  return entry == table().files.end() ? MPI_FILE_NULL : handle_of(*entry->second);
}

Outcome not_open() {
  return {MPI_ERR_FILE, "the handle is not that of an open file"};
}

Handler handler_of(const File* file) {
  return file == nullptr ? default_handler() : file->handler();
}

uint16_t trace_id_of(const File* file) {
  return file == nullptr ? uint16_t{0} : file->trace().id();
}

void set_handler(File& file, const Handler& handler) {
  file.set_handler(handler);
}

}  // namespace stria::mpiio
