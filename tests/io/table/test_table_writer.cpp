// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <clocale>
#include <kastor/io/catalogue_reader.hpp>
#include <kastor/io/catalogue_writer.hpp>
#include <kastor/io/table_writer.hpp>
#include <limits>

#include "fits_support.hpp"
#include "io/table/unicode.hpp"

namespace {

using namespace testing_support;
using kastor::io::Provenance;
using kastor::io::SkyFrame;
using kastor::io::Table;
using kastor::io::TableFormat;
using kastor::io::write_table;

constexpr std::array k_formats = {TableFormat::csv, TableFormat::fits, TableFormat::votable,
                                  TableFormat::ecsv, TableFormat::ascii_head};

const Provenance k_provenance = {.version = "1.2.3",
                                 .command_line = "kastor find \"<a>\" & more",
                                 .input = "it's.fits",
                                 .input_datasum = 4294967295u,
                                 .input_hdu = 1,
                                 .unit = "Jy"};

Table small_table() {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  return {"islands",
          "What is <found> & \"kept\"",
          {{"id", "", "meta.id;meta.main", "",
            std::vector<std::int64_t>{1, std::numeric_limits<std::int64_t>::min(), 3, 4}},
           {"ra", "deg", "pos.eq.ra;meta.main", "right ascension",
            std::vector<double>{0.1, -nan, -0.0, -inf}},
           {"name", "", "", "it's \\ \"x\"",
            std::vector<std::string>{"a,b", "", "<\"&\">", "\xc3\xa9"}}}};
}

std::string written(TableFormat format, const Table& table, const Provenance& provenance = {}) {
  const ScratchDirectory scratch;
  const std::string path = scratch.file("table");
  write_table(path, format, table, provenance);
  return read_all(path);
}

TEST(TableWriter, CardsAreKeywordsParamsAndMeta) {
  Table table = small_table();
  table.cards = {{"BMAJ", 0.0125, "[deg] beam"},
                 {"BPA", std::numeric_limits<double>::quiet_NaN(), "[deg] angle"},
                 {"BEAMFROM", std::string("a <\"header\">"), "where from"},
                 {"BEAMS", std::int64_t{3}, ""},
                 {"BIG", 1e300, ""}};
  const std::string fits = written(TableFormat::fits, table);
  EXPECT_SAYS(fits, "BMAJ    =               0.0125 / [deg] beam");
  EXPECT_SAYS(fits, "BEAMS   =                    3");
  const std::string votable = written(TableFormat::votable, table);
  EXPECT_SAYS(votable, R"(<PARAM name="BMAJ" datatype="double" unit="deg" value="0.0125">)");
  EXPECT_SAYS(votable, "<DESCRIPTION>beam</DESCRIPTION>");
  EXPECT_SAYS(votable, R"(name="BPA" datatype="double" unit="deg" value="NaN")");
  EXPECT_SAYS(votable, R"(value="a &lt;&quot;header&quot;&gt;")");
  EXPECT_SAYS(votable, R"(name="BEAMS" datatype="long" value="3"/>)");
  const std::string ecsv = written(TableFormat::ecsv, table);
  for (const char* line : {"\"BMAJ\": 0.0125\n", "\"BPA\": .nan\n", "\"BIG\": 1.0e+300\n"})
    EXPECT_SAYS(ecsv, std::string("#   ") + line);
}

TEST(TableWriter, TheEndingChoosesTheFormat) {
  using kastor::io::table_format_of;
  for (const char* name : {"a.vot", "A.VOT", "a.votable", "a.xml"})
    EXPECT_EQ(table_format_of(name), TableFormat::votable) << name;
  EXPECT_EQ(table_format_of("a.ecsv"), TableFormat::ecsv);
  EXPECT_EQ(table_format_of("a.csv"), TableFormat::csv);
  EXPECT_EQ(table_format_of("a.cat"), TableFormat::ascii_head);
  EXPECT_EQ(table_format_of("a.CAT"), TableFormat::ascii_head);
  EXPECT_EQ(table_format_of("a.fit"), TableFormat::fits);
  for (const char* name : {"vot", "a.vo", "a.reg", "a.crtf", "a.ecsv.gz", ""})
    EXPECT_FALSE(table_format_of(name)) << name;
}

TEST(TableWriter, Csv) {
  EXPECT_EQ(written(TableFormat::csv, small_table(), k_provenance),
            "id,ra,name\n"
            "1,0.10000000000000001,\"a,b\"\n"
            "-9223372036854775808,nan,\"\"\n"
            "3,-0,\"<\"\"&\"\">\"\n"
            "4,-inf,\xc3\xa9\n");
}

TEST(TableWriter, CsvQuotesWhatReadersWouldLose) {
  const Table table = {
      "", "", {{"s", "", "", "", std::vector<std::string>{" a", "a ", "#", "a#", "a b", "\n"}}}};
  EXPECT_EQ(written(TableFormat::csv, table), "s\n\" a\"\n\"a \"\n\"#\"\na#\na b\n?\n");
}

TEST(TableWriter, Ecsv) {
  EXPECT_EQ(written(TableFormat::ecsv, small_table(), k_provenance),
            R"(# %ECSV 1.0
# ---
# delimiter: ','
# datatype:
# - {name: "id", datatype: int64, meta: {ucd: "meta.id;meta.main"}}
# - {name: "ra", datatype: float64, unit: "deg", description: "right ascension", meta: {ucd: "pos.eq.ra;meta.main"}}
# - {name: "name", datatype: string, description: "it's \\ \"x\""}
# meta:
#   name: "islands"
#   description: "What is <found> & \"kept\""
#   creator: "kastor"
#   kastor_version: "1.2.3"
#   input: "it's.fits"
#   input_hdu: 1
#   input_datasum: 4294967295
#   options: "kastor find \"<a>\" & more"
# schema: astropy-2.0
id,ra,name
1,0.1,"a,b"
-9223372036854775808,nan,""
3,-0,"<""&"">"
)"
            "4,-inf,\xc3\xa9\n");
}

TEST(TableWriter, AsciiHead) {
  EXPECT_EQ(written(TableFormat::ascii_head, small_table(), k_provenance),
            "#   1 id                     id\n"
            "#   2 ra                     right ascension [deg]\n"
            "#   3 name                   it's \\ \"x\"\n"
            "# creator: kastor\n"
            "# kastor_version: 1.2.3\n"
            "# input: it's.fits\n"
            "# input_hdu: 1\n"
            "# input_datasum: 4294967295\n"
            "# options: kastor find \"<a>\" & more\n"
            "1 0.10000000000000001 a,b\n"
            "-9223372036854775808 nan -\n"
            "3 -0 <_&_>\n"
            "4 -inf \xc3\xa9\n");
}

TEST(TableWriter, Votable) {
  Table table = small_table();
  table.frame = SkyFrame::fk5;
  EXPECT_EQ(written(TableFormat::votable, table, k_provenance),
            R"(<?xml version="1.0" encoding="UTF-8"?>
<VOTABLE version="1.4" xmlns="http://www.ivoa.net/xml/VOTable/v1.3"
 xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
 xsi:schemaLocation="http://www.ivoa.net/xml/VOTable/v1.3 http://www.ivoa.net/xml/VOTable/VOTable-1.4.xsd">
 <RESOURCE type="results">
  <INFO name="creator" value="kastor"/>
  <INFO name="kastor_version" value="1.2.3"/>
  <INFO name="input" value="it's.fits"/>
  <INFO name="input_hdu" value="1"/>
  <INFO name="input_datasum" value="4294967295"/>
  <INFO name="options" value="kastor find &quot;&lt;a&gt;&quot; &amp; more"/>
  <COOSYS ID="sky" system="eq_FK5" equinox="J2000"/>
  <TABLE name="islands" nrows="4">
   <DESCRIPTION>What is &lt;found&gt; &amp; &quot;kept&quot;</DESCRIPTION>
   <FIELD name="id" datatype="long" ucd="meta.id;meta.main"/>
   <FIELD name="ra" datatype="double" unit="deg" ucd="pos.eq.ra;meta.main" ref="sky">
    <DESCRIPTION>right ascension</DESCRIPTION>
   </FIELD>
   <FIELD name="name" datatype="unicodeChar" arraysize="*">
    <DESCRIPTION>it's \ &quot;x&quot;</DESCRIPTION>
   </FIELD>
   <DATA>
    <TABLEDATA>
     <TR><TD>1</TD><TD>0.1</TD><TD>a,b</TD></TR>
     <TR><TD>-9223372036854775808</TD><TD>NaN</TD><TD></TD></TR>
     <TR><TD>3</TD><TD>-0</TD><TD>&lt;&quot;&amp;&quot;&gt;</TD></TR>
     <TR><TD>4</TD><TD>-Inf</TD><TD>)"
            "\xc3\xa9"
            R"(</TD></TR>
    </TABLEDATA>
   </DATA>
  </TABLE>
 </RESOURCE>
</VOTABLE>
)");
}

TEST(TableWriter, TablesMayBeEmptyOrLarge) {
  for (const std::size_t rows : {std::size_t{0}, std::size_t{1}, std::size_t{20000}}) {
    Table table = {"t",
                   "",
                   {{"x", "", "", "", std::vector<double>(rows, 0.25)},
                    {"s", "", "", "", std::vector<std::string>(rows, "abc")}}};
    const std::string csv = written(TableFormat::csv, table);
    EXPECT_EQ(csv.size(), 4 + rows * std::string("0.25,abc\n").size());
    const std::string votable = written(TableFormat::votable, table);
    EXPECT_SAYS(votable, "nrows=\"" + std::to_string(rows) + "\"");
    const std::size_t data = rows * 11;
    EXPECT_EQ(written(TableFormat::fits, table).size(), 5760 + (data + 2879) / 2880 * 2880);
  }
  const Table wide = {
      "t", "", {{"s", "", "", "", std::vector<std::string>{std::string(1000000, 'w')}}}};
  EXPECT_EQ(written(TableFormat::csv, wide).size(), 1000003u);
  EXPECT_EQ(written(TableFormat::fits, wide).size(), 5760u + 1002240u);
}

TEST(TableWriter, DoesNotDependOnTheLocale) {
  std::vector<std::string> before;
  for (const auto format : k_formats)
    before.push_back(written(format, small_table(), k_provenance));
  const std::string locale = std::setlocale(LC_ALL, nullptr);
  if (std::setlocale(LC_ALL, "de_DE.UTF-8") == nullptr)
    GTEST_SKIP() << "the locale de_DE.UTF-8 is not installed";
  std::vector<std::string> after;
  for (const auto format : k_formats) after.push_back(written(format, small_table(), k_provenance));
  std::setlocale(LC_ALL, locale.c_str());
  EXPECT_EQ(before, after);
}

TEST(TableWriter, RefusesWhatIsNoTable) {
  const ScratchDirectory scratch;
  const auto error = [&](const Table& table) {
    return error_of([&] { write_table(scratch.file("a"), TableFormat::ecsv, table, {}); });
  };
  const std::vector<double> two(2);
  const std::vector<std::int64_t> three(3);
  EXPECT_SAYS(error({"t", "", {}}), "the table 't' has no columns");
  EXPECT_SAYS(error({"t", "", {{"a", "", "", "", two}, {"b", "", "", "", three}}}),
              "the column 'b' has 3 rows; expected 2, as 'a' has");
  EXPECT_SAYS(error({"t", "", {{"a", "", "", "", two}, {"A", "", "", "", two}}}),
              "the column 'A' occurs twice");
  for (const char* name : {"", "a b", "a,b", "\xc3\xa9", "a\nb"}) {
    EXPECT_SAYS(error({"t", "", {{name, "", "", "", two}}}), "expected ASCII letters") << name;
  }
  EXPECT_EQ(scratch.entries(), 0u);

  Table many = {"t", "", {}};
  for (int i = 0; i < 1000; ++i) many.columns.push_back({"c" + std::to_string(i), "", "", "", two});
  EXPECT_SAYS(error_of([&] { write_table(scratch.file("a"), TableFormat::fits, many, {}); }),
              "a table of 1000 columns; expected at most 999");
}

TEST(TableWriter, AnUnwritablePlaceIsAnError) {
  for (const auto format : k_formats) {
    EXPECT_SAYS(error_of([&] { write_table("/nowhere/a", format, small_table(), {}); }),
                "/nowhere/a: cannot be opened");
    EXPECT_SAYS(error_of([&] { write_table("/dev/full", format, small_table(), {}); }),
                "No space left");
  }
}

TEST(TableWriter, CleansText) {
  using kastor::io::detail::clean_text;
  EXPECT_EQ(clean_text("plain \xc3\xa9 \xe6\x98\x9f \xf0\x9f\x94\xad"),
            "plain \xc3\xa9 \xe6\x98\x9f \xf0\x9f\x94\xad");
  EXPECT_EQ(clean_text(std::string("a\0b\t\r\n\x7f", 7)), "a?b????");
  EXPECT_EQ(clean_text("\xc2\x85|\xe2\x80\xa8|\xe2\x80\xa9|\xef\xbf\xbe|\xef\xbb\xbf"),
            "?|?|?|?|?");
  const std::string bad = "\xef\xbf\xbd";
  EXPECT_EQ(clean_text("\xff"), bad);
  EXPECT_EQ(clean_text("\xc3"), bad);                                // cut
  EXPECT_EQ(clean_text("\xc3(x"), bad + "(x");                       // not continued
  EXPECT_EQ(clean_text("\xc0\xaf"), bad + bad);                      // overlong
  EXPECT_EQ(clean_text("\xe0\x80\xaf"), bad + bad + bad);            // overlong
  EXPECT_EQ(clean_text("\xed\xa0\x80"), bad + bad + bad);            // a surrogate
  EXPECT_EQ(clean_text("\xf4\x90\x80\x80"), bad + bad + bad + bad);  // beyond U+10FFFF
}

TEST(CatalogueTable, HoldsTheTwelveColumns) {
  const kastor::Catalogue catalogue = {{1, 0.5, 1.5, 2.5, 3.5, 4, 5, 6, 7, 8, 9, 10},
                                       {2, 0.25, 1.25, 2.25, 3.25, 11, 12, 13, 14, 15, 16, 17}};
  const Table table = kastor::io::catalogue_table(catalogue, "Jy/beam");
  ASSERT_EQ(table.columns.size(), 12u);
  EXPECT_EQ(table.columns[0].name, "id");
  EXPECT_EQ(table.columns[0].unit, "");
  EXPECT_EQ(table.columns[1].unit, "pixel");
  EXPECT_EQ(table.columns[3].unit, "Jy/beam");
  EXPECT_EQ(table.columns[3].name, "flux_sum");
  EXPECT_EQ(std::get<std::vector<double>>(table.columns[3].values), (std::vector{2.5, 2.25}));
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(table.columns[11].values),
            (std::vector<std::int64_t>{10, 17}));
  for (const auto& column : table.columns) {
    EXPECT_NE(column.ucd, "") << column.name;
    EXPECT_NE(column.description, "") << column.name;
  }
}

TEST(CatalogueTable, IsWhatTheOtherFormatsHold) {
  const ScratchDirectory scratch;
  const kastor::Catalogue catalogue = {{1, 0.5, 1.5, 2.5, 3.5, 4, 5, 6, 7, 8, 9, 10}};
  for (const auto format : {TableFormat::csv, TableFormat::votable, TableFormat::ecsv}) {
    kastor::io::write_catalogue(scratch.file("a"), format, catalogue, k_provenance);
    EXPECT_EQ(read_all(scratch.file("a")),
              written(format, kastor::io::catalogue_table(catalogue, "Jy"), k_provenance));
  }
  for (const char* name : {"a.vot", "a.ecsv"}) {
    EXPECT_SAYS(error_of([&] { (void)kastor::io::read_catalogue(scratch.file(name), {"x_cen"}); }),
                "its suffix names no catalogue format that can be read");
  }
}

}  // namespace
