// The limits: the same bytes with plain system calls.
#include "limits/plain_file.hpp"
#include "peers/modes.hpp"

namespace stria::bench {
namespace {

using flash::LimitWay;

Mode limit_write_mode(const char* name, LimitWay way, bool packs = false) {
  Mode mode;
  mode.name = name;
  mode.prepare = [way, packs](Round& r) {
    if (!packs && way != LimitWay::kPackWhole && way != LimitWay::kPackStaged) {
      r.data.ensure_packed();
    }
  };
  mode.run = [way, packs](Round& r) {
    if (packs) {
      require(flash::timed(&r.times.pack_s, [&] { return r.data.limit.prepare_packed(); }));
    }
    require(r.data.limit.write(way, r.path, r.sync, &r.times));
  };
  mode.file_runs = [way](Round& r) { return r.data.limit.runs(way, r.path); };
  return mode;
}

Mode plot_mode() {
  Mode mode;
  mode.name = "plot-limit-pack";
  mode.kind = ModeKind::kPlot;
  mode.run = [](Round& r) { require(r.data.limit.write_plot(r.data.plot_variables, r.path, r.sync, &r.times)); };
  mode.file_runs = [](Round& r) { return r.data.limit.plot_runs(r.data.plot_variables, r.path); };
  return mode;
}

Mode limit_read_mode() {
  Mode mode;
  mode.name = "read-limit";
  mode.kind = ModeKind::kRead;
  mode.prepare = [](Round& r) {
    LimitTimes untimed;
    require(r.data.limit.write(LimitWay::kPackStaged, r.path, r.sync, &untimed));
  };
  mode.run = [](Round& r) { require(r.data.limit.read(r.path, r.target, &r.times)); };
  return mode;
}

}  // namespace

std::vector<Mode> limit_modes() {
  return {limit_write_mode("limit-contig", LimitWay::kContig),
          limit_write_mode("limit-pack-whole", LimitWay::kPackWhole),
          limit_write_mode("limit-pack-staged", LimitWay::kPackStaged),
          limit_write_mode("limit-fpp", LimitWay::kFilePerRank),
          limit_write_mode("limit-fpp+pack", LimitWay::kFilePerRank, true),
          limit_write_mode("limit-direct", LimitWay::kDirect),
          plot_mode(),
          limit_read_mode()};
}

}  // namespace stria::bench
