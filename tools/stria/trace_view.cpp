// stria trace view: the timeline page of a trace.
#include <fmt/format.h>

#include <filesystem>

#include "command.hpp"
#include "viewer/side_by_side.hpp"
#include "viewer/view_page.hpp"

namespace stria::tool {

namespace {

struct ViewOptions {
  std::string trace;
  std::string other;  ///< a second run, below the first; may be empty
  std::string output;
};

int run_view(Ranks& ranks, const ViewOptions& options) {
  std::string output = options.output;
  if (output.empty()) {
    output = std::filesystem::path(options.trace).replace_extension(".html").string();
  }
  check_writable(ranks, output);
  std::string page;
  on_root(ranks, [&] {
    page = view_page(trace::TraceFile::read(options.trace).value());
    if (!options.other.empty()) {
      page = side_by_side_page(page, view_page(trace::TraceFile::read(options.other).value()));
    }
  });
  write_text(ranks, output, page);
  print(ranks, fmt::format("{}: the {}; open it in a browser\n", output, options.other.empty() ? "timeline" : "two timelines"));
  return kDone;
}

}  // namespace

void add_trace_view(Command trace, Action& action) {
  auto options = std::make_shared<ViewOptions>();
  Command command = trace.add_subcommand("view", "one HTML page: what ran when, from the whole run to a microsecond");
  command.add_option("file", options->trace, "the trace").required();
  command.add_option("other", options->other, "a second trace, to see both in one page").check(not_empty());
  command.add_option("-o,--output", options->output, "the page (default: the trace's name with .html)").check(not_empty());
  command.callback([=, &action] { action = [=](Ranks& ranks) { return run_view(ranks, *options); }; });
}

}  // namespace stria::tool
