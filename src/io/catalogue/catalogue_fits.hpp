// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_CATALOGUE_CATALOGUE_FITS_HPP
#define KASTOR_SRC_IO_CATALOGUE_CATALOGUE_FITS_HPP

#include <kastor/catalogue.hpp>
#include <kastor/io/provenance.hpp>
#include <string>

namespace kastor::io::detail {

/// Writes the binary table CATALOGUE, after an empty primary HDU.
void write_fits_catalogue(const std::string& path, const Catalogue& catalogue,
                          const Provenance& provenance);

}  // namespace kastor::io::detail

#endif
