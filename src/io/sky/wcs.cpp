// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <wcslib/prj.h>
#include <wcslib/wcs.h>
#include <wcslib/wcsfix.h>
#include <wcslib/wcshdr.h>
#include <wcslib/wcsmath.h>
#include <wcslib/wcsunits.h>

#include <algorithm>
#include <cmath>
#include <kastor/error.hpp>
#include <kastor/io/wcs.hpp>
#include <limits>
#include <mutex>
#include <string_view>

#include "io/fits/kept_cards.hpp"
#include "io/fits/valid_cards.hpp"
#include "io/fits/wcs_header.hpp"
#include "io/sky/wcs_check.hpp"
#include "io/text.hpp"

namespace kastor::io {
namespace {

constexpr double k_nan = std::numeric_limits<double>::quiet_NaN();

[[noreturn]] void refuse(const std::string& found) {
  throw Error(
      fmt::format("kastor::io::Wcs: {}; expected celestial coordinates on both axes", found));
}

/// wcslib keeps its longer messages in global state, and leaks them if its set-up fails.
std::string message_of(int status) {
  return fmt::format("wcslib {}: {}", status, detail::one_line(wcs_errmsg[status]));
}

/// wcslib does not say which unit it does not know. \throws kastor::Error that names it
void check_units(const wcsprm& wcs, const detail::WcsHeader& header) {
  if (!header.celestial("")) return;
  for (int i = 0; i < wcs.naxis; ++i) {
    double scale = 0;
    double offset = 0;
    double power = 0;
    const char* unit = wcs.cunit[i];
    if (unit[0] == '\0' || wcsunits(unit, "deg", &scale, &offset, &power) == 0) continue;
    const std::string keyword = fmt::format("CUNIT{}", i + 1);
    throw Error(fmt::format("kastor::io::Wcs: {} is '{}'; expected a unit of angle, as deg",
                            keyword, detail::one_line(header.text(keyword))));
  }
}

// Number of positions converted at a time.
constexpr std::size_t k_positions_at_once = 4096;

/// Work space of wcslib.
struct Buffers {
  explicit Buffers(std::size_t count)
      : pixel(2 * count),
        intermediate(2 * count),
        phi(count),
        theta(count),
        world(2 * count),
        bad(count) {}

  /// Converts the first pixels; returns wcslib's status.
  int to_world(wcsprm& wcs, std::size_t count) {
    return wcsp2s(&wcs, static_cast<int>(count), 2, pixel.data(), intermediate.data(), phi.data(),
                  theta.data(), world.data(), bad.data());
  }

  /// Converts the pixels that were bad again, without wcslib's bounds of -180 and 180 degrees for
  /// the native longitude, which is periodic in a cylindrical projection.
  void to_world_all_around(wcsprm& wcs, std::size_t count) {
    constexpr int without_longitude = 3;
    constexpr int all_bounds = 7;
    Buffers one(1);
    wcsbchk(&wcs, without_longitude);
    for (std::size_t i = 0; i < count; ++i) {
      if (bad[i] == 0) continue;
      std::copy_n(pixel.begin() + static_cast<std::ptrdiff_t>(2 * i), 2, one.pixel.begin());
      // The bounds of the latitude are off as well.
      if (one.to_world(wcs, 1) != 0 || !(std::abs(one.theta[0]) <= 90.0)) continue;
      std::copy_n(one.world.begin(), 2, world.begin() + static_cast<std::ptrdiff_t>(2 * i));
      bad[i] = 0;
    }
    wcsbchk(&wcs, all_bounds);
  }

  std::vector<double> pixel;
  std::vector<double> intermediate;
  std::vector<double> phi;
  std::vector<double> theta;
  std::vector<double> world;
  std::vector<int> bad;
};

}  // namespace

struct Wcs::State {
  wcsprm* list = nullptr;  // allocated by wcslib
  int count = 0;
  wcsprm* primary = nullptr;
  std::vector<std::string> notes;

  // The parsers of some versions of wcslib have global state.
  static std::mutex parsing;

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (list != nullptr) wcsvfree(&count, &list);
  }

  void read(const std::vector<std::string>& cards) {
    std::string text;
    for (const std::string& card : cards) {
      text += detail::printable_ascii(card);  // the parser would print others to stdout
      text.resize((text.size() + 79) / 80 * 80, ' ');
    }
    int rejected = 0;
    const int status = wcspih(text.data(), static_cast<int>(text.size() / 80), WCSHDR_all, 0,
                              &rejected, &count, &list);
    if (status != 0) refuse(fmt::format("wcslib {}: {}", status, wcshdr_errmsg[status]));
    for (int i = 0; i < count && primary == nullptr; ++i) {
      if (list[i].alt[0] == ' ') primary = list + i;
    }
    if (primary == nullptr) refuse("the header has no world coordinates");
  }

  void set_up(const std::vector<std::string>& cards) {
    // Translates old units, dates and projections; wcsset() reports what cannot be translated.
    std::array<int, NWCSFIX> fixed{};
    (void)wcsfix(7, nullptr, primary, fixed.data());
    if (const int status = wcsset(primary)) {
      check_units(*primary, {cards, {}});
      refuse(message_of(status));
    }
    if (primary->naxis != 2 || primary->lng < 0 || primary->lat < 0) {
      refuse(fmt::format("the axes are '{}' and '{}'", primary->naxis > 0 ? primary->ctype[0] : "",
                         primary->naxis > 1 ? primary->ctype[1] : ""));
    }
  }
};

std::mutex Wcs::State::parsing;

Wcs::Wcs(const std::vector<std::string>& header_cards, const std::array<int, 2>& fits_axes)
    : m_state(std::make_unique<State>()) {
  auto kept = detail::split_kept_cards(header_cards, fits_axes);
  auto& cards = kept.wcs;
  const bool any = std::any_of(cards.begin(), cards.end(),
                               [](const auto& card) { return card.starts_with("CTYPE"); });
  if (!kept.why_no_wcs.empty()) refuse(kept.why_no_wcs);
  if (!any) refuse("the header has no world coordinates for these axes");
  detail::check_wcs_cards(cards, kept.notes);
  m_state->notes = std::move(kept.notes);
  cards.insert(cards.begin(), "WCSAXES =                    2");
  // wcslib looks at the dates.
  cards.insert(cards.end(), kept.observation.begin(), kept.observation.end());
  // wcslib may write beyond its memory where a string has no closing quote.
  for (std::string& card : cards) card = detail::repaired_card(card).value_or(card);
  const std::scoped_lock lock(State::parsing);
  m_state->read(cards);
  m_state->set_up(cards);
}

Wcs::~Wcs() = default;
Wcs::Wcs(Wcs&&) noexcept = default;
Wcs& Wcs::operator=(Wcs&&) noexcept = default;

SkySystem Wcs::system() const {
  const std::string_view kind = m_state->primary->lngtyp;
  if (kind.starts_with("RA")) return SkySystem::equatorial;
  if (kind.starts_with("GLON")) return SkySystem::galactic;
  if (kind.starts_with("ELON")) return SkySystem::ecliptic;
  return SkySystem::other;
}

std::string Wcs::frame() const {
  const wcsprm& wcs = *m_state->primary;
  if (system() != SkySystem::equatorial && system() != SkySystem::ecliptic) return "";
  if (wcs.radesys[0] != '\0') return detail::trimmed(wcs.radesys);
  // FITS standard 4.0, section 8.3: without EQUINOX the frame is ICRS, before 1984 FK4.
  if (wcs.equinox == UNDEFINED) return "ICRS";
  return wcs.equinox < 1984.0 ? "FK4" : "FK5";
}

double Wcs::equinox() const {
  const std::string name = frame();
  const bool old = name.starts_with("FK4");
  if (!old && name != "FK5") return k_nan;
  const double given = m_state->primary->equinox;
  if (given != UNDEFINED) return given;
  return old ? 1950.0 : 2000.0;
}

std::string Wcs::projection() const { return detail::trimmed(m_state->primary->cel.prj.code); }

const std::vector<std::string>& Wcs::notes() const { return m_state->notes; }

PixelPosition Wcs::reference_pixel() const {
  const double* crpix = m_state->primary->crpix;
  return {crpix[0] - 1.0, crpix[1] - 1.0};  // FITS counts pixels from 1
}

std::vector<SkyPosition> Wcs::to_sky(std::span<const PixelPosition> pixels) const {
  std::vector<SkyPosition> sky(pixels.size(), SkyPosition{k_nan, k_nan});
  wcsprm& wcs = *m_state->primary;
  Buffers buffers(std::min(pixels.size(), k_positions_at_once));
  for (std::size_t first = 0; first < pixels.size(); first += k_positions_at_once) {
    const std::size_t count = std::min(k_positions_at_once, pixels.size() - first);
    for (std::size_t i = 0; i < count; ++i) {
      buffers.pixel[2 * i] = pixels[first + i].x + 1.0;  // FITS counts pixels from 1
      buffers.pixel[2 * i + 1] = pixels[first + i].y + 1.0;
    }
    const int status = buffers.to_world(wcs, count);
    if (status != 0 && status != WCSERR_BAD_PIX) {
      throw Error("kastor::io::Wcs: " + message_of(status) + "; expected valid sky coordinates");
    }
    if (status != 0 && wcs.cel.prj.category == CYLINDRICAL) buffers.to_world_all_around(wcs, count);
    for (std::size_t i = 0; i < count; ++i) {
      if (buffers.bad[i] != 0) continue;
      const double* world = buffers.world.data() + 2 * i;
      const double longitude = std::fmod(world[wcs.lng], 360.0);
      sky[first + i] = {longitude < 0.0 ? longitude + 360.0 : longitude, world[wcs.lat]};
    }
  }
  return sky;
}

std::vector<PixelPosition> Wcs::to_pixels(std::span<const SkyPosition> sky) const {
  std::vector<PixelPosition> pixels(sky.size(), PixelPosition{k_nan, k_nan});
  wcsprm& wcs = *m_state->primary;
  Buffers buffers(std::min(sky.size(), k_positions_at_once));
  for (std::size_t first = 0; first < sky.size(); first += k_positions_at_once) {
    const std::size_t count = std::min(k_positions_at_once, sky.size() - first);
    for (std::size_t i = 0; i < count; ++i) {
      double* world = buffers.world.data() + 2 * i;
      world[wcs.lng] = sky[first + i].longitude;
      world[wcs.lat] = sky[first + i].latitude;
    }
    const int status = wcss2p(&wcs, static_cast<int>(count), 2, buffers.world.data(),
                              buffers.phi.data(), buffers.theta.data(), buffers.intermediate.data(),
                              buffers.pixel.data(), buffers.bad.data());
    if (status != 0 && status != WCSERR_BAD_WORLD) {
      throw Error("kastor::io::Wcs: " + message_of(status) + "; expected valid pixel coordinates");
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (buffers.bad[i] != 0) continue;
      pixels[first + i] = {buffers.pixel[2 * i] - 1.0, buffers.pixel[2 * i + 1] - 1.0};
    }
  }
  return pixels;
}

}  // namespace kastor::io
