// SPDX-License-Identifier: Apache-2.0
#include <Kokkos_Core.hpp>
#include <algorithm>
#include <kastor/detail/instantiations.hpp>
#include <kastor/error.hpp>
#include <kastor/io/image_reader.hpp>
#include <type_traits>
#include <utility>
#include <vector>

#include "io/fits/datasum.hpp"
#include "io/fits/decode_band.hpp"
#include "io/fits/plain_pixels.hpp"
#include "io/fits/stored_image.hpp"

namespace kastor::io {
namespace {

using detail::Datasum;
using detail::PlainLayout;
using detail::StoredImage;

/// Memory for an image. Uses that of `former` if it fits and nothing else holds it; otherwise frees
/// it first.
template <class T, class Exec>
Image<T, Exec> device_pixels(const Exec& space, const StoredImage& stored,
                             LoadedImage<Exec>& former) {
  const auto ny = static_cast<std::size_t>(stored.section.ny);
  const auto nx = static_cast<std::size_t>(stored.section.nx);
  // Work on the former image is on this instance.
  space.fence("kastor::read_image: the memory is free");
  if (const auto* pixels = std::get_if<Image<T, Exec>>(&former.pixels);
      pixels != nullptr && pixels->use_count() == 1 && pixels->extent(0) == ny &&
      pixels->extent(1) == nx && pixels->span_is_contiguous()) {
    return *pixels;
  }
  former.pixels = {};
  Image<T, Exec> pixels(
      Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "kastor::read_image::image"), ny, nx);
  space.fence("kastor::read_image: the memory is there");  // for the other instances
  return pixels;
}

/// Floats with a scaling are decoded on the host: the device's arithmetic gives other NaNs.
bool device_decodes(const StoredImage& stored, const PlainLayout& layout) {
  return stored.about.hdu.bitpix > 0 || layout.scaling.is_identity();
}

/// One buffer of the ring, and what copies it to the device. Its instance handles one band after
/// another, so a fence of the instance frees the buffer.
template <class Exec>
struct Slot {
  using Bytes = Kokkos::View<std::byte*, typename Exec::memory_space>;
  using PinnedBytes = Kokkos::View<std::byte*, Kokkos::SharedHostPinnedSpace>;

  Exec space;
  PinnedBytes pinned;
  Bytes staging;  // for bands that are not decoded in place
};

template <class View>
void grow(View& view, const std::string& label, std::int64_t bytes) {
  const auto length = static_cast<std::size_t>(bytes);
  if (view.extent(0) >= length) return;
  view = {};
  view = View(Kokkos::view_alloc(Kokkos::WithoutInitializing, label), length);
}

template <class Exec>
std::vector<Slot<Exec>> make_slots(const Exec& space, int count) {
  const auto n = static_cast<std::size_t>(count);
  // Several instances are of no use on a host: they would divide its threads.
  if constexpr (is_host_space_v<Exec>) return {n, Slot<Exec>{space, {}, {}}};
  std::vector<Slot<Exec>> slots;
  for (const Exec& instance :
       Kokkos::Experimental::partition_space(space, std::vector<int>(n, 1))) {
    slots.push_back({instance, {}, {}});
  }
  return slots;
}

/// Copies the bands of one image to a device and decodes them.
template <class Exec>
class Upload {
 public:
  using Sums = Kokkos::View<std::uint64_t*, typename Exec::memory_space>;

  Upload(std::vector<Slot<Exec>>& slots, std::int64_t band_bytes, Sums& sums)
      : m_slots(slots), m_band_bytes(band_bytes), m_sums(sums) {}
  /// No copy may be in flight when the memory is freed, not even after a failure.
  ~Upload() {
    try {
      if (m_under_way) wait();
    } catch (...) {  // NOLINT(bugprone-empty-catch): the failure being reported comes first
    }
  }
  Upload(const Upload&) = delete;
  Upload& operator=(const Upload&) = delete;

  /// Enqueues everything; waits only for the reading.
  template <class Raw, class T>
  void run(const StoredImage& stored, const PlainLayout& layout, int threads, T* pixels) {
    constexpr std::int64_t size = sizeof(Raw);
    const std::int64_t band = band_of(layout.bytes());
    grow(m_sums, "kastor::read_image::sums", (layout.bytes() + band - 1) / band);
    std::int64_t number = 0;
    m_under_way = true;
    for (std::int64_t at = 0; at < layout.bytes(); at += band, ++number) {
      auto& slot = m_slots[static_cast<std::size_t>(number) % m_slots.size()];
      const std::int64_t length = std::min(band, layout.bytes() - at);
      slot.space.fence("kastor::read_image: the buffer is free");
      grow(slot.pinned, "kastor::read_image::pinned", band);
      detail::read_bytes(stored.file, layout.begin + at, length, threads, slot.pinned.data());
      T* out = pixels + at / size;
      const std::byte* bytes = copy<Raw>(slot, length, out);
      const Kokkos::View<std::uint64_t, typename Exec::memory_space,
                         Kokkos::MemoryTraits<Kokkos::Unmanaged>>
          sum(m_sums.data() + number);
      Kokkos::parallel_reduce(
          "kastor::read_image::decode",
          Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(slot.space, 0, length / size),
          detail::decode_band<Raw>(bytes, layout.scaling, out), sum);
    }
    m_bands = number;
    m_offset = layout.begin - layout.unit.start;
    m_step = band;
  }

  /// Waits for all bands. Returns the DATASUM of the whole image.
  [[nodiscard]] Datasum sum(const Exec& space) {
    wait();
    const Kokkos::View<std::uint64_t*, Kokkos::HostSpace> host(
        Kokkos::view_alloc(Kokkos::WithoutInitializing, "kastor::read_image::host_sums"),
        static_cast<std::size_t>(m_bands));
    Kokkos::deep_copy(space, host,
                      Kokkos::subview(m_sums, Kokkos::make_pair(std::int64_t{0}, m_bands)));
    space.fence("kastor::read_image: the sums are on the host");
    Datasum sum;
    for (std::int64_t i = 0; i < m_bands; ++i)
      sum.add(m_offset + i * m_step, host(static_cast<std::size_t>(i)));
    return sum;
  }

 private:
  /// Page-locking memory takes about 0.3 ms a MiB, so small images use a part of the buffers only.
  [[nodiscard]] std::int64_t band_of(std::int64_t bytes) const {
    constexpr std::int64_t mebibyte = std::int64_t{1} << 20;
    const std::int64_t share = (bytes / 16 + 15) / 16 * 16;
    return std::min({m_band_bytes, std::max(share, mebibyte), bytes});
  }

  void wait() {
    m_under_way = false;
    for (const auto& slot : m_slots) slot.space.fence("kastor::read_image: the band is there");
  }

  /// Copies a band to the device; returns the address of its bytes there.
  template <class Raw, class T>
  const std::byte* copy(Slot<Exec>& slot, std::int64_t length, T* out) {
    using Target = Kokkos::View<std::byte*, typename Exec::memory_space,
                                Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
    std::byte* target = nullptr;
    if constexpr (std::is_same_v<Raw, T>) {
      target = reinterpret_cast<std::byte*>(out);
    } else {
      grow(slot.staging, "kastor::read_image::staging",
           static_cast<std::int64_t>(slot.pinned.extent(0)));
      target = slot.staging.data();
    }
    Kokkos::deep_copy(slot.space, Target(target, static_cast<std::size_t>(length)),
                      Kokkos::subview(slot.pinned, Kokkos::make_pair(std::int64_t{0}, length)));
    return target;
  }

  std::vector<Slot<Exec>>& m_slots;
  std::int64_t m_band_bytes;
  Sums& m_sums;
  bool m_under_way = false;
  std::int64_t m_bands = 0;
  std::int64_t m_offset = 0;  // offset of the first band in the data unit
  std::int64_t m_step = 0;
};

}  // namespace

template <class Exec>
struct ImageReader<Exec>::Plan {
  Plan(const Exec& instance, const ImageReaderParams& params)
      : space(instance),
        through_buffers(params.route == ImageRoute::buffers ||
                        (params.route == ImageRoute::automatic && !is_host_space_v<Exec>)) {
    KASTOR_EXPECTS("kastor::io::ImageReader", params.buffers >= 1,
                   "buffers is " + std::to_string(params.buffers) + "; expected 1 or more");
    KASTOR_EXPECTS(
        "kastor::io::ImageReader", params.buffer_bytes >= 16,
        "buffer_bytes is " + std::to_string(params.buffer_bytes) + "; expected 16 or more");
    // Whole pixels and whole words of the DATASUM.
    band_bytes = params.buffer_bytes / 16 * 16;
    if (through_buffers) slots = make_slots(space, params.buffers);
  }

  template <class T>
  void load_directly(const StoredImage& stored, const PlainLayout& layout, int threads,
                     LoadedImage<Exec>& image) {
    image.about = stored.about;  // set first: if memory is short, it shows for which image
    const auto pixels = device_pixels<T>(space, stored, image);
    Datasum sum;
    {
      Upload<Exec> upload(slots, band_bytes, sums);
      const int bitpix = stored.about.hdu.bitpix;
      const auto run = [&]<class Raw>(Raw) {
        upload.template run<Raw, T>(stored, layout, threads, pixels.data());
      };
      if constexpr (std::is_same_v<T, float>) {
        if (bitpix == 8) run(std::uint8_t{});
        if (bitpix == 16) run(std::int16_t{});
        if (bitpix == -32) run(float{});
      } else {
        if (bitpix == 32) run(std::int32_t{});
        if (bitpix == 64) run(std::int64_t{});
        if (bitpix == -64) run(double{});
      }
      detail::sum_bytes(stored.file, layout.unit.start, layout.unit.start, layout.begin, threads,
                        sum);
      detail::sum_bytes(stored.file, layout.unit.start, layout.end(), layout.unit.end, threads,
                        sum);
      sum.add(upload.sum(space));
    }
    image.about.datasum = sum.value();
    if constexpr (is_host_space_v<Exec>) image.about.pixels = pixels;
    image.pixels = pixels;
  }

  void load_by_host(const StoredImage& stored, int threads, LoadedImage<Exec>& image) {
    if constexpr (is_host_space_v<Exec>) {
      image.pixels = {};  // these share their memory with `about`, which is used again
      detail::read_image(stored, threads, image.about);
      std::visit([&](const auto& pixels) { image.pixels = pixels; }, image.about.pixels);
    } else {
      detail::read_image(stored, threads, image.about);
      std::visit(
          [&](const auto& host) {
            using T = typename std::decay_t<decltype(host)>::non_const_value_type;
            const auto pixels = device_pixels<T>(space, stored, image);
            Kokkos::deep_copy(space, pixels, host);
            space.fence("kastor::read_image: the image is there");
            image.pixels = pixels;
          },
          image.about.pixels);
      image.about.pixels = {};
    }
  }

  void load(const StoredImage& stored, int threads, LoadedImage<Exec>& image) {
    if (!through_buffers || stored.is_compressed()) return load_by_host(stored, threads, image);
    const auto layout = detail::plain_layout(stored);
    if (!device_decodes(stored, layout)) return load_by_host(stored, threads, image);
    stored.is_float() ? load_directly<float>(stored, layout, threads, image)
                      : load_directly<double>(stored, layout, threads, image);
  }

  Exec space;
  bool through_buffers;
  std::int64_t band_bytes = 0;
  std::vector<Slot<Exec>> slots;
  Kokkos::View<std::uint64_t*, typename Exec::memory_space> sums;  // one per band
};

template <class Exec>
ImageReader<Exec>::ImageReader(const Exec& space, const ImageReaderParams& params)
    : m_plan(std::make_unique<Plan>(space, params)) {}
template <class Exec>
ImageReader<Exec>::~ImageReader() = default;
template <class Exec>
ImageReader<Exec>::ImageReader(ImageReader&&) noexcept = default;
template <class Exec>
ImageReader<Exec>& ImageReader<Exec>::operator=(ImageReader&&) noexcept = default;

template <class Exec>
LoadedImage<Exec> ImageReader<Exec>::operator()(const std::string& path,
                                                const ReadOptions& options) {
  LoadedImage<Exec> image;
  (*this)(path, options, image);
  return image;
}

template <class Exec>
void ImageReader<Exec>::operator()(const std::string& path, const ReadOptions& options,
                                   LoadedImage<Exec>& image) {
  m_plan->load(StoredImage(path, options), options.threads, image);
}

}  // namespace kastor::io

#define KASTOR_INSTANTIATE(EXEC) template class kastor::io::ImageReader<EXEC>;
KASTOR_FOR_EACH_EXEC(KASTOR_INSTANTIATE)
