#include "ranks.hpp"

namespace stria::tool {

namespace {

class Alone : public Ranks {
 public:
  int rank() const override { return 0; }
  Status agree(const Status& mine) override { return mine; }
  File open(const std::string& path) override { return File::open(path); }
};

}  // namespace

Ranks& alone() {
  static Alone process;
  return process;
}

}  // namespace stria::tool
