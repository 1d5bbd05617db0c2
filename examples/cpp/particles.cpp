// Particles: each rank has another number of them, in an array of structs; the file has one dataset
// a member, the particles of rank 0 first.
//   mpiexec -n 4 ./particles_cpp particles.h5
#include <mpi.h>

#include <cstdio>
#include <stria/file.hpp>

struct Particle {
  double x, y;
  float mass;
  int64_t id;
};

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int64_t mine = 1000 + 10 * rank;
  std::vector<Particle> particles(static_cast<size_t>(mine));
  for (int64_t i = 0; i < mine; ++i) {
    particles[static_cast<size_t>(i)] = {0.5 * static_cast<double>(i), -1.0 * rank, 2, 100000 * rank + i};
  }
  {
    stria::File file = stria::File::create(MPI_COMM_WORLD, argc > 1 ? argv[1] : "particles.h5");
    const stria::Rows rows = file.place_rows(mine);  // where this rank's go, and how many all have
    const auto put = [&](const char* name, auto member, stria::ElementType type) {
      file.create_dataset(name, type, {rows.total}).put_rows(rows, stria::Memory::member(particles.data(), mine, member));
    };
    put("x", &Particle::x, stria::ElementType::kFloat64);
    put("y", &Particle::y, stria::ElementType::kFloat64);
    put("mass", &Particle::mass, stria::ElementType::kFloat32);
    put("id", &Particle::id, stria::ElementType::kInt64);
    file.set_attribute("/", "time", 0.25);
    file.commit();
    if (rank == 0) {
      std::printf("%lld particles\n", static_cast<long long>(rows.total));
    }
  }
  MPI_Finalize();
  return 0;
}
