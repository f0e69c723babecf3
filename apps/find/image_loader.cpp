// SPDX-License-Identifier: Apache-2.0
#include "find/image_loader.hpp"

#include <cstring>
#include <kastor/error.hpp>
#include <mutex>

#include "cli/run/blank_pixels.hpp"
#include "cli/run/errors.hpp"
#include "find/resume.hpp"

namespace kastor::cli {
namespace {

template <class T>
void copy_to_pinned(const io::HostPixels<T>& host, ReadImage& image) {
  const auto* pinned = std::get_if<PinnedPixels<T>>(&image.pinned);
  if (pinned == nullptr || pinned->extent(0) != host.extent(0) ||
      pinned->extent(1) != host.extent(1)) {
    image.pinned = PinnedPixels<T>();
    image.pinned =
        PinnedPixels<T>(Kokkos::view_alloc(Kokkos::WithoutInitializing, "kastor::app::pinned"),
                        host.extent(0), host.extent(1));
    pinned = std::get_if<PinnedPixels<T>>(&image.pinned);
  }
  std::memcpy(pinned->data(), host.data(), host.size() * sizeof(T));
}

/// Decides what to do with an image that is read and has catalogues.
void resume(const std::vector<StagedCatalogue>& targets, ReadImage& image) {
  const auto found = standing_of(targets, find_provenance(image.image, image.options));
  const auto resumption = resumption_of(found);
  image.up_to_date = resumption == Resumption::skip;
  if (image.up_to_date || image.options.overwrite) return;
  // A catalogue that exists here has the same options and pixels.
  image.options.overwrite = resumption == Resumption::go_on;
  for (std::size_t i = 0; i < targets.size() && resumption == Resumption::conflict; ++i) {
    if (found[i] != Standing::other && found[i] != Standing::silent) continue;
    throw Error(one_line(targets[i].path) +
                ": exists already, and does not record this version, these options and these "
                "pixels; expected --overwrite beside --resume");
  }
}

}  // namespace

void ImageLoader::load(ReadImage& image) {
  const std::string& name = m_images[image.index];
  const auto job = [&] { read(image); };
  {
    const std::shared_lock lock(m_alone);
    image.failure = failure_of(name, job);
    if (image.failure.empty()) return;
  }
  // CFITSIO keeps the messages of all threads in one stack. Read again alone, the image gets only
  // its own messages.
  const std::unique_lock lock(m_alone);
  image.failure = failure_of(name, job);
}

void ImageLoader::read(ReadImage& image) const {
  const std::string& path = m_images[image.index];
  image.options = m_options;
  image.options.input.path = path;
  image.options.input.read.threads = 1;  // the other threads read other images
  image.up_to_date = false;
  image.sky = {};

  const bool settles = m_options.islands.preset != Preset::lesson;
  const auto targets = m_outputs.of(image.index);
  const bool resumes = m_options.resume && any_exists(targets);
  if (resumes) {
    auto about = io::read_header(path, image.options.input.read);
    if (const auto sum = io::stated_datasum(about)) {
      about.datasum = *sum;
      if (m_options.unit) about.hdu.unit = *m_options.unit;
      if (settles) (void)look_at_header(about, image.options);
      const auto found = standing_of(targets, find_provenance(about, image.options));
      image.up_to_date = resumption_of(found) == Resumption::skip;
      if (image.up_to_date) return;
    }
  }
  io::read_image(path, image.options.input.read, image.image);
  image.blanked = blank_out(image.options.input, image.image);
  if (m_options.unit) image.image.hdu.unit = *m_options.unit;
  if (settles) image.sky = look_at_header(image.image, image.options);
  if (resumes) {
    resume(targets, image);
    if (image.up_to_date) return;
  }
  if (m_pixels == Pixels::pinned)
    std::visit([&](const auto& host) { copy_to_pinned(host, image); }, image.image.pixels);
}

}  // namespace kastor::cli
