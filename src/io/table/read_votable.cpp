// SPDX-License-Identifier: Apache-2.0
#include <expat.h>
#include <fmt/format.h>

#include <exception>
#include <fstream>
#include <kastor/error.hpp>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>

#include "io/fits/input_file.hpp"
#include "io/table/base64.hpp"
#include "io/table/table_numbers.hpp"
#include "io/table/table_readers.hpp"
#include "io/table/votable_binary.hpp"
#include "io/text.hpp"

namespace kastor::io::detail {
namespace {

constexpr int k_bytes_at_once = 1 << 16;

std::string_view local_name(std::string_view name) {
  const auto colon = name.rfind(':');
  return colon == std::string_view::npos ? name : name.substr(colon + 1);
}

std::string attribute(const XML_Char** attributes, std::string_view name) {
  for (; *attributes != nullptr; attributes += 2) {
    if (name == attributes[0]) return attributes[1];
  }
  return "";
}

/// Follows the elements of a VOTable, and keeps the requested columns of the first table that is
/// chosen.
class VotableReader {
 public:
  VotableReader(const std::string& path, const ColumnChoice& choose)
      : m_path(path), m_choose(choose), m_parser(XML_ParserCreate(nullptr), XML_ParserFree) {
    if (!m_parser) throw std::bad_alloc();
    XML_SetUserData(m_parser.get(), this);
    XML_SetElementHandler(
        m_parser.get(),
        [](void* self, const XML_Char* name, const XML_Char** attributes) {
          of(self).guarded([&] { of(self).begin(local_name(name), attributes); });
        },
        [](void* self, const XML_Char* name) {
          of(self).guarded([&] { of(self).end(local_name(name)); });
        });
    XML_SetCharacterDataHandler(m_parser.get(), [](void* self, const XML_Char* text, int length) {
      of(self).guarded([&] { of(self).text({text, static_cast<std::size_t>(length)}); });
    });
  }

  std::optional<TableFromFile> read() {
    auto stream = open_regular_file(m_path, "a catalogue");
    for (bool last = false; !last && !m_done;) {
      void* buffer = XML_GetBuffer(m_parser.get(), k_bytes_at_once);
      if (buffer == nullptr) throw std::bad_alloc();
      stream.read(static_cast<char*>(buffer), k_bytes_at_once);
      if (stream.bad()) fail("cannot be read to its end; expected a VOTable");
      last = stream.eof();
      const auto status =
          XML_ParseBuffer(m_parser.get(), static_cast<int>(stream.gcount()), last ? 1 : 0);
      if (m_failure) std::rethrow_exception(m_failure);
      if (status == XML_STATUS_ERROR && !m_done) {
        fail(fmt::format("line {}: {}; expected a VOTable",
                         XML_GetCurrentLineNumber(m_parser.get()),
                         XML_ErrorString(XML_GetErrorCode(m_parser.get()))));
      }
    }
    if (!m_is_votable) fail("has no element VOTABLE; expected a VOTable");
    if (!m_done) return std::nullopt;
    return std::move(m_found);
  }

 private:
  enum class Data { none, text, binary, binary2 };

  static VotableReader& of(void* self) { return *static_cast<VotableReader*>(self); }

  /// An exception must not pass through the parser, which is C.
  template <class Job>
  void guarded(Job&& job) noexcept {
    if (m_failure || m_done) return;
    try {
      job();
    } catch (...) {
      m_failure = std::current_exception();
      XML_StopParser(m_parser.get(), XML_FALSE);
    }
  }

  void begin(std::string_view name, const XML_Char** attributes) {
    if (name == "VOTABLE") m_is_votable = true;
    if (name == "COOSYS") take_frame(attributes);
    if (name == "TABLE") {
      m_in_table = true;
      m_has_data = false;
      m_fields.clear();
      m_requests.clear();
    }
    if (!m_in_table) return;
    if (name == "FIELD") {
      m_fields.push_back({{attribute(attributes, "name"),
                           attribute(attributes, "unit"),
                           attribute(attributes, "ucd"),
                           "",
                           {}},
                          attribute(attributes, "datatype"),
                          attribute(attributes, "arraysize"),
                          "",
                          attribute(attributes, "ref")});
      set_type(m_fields.back());
      m_in_field = true;
    } else if (name == "VALUES" && m_in_field) {
      m_fields.back().null = attribute(attributes, "null");
    } else if (name == "DATA") {
      choose_columns();
    } else if (!m_requests.empty()) {
      begin_data(name, attributes);
    }
  }

  static void set_type(VotableField& field) {
    if (field.datatype == "char" || field.datatype == "unicodeChar") {
      field.column.values = std::vector<std::string>();
    } else {
      field.column.values = std::vector<double>();
    }
  }

  /// COOSYS: VOTable 1.4, section 3.1; `system` is FK4 or FK5 by default of its `equinox`.
  void take_frame(const XML_Char** attributes) {
    auto frame = frame_called(attribute(attributes, "system"));
    if (!frame) frame = frame_called(attribute(attributes, "equinox"));
    m_frames.emplace_back(attribute(attributes, "ID"), frame);
  }

  /// The frame that the first of the requested fields with one refers to; if none refers to any,
  /// the only one of the document.
  [[nodiscard]] std::optional<SkyFrame> frame_of_fields() const {
    for (const auto& request : m_requests) {
      const auto& ref = m_fields[request.column].ref;
      for (const auto& [id, frame] : m_frames) {
        if (!ref.empty() && id == ref) return frame;
      }
    }
    return m_frames.size() == 1 ? m_frames.front().second : std::nullopt;
  }

  void begin_data(std::string_view name, const XML_Char** attributes) {
    if (name == "TABLEDATA") {
      m_data = Data::text;
    } else if (name == "BINARY") {
      m_data = Data::binary;
    } else if (name == "BINARY2") {
      m_data = Data::binary2;
    } else if (name == "FITS") {
      fail("has its data in FITS within the VOTable; expected TABLEDATA, BINARY or BINARY2");
    } else if (name == "STREAM") {
      if (!attribute(attributes, "href").empty())
        fail("has its data in another file (STREAM href); expected data within the VOTable");
      if (attribute(attributes, "encoding") != "base64") {
        fail(fmt::format("has data with the encoding '{}'; expected base64",
                         one_line(attribute(attributes, "encoding"))));
      }
      m_in_text = true;
    } else if (name == "TR") {
      m_cell = 0;
    } else if (name == "TD") {
      m_in_text = true;
      m_text.clear();
    }
  }

  void choose_columns() {
    m_has_data = true;
    std::vector<TableColumn> columns;
    columns.reserve(m_fields.size());
    for (const auto& field : m_fields) columns.push_back(field.column);
    m_requests = m_choose(columns);
    m_row.assign(m_fields.size(), "");
    m_found = {empty_table(columns, m_requests), TableFileFormat::votable, one_line(m_path)};
    m_found.table.frame = frame_of_fields();
    for (const auto& request : m_requests) {
      const auto& field = m_fields[request.column];
      if (request.as == ColumnRequest::As::number && !is_number(field)) {
        fail(fmt::format("the field {} is of datatype {}{}; expected one number per row",
                         one_line(field.column.name), one_line(field.datatype),
                         field.arraysize.empty() ? "" : "[" + one_line(field.arraysize) + "]"));
      }
    }
  }

  void end(std::string_view name) {
    if (name == "FIELD") {
      m_in_field = false;
    } else if (name == "TABLE") {
      m_in_table = false;
      if (!m_has_data) choose_columns();  // no rows, so no DATA
      if (m_requests.empty()) return;
      m_done = true;  // the rest is not needed
      XML_StopParser(m_parser.get(), XML_FALSE);
    } else if (m_requests.empty()) {
      return;
    } else if (name == "TD") {
      m_in_text = false;
      if (m_cell < m_row.size()) m_row[m_cell] = m_text;
      ++m_cell;
    } else if (name == "TR") {
      append_row();
    } else if (name == "STREAM") {
      m_in_text = false;
      in_this_file([&] {
        append_binary_rows(m_bytes, m_data == Data::binary2, m_fields, m_requests, m_found.table);
      });
    }
  }

  void text(std::string_view piece) {
    if (!m_in_text) return;
    if (m_data == Data::text) {
      m_text += piece;
    } else if (!m_base64.decode(piece, m_bytes)) {
      fail("has data that are not base64; expected the encoding of the element STREAM");
    }
  }

  void append_row() {
    ++m_rows;
    if (m_cell != m_fields.size()) {
      fail(fmt::format("row {} has {} cells; expected {}, one for each FIELD", m_rows, m_cell,
                       m_fields.size()));
    }
    for (std::size_t i = 0; i < m_requests.size(); ++i) {
      auto& column = m_found.table.columns[i];
      const auto& field = m_fields[m_requests[i].column];
      const auto cell = without_blanks(m_row[m_requests[i].column]);
      if (auto* texts = std::get_if<std::vector<std::string>>(&column.values)) {
        const bool is_null = !field.null.empty() && cell == field.null;
        texts->emplace_back(is_null ? std::string_view() : cell);
        continue;
      }
      const auto value = !field.null.empty() && cell == field.null
                             ? std::optional(std::numeric_limits<double>::quiet_NaN())
                             : number_of(cell);
      if (!value) {
        fail(fmt::format("row {}: {} is '{}'; expected a number", m_rows, one_line(column.name),
                         one_line(cell.substr(0, 40))));
      }
      std::get<std::vector<double>>(column.values).push_back(*value);
    }
  }

  template <class Job>
  void in_this_file(Job&& job) const {
    try {
      job();
    } catch (const Error& error) {
      fail(error.what());
    }
  }

  [[noreturn]] void fail(const std::string& message) const {
    throw Error(one_line(m_path) + ": " + message);
  }

  std::string m_path;
  const ColumnChoice& m_choose;
  std::unique_ptr<XML_ParserStruct, void (*)(XML_Parser)> m_parser;
  std::exception_ptr m_failure;

  bool m_is_votable = false;
  bool m_in_table = false;
  bool m_has_data = false;
  bool m_in_field = false;
  bool m_in_text = false;  // in a cell, or in the binary data
  bool m_done = false;
  Data m_data = Data::none;
  std::vector<std::pair<std::string, std::optional<SkyFrame>>> m_frames;  // by the IDs of COOSYS
  std::vector<VotableField> m_fields;
  std::vector<ColumnRequest> m_requests;  // empty: the table was not chosen
  std::vector<std::string> m_row;
  std::string m_text;
  std::size_t m_cell = 0;
  std::size_t m_rows = 0;
  Base64Decoder m_base64;
  std::string m_bytes;
  TableFromFile m_found;
};

}  // namespace

std::optional<TableFromFile> read_votable(const std::string& path, const ColumnChoice& choose) {
  return VotableReader(path, choose).read();
}

}  // namespace kastor::io::detail
