#include "file/parts/home_turns.hpp"

#include <algorithm>
#include <map>
#include <mutex>

#include "storage/path.hpp"

namespace stria::file {

namespace {

struct Turns {
  std::mutex mutex;
  std::map<std::string, int64_t> away;  // files since the last that stayed at home, by their names
};

Turns& turns() {
  static auto* const all = new Turns;  // threads may outlive static objects
  return *all;
}

// "dir/chk_0012" and "dir/chk_0013" are one program's checkpoints.
std::string family_of(const std::string& path) {
  const size_t name = path.size() - storage::file_name_of(path).size();
  std::string family = path;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  family.erase(std::remove_if(family.begin() + static_cast<std::ptrdiff_t>(name), family.end(), is_digit), family.end());
  return family;
}

}  // namespace

bool is_turn_of_home(const std::string& path, int64_t every) {
  const std::lock_guard lock(turns().mutex);
  const auto known = turns().away.find(family_of(path));
  const int64_t away = known == turns().away.end() ? 0 : known->second;
  return every > 0 && away + 1 >= every;
}

void note_turn(const std::string& path, bool stayed_home) {
  const std::lock_guard lock(turns().mutex);
  int64_t& away = turns().away[family_of(path)];
  away = stayed_home ? 0 : away + 1;
}

}  // namespace stria::file
