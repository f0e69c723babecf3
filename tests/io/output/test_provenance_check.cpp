// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <kastor/io/catalogue_writer.hpp>
#include <kastor/io/provenance_check.hpp>
#include <kastor/io/regions_writer.hpp>
#include <string>
#include <vector>

#include "fits_support.hpp"

namespace {

using namespace testing_support;
using kastor::io::has_provenance;
using kastor::io::Provenance;
using kastor::io::RegionFormat;
using kastor::io::TableFormat;

Provenance sample(const std::string& options = "kastor find --kappa 3 --min-pixels 1") {
  Provenance provenance;
  provenance.version = "1.2.3";
  provenance.command_line = options;
  provenance.input = "sky.fits";
  provenance.input_datasum = 4294967295;
  provenance.input_hdu = 2;
  provenance.unit = "Jy/beam";
  return provenance;
}

/// Everything that is compared, changed.
std::vector<Provenance> others(const Provenance& provenance) {
  std::vector<Provenance> list(5, provenance);
  list[0].version = "1.2.30";
  list[1].command_line += "0";
  list[2].input_datasum -= 1;
  list[3].input_hdu = 20;
  list[4].command_line.pop_back();
  return list;
}

template <class Format>
void expect_recognised(const std::string& path, Format format, const Provenance& provenance) {
  EXPECT_TRUE(has_provenance(path, format, provenance)) << path;
  Provenance moved = provenance;
  moved.input = "elsewhere/" + std::string(200, 'x') + "'s.fits";
  EXPECT_TRUE(has_provenance(path, format, moved)) << path;
  for (const auto& other : others(provenance))
    EXPECT_FALSE(has_provenance(path, format, other)) << path << ' ' << other.command_line;
}

// What the options look like must not matter; 72 characters fill a card of a FITS header.
std::vector<std::string> many_options() {
  std::vector<std::string> list = {"ab", "kastor find --mask a&b<c>\"d\"'e'.fits; \xc3\xa9 \\ : x"};
  for (const std::size_t length : {55U, 56U, 57U, 71U, 72U, 127U, 128U, 129U, 300U})
    list.push_back("kastor find " + std::string(length - 12, 'o'));
  list.push_back("kastor find " + std::string(40, 'o') + "    " + std::string(15, 'p'));
  return list;
}

TEST(ProvenanceCheck, EveryFormatIsRecognised) {
  const ScratchDirectory scratch;
  const kastor::Catalogue catalogue(3);
  for (const auto& options : many_options()) {
    Provenance written = sample(options);
    for (const char* input :
         {"sky.fits", "a long name '' of more than one card in the header.fits"}) {
      written.input = std::string(input) + std::string(60, '_');
      for (const auto format :
           {TableFormat::fits, TableFormat::votable, TableFormat::ecsv, TableFormat::ascii_head}) {
        const auto path = scratch.file("table" + std::to_string(static_cast<int>(format)));
        kastor::io::write_catalogue(path, format, catalogue, written);
        expect_recognised(path, format, written);
        // The general writer has other cards behind.
        const auto table = kastor::io::catalogue_table(catalogue, "Jy/beam");
        kastor::io::write_table(path, format, table, written);
        expect_recognised(path, format, written);
      }
      for (const auto format : {RegionFormat::ds9, RegionFormat::crtf}) {
        const auto path = scratch.file("regions" + std::to_string(static_cast<int>(format)));
        kastor::io::write_regions(path, format, {}, std::nullopt, written);
        expect_recognised(path, format, written);
      }
    }
  }
}

TEST(ProvenanceCheck, CsvSaysNothing) {
  const ScratchDirectory scratch;
  const auto path = scratch.file("a.csv");
  kastor::io::write_catalogue(path, TableFormat::csv, {}, sample());
  EXPECT_FALSE(has_provenance(path, TableFormat::csv, sample()));
}

TEST(ProvenanceCheck, OtherFilesAreNotRecognised) {
  const ScratchDirectory scratch;
  const auto path = scratch.file("a");
  for (const auto& bytes : {std::string(), std::string("x"), std::string(3000, '\0'),
                            std::string(6000, ' '), std::string(400000, '\n')}) {
    write_bytes(path, bytes);
    for (const auto format :
         {TableFormat::fits, TableFormat::votable, TableFormat::ecsv, TableFormat::ascii_head})
      EXPECT_FALSE(has_provenance(path, format, sample())) << bytes.size();
    EXPECT_FALSE(has_provenance(path, RegionFormat::ds9, sample())) << bytes.size();
  }
  EXPECT_FALSE(has_provenance(scratch.file("missing"), TableFormat::fits, sample()));
  EXPECT_FALSE(has_provenance(scratch.path().string(), TableFormat::fits, sample()));
  // Cut short: the header is not there to its end.
  kastor::io::write_catalogue(path, TableFormat::fits, {}, sample());
  write_bytes(path, read_all(path).substr(0, 2880 + 800));
  EXPECT_FALSE(has_provenance(path, TableFormat::fits, sample()));
}

}  // namespace
