// The command with the laboratory, where there is no MPI: `stria` becomes this program for papers
// and simulate, and to list what is installed.
#include "commands.hpp"
#include "program.hpp"

int main(int argc, char** argv) {
  using namespace stria::tool;
  return run_alone(alone(), argc, argv, [](Command app, Action& action) {
    add_commands(app, action);
    add_papers(app, action);
    add_simulate(app, action);
    app.footer("flash, convection, bench and tune need MPI, for which nothing is installed.");
  });
}
