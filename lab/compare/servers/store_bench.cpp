// Measures what the plainest operations cost on a store of `stria serve`, and on the machine
// without one: contiguous bytes beside a socket that drops them, a small request beside an echo,
// names, and pieces by list and by datatype.
//
// usage: store_bench MEASURE DIRECTORY SERVERS CYCLES SIZE
//   MEASURE: copy (SIZE: MiB), latency (requests), rate (requests of each of eight clients), names
//   (files), pieces (bytes of a piece), lists (pieces), cold (MiB, of a local directory on a disk)
//   DIRECTORY: stria://HOST:PORT/PATH, or a local one, to see what the client itself costs
//   SERVERS: process ids of the servers, with commas, whose processor time counts; 0: none
// Everything written is read again and compared. Prints one line of JSON; times are in seconds, one
// array entry per cycle.

#include <cstdlib>
#include <cstring>

#include "measures.hpp"
#include "storage/registry/registry.hpp"

namespace stria::bench {
namespace {

Arguments parse(int argc, char** argv) {
  if (argc != 6) {
    stop("usage: store_bench copy|latency|rate|names|pieces|lists|cold DIRECTORY SERVERS CYCLES SIZE");
  }
  Arguments arguments{argv[1], argv[2], {}, std::atoi(argv[4]), std::atoll(argv[5])};
  for (const char* at = argv[3]; at != nullptr; at = std::strchr(at, ',')) {
    at += *at == ',' ? 1 : 0;
    if (const int process = std::atoi(at); process > 0) {
      arguments.servers.push_back(process);
    }
  }
  need(arguments.size > 0, "SIZE is a number above 0");
  return arguments;
}

void run(const Arguments& arguments) {
  const std::map<std::string, Measure*> measures = {
      {"copy", measure_copy},     {"latency", measure_latency}, {"rate", measure_rate}, {"names", measure_names},
      {"pieces", measure_pieces}, {"lists", measure_lists},     {"cold", measure_cold}};
  const auto found = measures.find(arguments.measure);
  need(found != measures.end(), "no such measure");
  const auto driver = storage::make_driver("posix");
  need(driver.status());
  Figures figures;
  found->second(arguments, **driver, figures);
  figures.print();
}

}  // namespace
}  // namespace stria::bench

int main(int argc, char** argv) {
  stria::bench::run(stria::bench::parse(argc, argv));
  return 0;
}
