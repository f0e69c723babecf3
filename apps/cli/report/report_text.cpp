// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "cli/report/format.hpp"
#include "cli/report/report.hpp"
#include "cli/report/report_parts.hpp"
#include "cli/report/words.hpp"
#include "cli/run/errors.hpp"

namespace kastor::cli {
namespace {

std::string heading_of(const io::FitsImage& image, const SigmaClipResult& clip) {
  std::string text = size_text(image);
  if (clip.blank > 0) text += ", " + count_of(clip.blank, "blank pixel");
  return text + "\n";
}

std::string outcome_of(const SigmaClipResult& clip) {
  if (clip.degenerate) return "stopped: the remaining pixels have std 0";
  return clip.converged ? "converged" : "not converged";
}

std::string row(const char* name, double all, double clipped) {
  return fmt::format("{:<8} {:>16.9g} {:>16.9g}\n", name, all, clipped);
}

std::string threshold_text(const io::FitsImage& image, const FindParams& params,
                           const FindResult& result) {
  std::string text = fmt::format("{:.7g}{}", result.threshold, unit_behind(image));
  if (params.level) return text + " (as given)";
  const std::string median =
      params.about == ThresholdAbout::median
          ? fmt::format("clipped median {:.7g} + ", result.clip.clipped.median)
          : "";
  return text + fmt::format(" ({}{:g} x clipped std {:.7g})", median, params.threshold,
                            result.clip.clipped.std);
}

std::string counts_text(const io::FitsImage& image, const FindParams& params,
                        const FindResult& result) {
  return heading_of(image, result.clip) +
         fmt::format(
             "{} above {}\n{} above it, {}-connected", count_of(result.sources.size(), "source"),
             threshold_text(image, params, result), count_of(result.foreground_pixels, "pixel"),
             static_cast<int>(params.label.connectivity)) +
         (params.label.min_pixels > 1
              ? fmt::format("; sources of fewer than {} pixels dropped", params.label.min_pixels)
              : "") +
         "\n";
}

bool is_table(const io::HduInfo& hdu) { return hdu.kind.find("table") != std::string::npos; }

/// The type as stored; the BITPIX of a table is meaningless.
std::string type_text(const io::HduInfo& hdu) {
  if (hdu.bitpix == 0 || is_table(hdu)) return "-";
  const bool whole = hdu.bitpix > 0;
  return fmt::format("{}{}", whole ? (hdu.bitpix == 8 ? "uint" : "int") : "float",
                     std::abs(hdu.bitpix));
}

std::string shape_text(const io::HduInfo& hdu) {
  if (is_table(hdu) && hdu.axes.size() == 2) return count_of(hdu.axes[1], "row");
  std::string text;
  for (const auto axis : hdu.axes) text += (text.empty() ? "" : " x ") + std::to_string(axis);
  return text.empty() ? "no data" : text;
}

std::string details_text(const io::HduInfo& hdu) {
  std::string text;
  const auto add = [&text](const std::string& detail) {
    text += (text.empty() ? "" : ", ") + detail;
  };
  if (!hdu.unit.empty()) add("unit " + hdu.unit);
  if (hdu.bscale != 1.0 || hdu.bzero != 0.0) {
    add(fmt::format("BSCALE {}, BZERO {}", hdu.bscale, hdu.bzero));
  }
  if (hdu.blank) add(fmt::format("BLANK {}", *hdu.blank));
  if (hdu.beam) add(beam_text(*hdu.beam));
  std::string types;
  for (const auto& ctype : hdu.ctype) {
    if (!ctype.empty()) types += (types.empty() ? "" : " ") + ctype;
  }
  if (!types.empty()) add("axes " + types);
  if (!hdu.compression.empty()) add("compressed with " + hdu.compression);
  return text;
}

}  // namespace

std::string stats_text(const io::FitsImage& image, const SigmaClipResult& clip) {
  std::string text = heading_of(image, clip);
  text += "\n" + fmt::format("{:<8} {:>16} {:>16}\n",
                             image.hdu.unit.empty() ? "" : one_line(image.hdu.unit), "all pixels",
                             "clipped");
  text += row("mean", clip.all.mean, clip.clipped.mean);
  text += row("median", clip.all.median, clip.clipped.median);
  text += row("std", clip.all.std, clip.clipped.std);
  text += row("min", clip.all.min, clip.clipped.min);
  text += row("max", clip.all.max, clip.clipped.max);
  text += fmt::format("{:<8} {:>16} {:>16}\n", "pixels", clip.all.count, clip.clipped.count);
  text += fmt::format("\nclipped at {:g} std about the median: {}, {}\n", clip.kappa,
                      clip.passes == 1 ? "1 pass" : fmt::format("{} passes", clip.passes),
                      outcome_of(clip));
  return text;
}

std::string sky_note(const FindParams& params, const FindResult& result) {
  const Statistics& sky = result.clip.clipped;
  const auto finite = result.clip.pixels - result.clip.blank;
  // The sky itself is near the threshold or above it, so noise is labelled, not sources.
  const bool about_zero = !params.level && params.about == ThresholdAbout::zero;
  if (!about_zero || 10 * result.foreground_pixels <= finite || 2 * sky.median <= result.threshold)
    return "";
  const std::string height =
      sky.std > 0 ? fmt::format("is {:.3g} times the noise above zero", sky.median / sky.std)
                  : std::string("is above zero and has no noise");
  return fmt::format(
      "the sky level {:.7g} (clipped median) {}, so {:.3g} % of the pixels are above the "
      "threshold; expected an image whose sky is about 0: --about median adds the median to the "
      "threshold, and --preset sextractor estimates the sky",
      sky.median, height,
      100 * static_cast<double>(result.foreground_pixels) / static_cast<double>(finite));
}

std::string find_text(const io::FitsImage& image, const FindParams& params,
                      const FindResult& result, const std::vector<std::string>& notes) {
  std::string text = label_text(image, params, result, notes);
  if (result.sources.empty()) return text;
  const auto order = brightest_rows(result.sources.size(),
                                    [&](std::size_t row) { return result.sources[row].flux_sum; });
  text += order.size() < result.sources.size()
              ? fmt::format("\nthe {} brightest by flux_sum", order.size())
              : std::string("\nall, brightest flux_sum first");
  text += fmt::format("; positions in pixels from 0{}\n\n",
                      image.hdu.unit.empty() ? "" : ", fluxes in " + one_line(image.hdu.unit));
  text += fmt::format("{:>8} {:>11} {:>11} {:>14} {:>14} {:>9}\n", "id", "x_cen", "y_cen",
                      "flux_sum", "flux_peak", "n_pix");
  for (const auto index : order) {
    const Source& s = result.sources[index];
    text += fmt::format("{:>8} {:>11.3f} {:>11.3f} {:>14.7g} {:>14.7g} {:>9}\n", s.id, s.x_cen,
                        s.y_cen, s.flux_sum, s.flux_peak, s.n_pix);
  }
  return text;
}

std::string label_text(const io::FitsImage& image, const FindParams& params,
                       const FindResult& result, const std::vector<std::string>& notes) {
  std::string text = counts_text(image, params, result);
  for (const auto& note : notes) text += "note: " + message_line(note) + "\n";
  return text;
}

std::string hdus_text(const std::string& path, const std::vector<io::HduInfo>& hdus,
                      const std::vector<std::string>& notes) {
  std::string text = fmt::format("{}: {}\n\n", one_line(path), count_of(hdus.size(), "HDU"));
  text += fmt::format("{:>3}  {:<16}  {:<16}  {:<8}  {}\n", "HDU", "kind", "name", "type",
                      "size (columns x rows x ...)");
  for (const auto& hdu : hdus) {
    const std::string name =
        hdu.name.empty()
            ? "-"
            : (hdu.version == 1 ? hdu.name : fmt::format("{},{}", hdu.name, hdu.version));
    text += fmt::format("{:>3}  {:<16}  {:<16}  {:<8}  {}\n", hdu.index, hdu.kind, one_line(name),
                        type_text(hdu), shape_text(hdu));
    const std::string details = one_line(details_text(hdu));
    if (!details.empty()) text += "     " + details + "\n";
  }
  for (const auto& note : notes) text += "note: " + message_line(note) + "\n";
  return text;
}

std::string build_text(const BuildInfo& info) {
  std::string text = fmt::format("kastor {}\n\n{:<10} {:<8} {}\n", info.version, "backend",
                                 "usable", "concurrency");
  for (const auto& backend : info.backends) {
    text += fmt::format("{:<10} {:<8} {:>11}{}\n", backend.name, backend.usable ? "yes" : "no",
                        backend.usable ? std::to_string(backend.concurrency) : "-",
                        backend.standard
                            ? "  (default)"
                            : (backend.trouble.empty() ? "" : "  " + one_line(backend.trouble)));
  }
  if (!info.devices.empty()) text += "\n";
  for (const auto& device : info.devices) text += "device: " + one_line(device) + "\n";
  text += "\n";
  for (const auto& library : info.libraries) {
    text += fmt::format("{:<14} {}\n", library.name,
                        library.version.empty() ? "unknown" : library.version);
  }
  return text;
}

}  // namespace kastor::cli
