#include "hdf5/vol/symbols.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <span>

namespace stria::hdf5::vol {

namespace {

/// A file in memory; empty where it can't be read.
class Mapped {
 public:
  explicit Mapped(const char* path) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat about {};
    if (file >= 0 && fstat(file, &about) == 0 && about.st_size > 0) {
      const auto bytes = static_cast<size_t>(about.st_size);
      void* const memory = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0);
      if (memory != MAP_FAILED) {
        bytes_ = {static_cast<const char*>(memory), bytes};
      }
    }
    if (file >= 0) {
      ::close(file);
    }
  }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  ~Mapped() {
    if (!bytes_.empty()) {
      munmap(const_cast<char*>(bytes_.data()), bytes_.size());
    }
  }

  /// Returns `count` things from `offset` on; empty where they don't lie in the file.
  template <typename Thing>
  std::span<const Thing> things(size_t offset, size_t count) const {
    if (offset > bytes_.size() || count > (bytes_.size() - offset) / sizeof(Thing) || offset % alignof(Thing) != 0) {
      return {};
    }
    return {reinterpret_cast<const Thing*>(bytes_.data() + offset), count};
  }

 private:
  std::span<const char> bytes_;
};

/// Finds HDF5's functions in a section of symbols.
void read_section(const Mapped& file, const ElfW(Shdr) & table, std::span<const char> names, ElfW(Addr) bias,
                  std::unordered_map<std::string, void*>& found) {
  for (const ElfW(Sym) & symbol : file.things<ElfW(Sym)>(table.sh_offset, table.sh_size / sizeof(ElfW(Sym)))) {
    if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF || symbol.st_name + 2 >= names.size()) {
      continue;
    }
    const char* const name = names.data() + symbol.st_name;
    if (name[0] == 'H' && name[1] == '5') {
      found.emplace(name, reinterpret_cast<void*>(bias + symbol.st_value));  // NOLINT: an address
    }
  }
}

/// HDF5's functions in the table of symbols of a program or library, which a linker leaves in it
/// unless it is told to strip it.
std::unordered_map<std::string, void*> read_symbols(const char* path, ElfW(Addr) bias) {
  std::unordered_map<std::string, void*> found;
  const Mapped file(path);
  const auto header = file.things<ElfW(Ehdr)>(0, 1);
  if (header.empty() || std::memcmp(header[0].e_ident, ELFMAG, SELFMAG) != 0 || header[0].e_ident[EI_CLASS] != ELFCLASS64) {
    return found;
  }
  const auto sections = file.things<ElfW(Shdr)>(header[0].e_shoff, header[0].e_shnum);
  for (const ElfW(Shdr) & section : sections) {
    if (section.sh_type != SHT_SYMTAB || section.sh_link >= sections.size()) {
      continue;
    }
    const auto names = file.things<char>(sections[section.sh_link].sh_offset, sections[section.sh_link].sh_size);
    if (!names.empty() && names.back() == '\0') {
      read_section(file, section, names, bias, found);
    }
  }
  return found;
}

}  // namespace

Symbols::Symbols(const void* address) {
  Dl_info info{};
  link_map* map = nullptr;
  if (dladdr1(address, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0) {
    return;
  }
  base_ = info.dli_fbase;
  // The program itself has no name there.
  const bool is_program = map->l_name == nullptr || *map->l_name == '\0';
  file_ = is_program ? "/proc/self/exe" : map->l_name;
  handle_ = dlopen(is_program ? nullptr : map->l_name, RTLD_LAZY | RTLD_NOLOAD);
  if (find("H5VLdataset_write") == nullptr) {
    hidden_ = read_symbols(file_.c_str(), map->l_addr);
  }
}

void* Symbols::find(const char* name) const {
  void* const exported = handle_ == nullptr ? nullptr : dlsym(handle_, name);
  // The program's names include those of all libraries that it was linked with.
  if (Dl_info info{}; exported != nullptr && dladdr(exported, &info) != 0 && info.dli_fbase == base_) {
    return exported;
  }
  const auto hidden = hidden_.find(name);
  return hidden == hidden_.end() ? nullptr : hidden->second;
}

}  // namespace stria::hdf5::vol
