// stria papers: experiments of five papers, run by Python scripts that come with the program.
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <memory>

#include "command.hpp"
#include "stria/status.hpp"

namespace stria::tool {

namespace {

struct PapersArguments {
  std::vector<std::string> ids;
  int cycles = 3;
  bool quick = false;
  std::string directory;
  std::string output = "out/papers";
};

// An installed program has its scripts under share/, one in its build tree in the source.
std::string find_script() {
  const auto place = std::filesystem::path(own_program()).parent_path();
  for (const char* candidate : {"../share/stria/papers/bench/run_papers.py", "../../../bench/run_papers.py"}) {
    std::error_code ignored;
    if (auto found = (place / candidate).lexically_normal(); std::filesystem::exists(found, ignored)) {
      return found;
    }
  }
  throw Error(ErrorCode::kNotFound,
              fmt::format("no scripts of the papers' experiments beside '{}' (../share/stria/papers)", place.string()));
}

[[noreturn]] void run_script(const std::vector<std::string>& words) {
  const char* chosen = std::getenv("STRIA_PYTHON");
  std::vector<std::string> all{chosen == nullptr || *chosen == '\0' ? "python3" : chosen, "-B", find_script()};
  all.insert(all.end(), words.begin(), words.end());
  setenv("STRIA_PROGRAM", own_program().c_str(), 1);
  become(std::move(all));
}

[[noreturn]] void run_scripts(const PapersArguments& arguments) {
  std::vector<std::string> words{"run"};
  words.insert(words.end(), arguments.ids.begin(), arguments.ids.end());
  words.insert(words.end(), {"--cycles", std::to_string(arguments.cycles), "--out", arguments.output});
  if (!arguments.directory.empty()) {
    words.insert(words.end(), {"--dir", arguments.directory});
  }
  if (arguments.quick) {
    words.emplace_back("--quick");
  }
  run_script(words);
}

}  // namespace

void add_papers(Command app, Action& action) {
  Command papers = app.add_subcommand("papers", "experiments of five papers, their figures beside ours on a page");
  papers.require_subcommand();
  Command list = papers.add_subcommand("list", "the experiments by their ids");
  list.callback([&action] { action = [](Ranks&) -> int { run_script({"list"}); }; });
  auto arguments = std::make_shared<PapersArguments>();
  Command command = papers.add_subcommand("run", "run experiments, and write the page");
  command.add_option("ids", arguments->ids, "experiments, or all").required();
  command.add_flag("--quick", arguments->quick, "small sizes, some minutes");
  command.add_option("--cycles", arguments->cycles, "times that every variant runs").check(in_range(1, 1000)).show_default();
  command.add_option("--dir", arguments->directory, "where the store and the files are made").check(not_empty());
  command.add_option("--out", arguments->output, "where the page goes").check(not_empty()).show_default();
  command.callback([arguments, &action] { action = [arguments](Ranks&) -> int { run_scripts(*arguments); }; });
}

}  // namespace stria::tool
