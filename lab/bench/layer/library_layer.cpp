// Writes and reads through Stria's own interface: each array is a dataset, and one commit moves all
// parts.
#include "container/formats/formats.hpp"
#include "layer/layer.hpp"
#include "storage/registry/registry.hpp"
#include "stria/file.hpp"
#include "trace/record/recorder.hpp"

namespace stria::bench {

namespace {

/// Numbers of the file that elements are made of: one, or several along a last dimension.
struct Numbers {
  ElementType type;
  int64_t count;
};

Numbers numbers_of(const Array& array) {
  if (array.element_bytes % 8 == 0) {
    return {ElementType::kFloat64, array.element_bytes / 8};
  }
  return array.element_bytes % 4 == 0 ? Numbers{ElementType::kInt32, array.element_bytes / 4}
                                      : Numbers{ElementType::kUint8, array.element_bytes};
}

Hyperslab hyperslab(const Selection& selection, const Numbers& numbers) {
  if (!selection.places.empty()) {
    throw Error(ErrorCode::kUnsupported, "the library takes hyperslabs, and no list of places: use --through mpiio or posix");
  }
  Hyperslab slab{selection.start, selection.count, selection.stride, selection.block};
  if (numbers.count > 1) {
    slab.start.push_back(0);
    slab.count.push_back(1);
    slab.stride.push_back(numbers.count);
    slab.block.push_back(numbers.count);
  }
  return slab;
}

Memory memory_of(const Job& job, const Part& part) {
  const Array& array = job.workload.arrays[part.array];
  const Selection& s = part.memory;
  const Numbers numbers = numbers_of(array);
  if (s.is_box()) {
    std::vector<int64_t> size;
    for (size_t d = 0; d < s.dims.size(); ++d) {
      size.push_back(s.along(d));
    }
    const Datatype element = Datatype::bytes(array.element_bytes);
    return Memory(job.memory + part.memory_bytes, Datatype::subarray(s.dims, size, s.start, Order::kC, element).value(),
                  numbers.type);
  }
  const Datatype block = Datatype::bytes(s.block[0] * array.element_bytes);
  return Memory(job.memory + part.memory_bytes + s.start[0] * array.element_bytes,
                Datatype::hvector(s.count[0], 1, s.stride[0] * array.element_bytes, block).value(), numbers.type);
}

class LibraryLayer : public Layer {
 public:
  LibraryLayer(MPI_Comm comm, const LayerOptions& options) : comm_(comm), options_(options) {}

  Told write(const Job& job) override {
    Told told;
    for (int i = 0; i < job.workload.files; ++i) {
      CreateOptions create{options_.hints, options_.sync, options_.checksums};
      if (job.workload.overlaps) {
        create.hints.emplace("stria_put_overlaps", "enable");
      }
      const std::string path = path_of(options_, job, i);
      const Requests before(path);
      File file = job.workload.is_file_a_rank ? File::create(path, create) : File::create(comm_, path, create);
      std::vector<Dataset> datasets;
      for (const Array& array : job.workload.arrays) {
        const Numbers numbers = numbers_of(array);
        std::vector<int64_t> dims = array.dims;
        if (numbers.count > 1) {
          dims.push_back(numbers.count);
        }
        datasets.push_back(file.create_dataset(array.name, numbers.type, dims));
      }
      for_each_part(job, [&](const Part& part, const Numbers& numbers) {
        datasets[part.array].put(hyperslab(part.file, numbers), memory_of(job, part));
      });
      file.commit();
      tell(file, Requests(path), before, told);
    }
    return told;
  }

  Told read(const Job& job) override {
    Told told;
    for (int i = 0; i < job.workload.files; ++i) {
      const std::string path = path_of(options_, job, i);
      const Requests before(path);
      File file = job.workload.is_file_a_rank ? File::open(path, {options_.hints}) : File::open(comm_, path, {options_.hints});
      for_each_part(job, [&](const Part& part, const Numbers& numbers) {
        file.dataset(job.workload.arrays[part.array].name).get(hyperslab(part.file, numbers), memory_of(job, part));
      });
      file.commit();
      tell(file, Requests(path), before, told);
    }
    return told;
  }

  std::vector<int64_t> places(const Job& job) override {
    const auto driver = storage::make_driver("posix").value();
    const auto file = driver->open(path_of(options_, job), {}).value();
    const auto reader = container::open_file(*file).value();
    std::vector<int64_t> places;
    for (const Array& array : job.workload.arrays) {
      places.push_back(reader->dataset(array.name).value().spec.data_offset);
    }
    return places;
  }

 private:
  /// Counts this rank's requests to the storage for a file so far.
  struct Requests {
    explicit Requests(const std::string& path) {
      trace::Recorder& recorder = trace::Recorder::instance();
      const auto values = recorder.counters(recorder.file(path)).values();
      const auto sum = [&](trace::Counter a, trace::Counter b) {
        return values[static_cast<size_t>(a)] + values[static_cast<size_t>(b)];
      };
      count = sum(trace::Counter::kReadRequests, trace::Counter::kWriteRequests);
      bytes = sum(trace::Counter::kBytesRead, trace::Counter::kBytesWritten);
    }
    int64_t count = 0;
    int64_t bytes = 0;
  };

  template <typename Take>
  static void for_each_part(const Job& job, Take take) {
    for (const Call& call : job.workload.calls) {
      for (const Part& part : call.parts) {
        take(part, numbers_of(job.workload.arrays[part.array]));
      }
    }
  }

  static void tell(const File& file, const Requests& now, const Requests& before, Told& told) {
    const Report& report = file.report();
    for (size_t i = 0; i < kPhaseCount; ++i) {
      told.phases[phase_name(static_cast<Phase>(i))] += report.phases[static_cast<Phase>(i)];
    }
    told.method = report.method;
    told.reason = report.reason;
    told.requests = std::max<int64_t>(told.requests, 0) + now.count - before.count;
    told.request_bytes = std::max<int64_t>(told.request_bytes, 0) + now.bytes - before.bytes;
  }

  MPI_Comm comm_;
  LayerOptions options_;
};

}  // namespace

std::unique_ptr<Layer> make_library_layer(MPI_Comm comm, const LayerOptions& options) {
  return std::make_unique<LibraryLayer>(comm, options);
}

}  // namespace stria::bench
