// SPDX-License-Identifier: Apache-2.0

// From a file that the system holds in memory to the image and to its catalogue, in one process,
// with every buffer there already. TMPDIR says where the file is: 1 GiB for 16384 x 16384 float32.

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <kastor/io/fits_writer.hpp>
#include <kastor/io/image_reader.hpp>
#include <kastor/source_finder.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "benchmarks.hpp"

namespace {

namespace ts = testing_support;
namespace io = kastor::io;

/// The simulated sky as a file. Kept until another is asked for.
template <class T>
class SkyFile {
 public:
  static const std::string& of(std::int64_t n) {
    static SkyFile file;
    if (file.m_size != n) file.write(n);
    return file.m_path;
  }
  ~SkyFile() {
    std::error_code ignored;
    if (!m_folder.empty()) std::filesystem::remove_all(m_folder, ignored);
  }
  SkyFile(const SkyFile&) = delete;
  SkyFile& operator=(const SkyFile&) = delete;

 private:
  SkyFile() = default;

  void write(std::int64_t n) {
    if (m_folder.empty()) {
      m_folder = std::filesystem::temp_directory_path() / "kastor-bench-XXXXXX";
      if (::mkdtemp(m_folder.data()) == nullptr) {
        m_folder.clear();
        throw std::runtime_error("no temporary folder can be made");
      }
      m_path = m_folder + "/sky.fits";
    }
    using Host = Kokkos::DefaultHostExecutionSpace;
    kastor::SkyParams params;
    params.ny = n;
    params.nx = n;
    const kastor::Image<T, Host> sky(
        Kokkos::view_alloc(Kokkos::WithoutInitializing, "bench::sky_of_file"), n, n);
    const Host host;
    kastor::simulate_sky<Host, T>(host, params, kastor::sky_truth(params), sky);
    host.fence("bench::the sky is there");
    std::filesystem::remove(m_path);
    io::write_image(m_path, io::pixel_rows(sky), {}, {});
    m_size = n;
  }

  std::string m_folder;
  std::string m_path;
  std::int64_t m_size = 0;
};

/// What `cat FILE > /dev/null` does: one thread, one buffer that stays in its cache [s].
double seconds_of_cat(const std::string& path) {
  std::vector<std::byte> buffer(std::size_t{1} << 17);
  const Kokkos::Timer timer;
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) throw std::runtime_error(path + " cannot be opened");
  std::int64_t at = 0;
  for (ssize_t got = 1; got > 0; at += got) got = ::pread(file, buffer.data(), buffer.size(), at);
  ::close(file);
  benchmark::DoNotOptimize(buffer.data());
  return timer.seconds();
}

double best_of_cats(const std::string& path) {
  double best = seconds_of_cat(path);
  for (int repeat = 0; repeat < 4; ++repeat) best = std::min(best, seconds_of_cat(path));
  return best;
}

/// Times `call` alone. `cats`: how many times `cat` takes as long.
template <class T, class Call>
void time_on_file(benchmark::State& state, const Call& call) {
  const std::int64_t n = state.range(0);
  const std::string& path = SkyFile<T>::of(n);
  const double cat = best_of_cats(path);
  call(path);
  double total = 0;
  for (auto _ : state) {
    const Kokkos::Timer timer;
    call(path);
    const double seconds = timer.seconds();
    total += seconds;
    state.SetIterationTime(seconds);
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * n * n);
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * n * n *
                          static_cast<std::int64_t>(sizeof(T)));
  state.counters["cats"] = total / static_cast<double>(state.iterations()) / cat;
}

template <class Exec, class T>
void bm_cat(benchmark::State& state) {
  time_on_file<T>(state, [](const std::string& path) { (void)seconds_of_cat(path); });
}

template <class Exec, class T>
void bm_read(benchmark::State& state) {
  io::ImageReader<Exec> read(Exec{});
  io::LoadedImage<Exec> image;
  time_on_file<T>(state, [&](const std::string& path) { read(path, {}, image); });
}

/// What a device gains by decoding itself.
template <class Exec, class T>
void bm_read_by_host(benchmark::State& state) {
  io::ImageReader<Exec> read(Exec{}, {io::ImageRoute::host});
  io::LoadedImage<Exec> image;
  time_on_file<T>(state, [&](const std::string& path) { read(path, {}, image); });
}

/// The whole job. `compute`: the part of it that is not reading [s].
template <class Exec, class T>
void bm_find_in_file(benchmark::State& state) {
  const Exec space;
  io::ImageReader<Exec> read(space);
  io::LoadedImage<Exec> image;
  kastor::SourceFinder<Exec, T> find(space);
  double compute = 0;
  std::int64_t calls = 0;
  time_on_file<T>(state, [&](const std::string& path) {
    read(path, {}, image);
    const Kokkos::Timer timer;
    benchmark::DoNotOptimize(find(std::get<kastor::Image<T, Exec>>(image.pixels)));
    if (calls++ > 0) compute += timer.seconds();  // the first allocates
  });
  state.counters["compute"] = compute / static_cast<double>(calls - 1);
}

/// As many bytes from pinned memory, nothing else: what reading to a device cannot be faster than.
template <class Exec, class T>
void bm_pinned_upload(benchmark::State& state) {
  const Exec space;
  const auto n = static_cast<std::size_t>(state.range(0));
  const Kokkos::View<T**, Kokkos::LayoutRight, Kokkos::SharedHostPinnedSpace> host("bench::pinned",
                                                                                   n, n);
  const kastor::Image<T, Exec> image("bench::image", n, n);
  for (auto _ : state) {
    space.fence("bench::before");
    const Kokkos::Timer timer;
    Kokkos::deep_copy(space, image, host);
    space.fence("bench::after");
    state.SetIterationTime(timer.seconds());
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) *
                          static_cast<std::int64_t>(n * n * sizeof(T)));
}

template <class Exec, class T>
void register_all() {
  if constexpr (std::is_same_v<Exec, Kokkos::DefaultHostExecutionSpace>)
    ts::register_on_sizes<Exec, T>("fits_cat", bm_cat<Exec, T>);
  ts::register_on_sizes<Exec, T>("fits_read", bm_read<Exec, T>);
  ts::register_on_sizes<Exec, T>("fits_find", bm_find_in_file<Exec, T>);
  if constexpr (!kastor::is_host_space_v<Exec>) {
    ts::register_on_sizes<Exec, T>("fits_read_by_host", bm_read_by_host<Exec, T>);
    ts::register_on_sizes<Exec, T>("pinned_upload", bm_pinned_upload<Exec, T>);
  }
}

#define KASTOR_REGISTER(EXEC, T) register_all<EXEC, T>();

[[maybe_unused]] const bool registered = [] {
  KASTOR_FOR_EACH_EXEC_AND_REAL(KASTOR_REGISTER)
  return true;
}();

}  // namespace
