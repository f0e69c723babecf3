// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_IO_PROVENANCE_CHECK_HPP
#define KASTOR_IO_PROVENANCE_CHECK_HPP

#include <kastor/io/provenance.hpp>
#include <kastor/io/regions_writer.hpp>
#include <kastor/io/sky_model.hpp>
#include <kastor/io/table_writer.hpp>
#include <string>

namespace kastor::io {

/// Whether a file is an output of Kastor in this format whose provenance is `provenance`: version,
/// options, HDU and DATASUM of the input. The name of the input is not compared, since a file that
/// was moved has the same pixels. False if the file cannot be read, and for csv, which stores no
/// provenance.
[[nodiscard]] bool has_provenance(const std::string& path, TableFormat format,
                                  const Provenance& provenance);
[[nodiscard]] bool has_provenance(const std::string& path, RegionFormat format,
                                  const Provenance& provenance);
[[nodiscard]] bool has_provenance(const std::string& path, SkyModelFormat format,
                                  const Provenance& provenance);

}  // namespace kastor::io

#endif
