// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_EVALUATE_EVALUATE_HPP
#define KASTOR_APPS_EVALUATE_EVALUATE_HPP

#include <string>

#include "cli/run/session.hpp"
#include "evaluate/evaluate_options.hpp"
#include "find/found_image.hpp"

namespace kastor::cli {

/// Evaluates the catalogues, or a search of the image, and writes the pairs to `pairs` if
/// `options.output` names their format. Returns the text or the JSON. \param found  the image, and
/// what was found in it
[[nodiscard]] std::string evaluate_image(Session& session, const EvaluateOptions& options,
                                         const std::string& pairs, FoundImage& found);

}  // namespace kastor::cli

#endif
