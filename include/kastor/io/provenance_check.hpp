// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_IO_PROVENANCE_CHECK_HPP
#define KASTOR_IO_PROVENANCE_CHECK_HPP

#include <kastor/io/provenance.hpp>
#include <kastor/io/regions_writer.hpp>
#include <kastor/io/table_writer.hpp>
#include <string>

namespace kastor::io {

/// Whether a file is an output of Kastor in this format that says of itself what `provenance`
/// says: version, options, HDU and DATASUM of the input. The name of the input is not compared: a
/// file that was moved has the same pixels. False for a file that cannot be read, and for csv,
/// which has no place for it.
[[nodiscard]] bool has_provenance(const std::string& path, TableFormat format,
                                  const Provenance& provenance);
[[nodiscard]] bool has_provenance(const std::string& path, RegionFormat format,
                                  const Provenance& provenance);

}  // namespace kastor::io

#endif
