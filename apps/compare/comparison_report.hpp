// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_COMPARE_COMPARISON_REPORT_HPP
#define KASTOR_APPS_COMPARE_COMPARISON_REPORT_HPP

#include <kastor/io/catalogue_comparison.hpp>
#include <string>

namespace kastor::cli {

/// The number of sources without a partner that are listed.
inline constexpr std::size_t most_unmatched_shown = 10;

[[nodiscard]] std::string comparison_text(const io::SourceList& first, const io::SourceList& second,
                                          const io::Comparison& comparison);
[[nodiscard]] std::string comparison_json(const io::SourceList& first, const io::SourceList& second,
                                          const io::Comparison& comparison);

/// The origin of the radius, "half the median size in a.csv", for "5 arcsec (...)".
[[nodiscard]] std::string radius_origin(const io::SourceList& first, const io::SourceList& second,
                                        io::RadiusFrom from);

}  // namespace kastor::cli

#endif
