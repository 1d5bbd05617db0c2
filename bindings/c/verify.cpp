// Verification of files.
#include "handles.hpp"

using stria::c::given;
using stria::c::guarded;
using stria::c::text;

struct stria_verdict {
  std::vector<stria::Damage> found;
  std::vector<stria_damage> damage;
  stria_list remarks;
};

int stria_has_checksums(const stria_file* file, int* has) {
  return guarded([&] { given(has, "has") = given(file, "file").file.has_checksums() ? 1 : 0; });
}

int stria_verify(stria_file* file, stria_verdict** verdict) {
  return stria_verify_except(file, 0, nullptr, verdict);
}

int stria_verify_except(stria_file* file, int64_t count, const char* const* except, stria_verdict** verdict) {
  return guarded([&] {
    std::vector<std::string> left_out;
    for (int64_t i = 0; i < count; ++i) {
      left_out.push_back(text((&given(except, "except"))[i]));
    }
    auto made = std::make_unique<stria_verdict>();
    made->found = given(file, "file").file.verify(&made->remarks.strings, left_out);
    for (const stria::Damage& one : made->found) {
      made->damage.push_back({one.dataset.c_str(), one.first_row, one.last_row});
    }
    given(verdict, "verdict") = made.release();
  });
}

int64_t stria_verdict_size(const stria_verdict* verdict) {
  return verdict == nullptr ? 0 : static_cast<int64_t>(verdict->damage.size());
}

const stria_damage* stria_verdict_at(const stria_verdict* verdict, int64_t index) {
  return index < 0 || index >= stria_verdict_size(verdict) ? nullptr : &verdict->damage[static_cast<size_t>(index)];
}

const stria_list* stria_verdict_remarks(const stria_verdict* verdict) {
  return verdict == nullptr ? nullptr : &verdict->remarks;
}

void stria_verdict_free(stria_verdict* verdict) {
  delete verdict;
}
