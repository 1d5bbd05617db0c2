// stria trace export: traces for other viewers.
#include <fmt/format.h>

#include "stria/status.hpp"
#include "tracing/exporters.hpp"
#include "tracing/trace_command.hpp"

namespace stria::tool {

namespace {

struct ExportArguments {
  std::string file;
  std::string output;
  bool otf2 = false;
  bool chrome = false;
  bool parquet = false;
};

int run_export(Ranks& ranks, const ExportArguments& arguments) {
  on_root(ranks, [&] {
    const trace::TraceFile trace = read_trace(arguments.file);
    if (arguments.otf2) {
      export_otf2(trace, arguments.output);
    } else if (arguments.chrome) {
      export_chrome(trace, arguments.output);
    } else {
      export_parquet(trace, arguments.output);
    }
  });
  return kDone;
}

}  // namespace

void add_trace_export(Command group, Action& action) {
  auto arguments = std::make_shared<ExportArguments>();
  Command command = group.add_subcommand("export", "write a trace for another viewer: Vampir, Perfetto, pandas");
  command.add_option("file", arguments->file, "the trace").required();
  command.add_option("-o,--output", arguments->output, "what to write: a file, of OTF2 a directory").required();
  Command formats = command.add_option_group("format", "exactly one of them");
  formats.add_flag("--otf2", arguments->otf2, "an OTF2 archive, with I/O operations");
  formats.add_flag("--chrome", arguments->chrome, "Chrome's trace JSON, which Perfetto opens");
  formats.add_flag("--parquet", arguments->parquet, "a Parquet table; needs Python with pyarrow");
  formats.require_one_option();
  command.callback([=, &action] { action = [=](Ranks& ranks) { return run_export(ranks, *arguments); }; });
}

}  // namespace stria::tool
