#include "io/limit_modes.hpp"

#include <map>
#include <utility>

namespace stria::flash {

namespace {

class LimitMode : public IoMode {
 public:
  LimitMode(IoArrays& arrays, LimitWay way, std::string name, std::string path)
      : arrays_(arrays), way_(way), name_(std::move(name)), path_(std::move(path)) {}

  std::string name() const override { return name_; }
  std::string file() const override { return path_; }
  int64_t useful_bytes() const override { return checkpoint_bytes(arrays_); }
  void run(std::map<std::string, double>& phases) override {
    LimitTimes times;
    arrays_.limits.write(way_, path_, arrays_.options.sync, &times).throw_if_error();
    phases = {{"open", times.open_s},
              {"pack", times.pack_s},
              {"write", times.transfer_s},
              {"sync", times.sync_s},
              {"commit", times.close_s}};
  }
  std::string check() override { return check_file_runs(arrays_.limits.runs(way_, path_), arrays_.unk); }
  void clean() override { arrays_.remove_file(path_); }

 private:
  IoArrays& arrays_;
  LimitWay way_;
  std::string name_;
  std::string path_;
};

class LimitPlotMode : public IoMode {
 public:
  LimitPlotMode(IoArrays& arrays, std::vector<int64_t> variables, std::string path)
      : arrays_(arrays), variables_(std::move(variables)), path_(std::move(path)) {}

  std::string name() const override { return "limit-plot"; }
  std::string kind() const override { return "plot"; }
  std::string file() const override { return path_; }
  int64_t useful_bytes() const override {
    return flash::useful_bytes(arrays_.options.workload, arrays_.partition.total, static_cast<int64_t>(variables_.size()),
                               sizeof(float));
  }
  void run(std::map<std::string, double>& phases) override {
    LimitTimes times;
    arrays_.limits.write_plot(variables_, path_, arrays_.options.sync, &times).throw_if_error();
    phases = {{"open", times.open_s},
              {"pack", times.pack_s},
              {"write", times.transfer_s},
              {"sync", times.sync_s},
              {"commit", times.close_s}};
  }
  std::string check() override { return check_file_runs(arrays_.limits.plot_runs(variables_, path_), arrays_.unk); }
  void clean() override { arrays_.remove_file(path_); }

 private:
  IoArrays& arrays_;
  std::vector<int64_t> variables_;
  std::string path_;
};

class LimitReadMode : public IoMode {
 public:
  LimitReadMode(IoArrays& arrays, std::string path)
      : arrays_(arrays), path_(std::move(path)), target_(Unk::create(arrays.options.workload, arrays.partition).value()) {
    target_.poison();
  }

  void prepare() override {
    LimitTimes times;
    arrays_.limits.write(LimitWay::kPackStaged, path_, false, &times).throw_if_error();
  }
  std::string name() const override { return arrays_.options.read_from.empty() ? "read-limit" : "restart-limit"; }
  std::string kind() const override { return "read"; }
  std::string file() const override { return path_; }
  int64_t useful_bytes() const override { return checkpoint_bytes(arrays_); }
  void run(std::map<std::string, double>& phases) override {
    LimitTimes times;
    arrays_.limits.read(path_, &target_, &times).throw_if_error();
    phases = {{"open", times.open_s}, {"unpack", times.pack_s}, {"read", times.transfer_s}, {"commit", times.close_s}};
  }
  std::string check() override { return target_.check_interior(); }
  void clean() override { arrays_.remove_file(path_); }

 private:
  IoArrays& arrays_;
  std::string path_;
  Unk target_;
};

class PackMode : public IoMode {
 public:
  explicit PackMode(IoArrays& arrays) : arrays_(arrays) {}

  void prepare() override { arrays_.limits.prepare_packed().throw_if_error(); }
  std::string name() const override { return "limit-memory"; }
  int64_t useful_bytes() const override { return checkpoint_bytes(arrays_); }
  void run(std::map<std::string, double>&) override { arrays_.limits.prepare_packed().throw_if_error(); }
  std::string check() override { return ""; }

 private:
  IoArrays& arrays_;
};

}  // namespace

std::unique_ptr<IoMode> make_limit_mode(IoArrays& arrays, LimitWay way, std::string name, std::string path) {
  return std::make_unique<LimitMode>(arrays, way, std::move(name), std::move(path));
}

std::unique_ptr<IoMode> make_plot_limit_mode(IoArrays& arrays, std::vector<int64_t> variables, std::string path) {
  return std::make_unique<LimitPlotMode>(arrays, std::move(variables), std::move(path));
}

std::unique_ptr<IoMode> make_limit_read_mode(IoArrays& arrays, std::string path) {
  return std::make_unique<LimitReadMode>(arrays, std::move(path));
}

std::unique_ptr<IoMode> make_pack_mode(IoArrays& arrays) {
  return std::make_unique<PackMode>(arrays);
}

}  // namespace stria::flash
