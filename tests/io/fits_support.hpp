// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_TESTS_IO_FITS_SUPPORT_HPP
#define KASTOR_TESTS_IO_FITS_SUPPORT_HPP

#include <fitsio.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <kastor/error.hpp>
#include <kastor/io/fits_image.hpp>
#include <string>
#include <variant>
#include <vector>

#include "scratch_directory.hpp"

namespace testing_support {

/// One card of a header, `value` as it is to stand there.
inline std::string card(std::string keyword, const std::string& value) {
  keyword.resize(8, ' ');
  std::string text = keyword + "= " + value;
  text.resize(80, ' ');
  return text;
}
inline std::string card(const std::string& keyword, double value) {
  return card(keyword, fmt::format("{:.17g}", value));
}

/// A FITS file made by hand: cards, END, blank fill, then `data` and zero fill.
class HandMadeHdu {
 public:
  HandMadeHdu& card(const std::string& keyword, const std::string& value) {
    std::string text = keyword;
    text.resize(8, ' ');
    text += "= " + std::string(value.size() < 20 && value[0] != '\'' ? 20 - value.size() : 0, ' ') +
            value;
    text.resize(80, ' ');
    m_cards += text;
    return *this;
  }
  HandMadeHdu& card(const std::string& keyword, long long value) {
    return card(keyword, std::to_string(value));
  }

  [[nodiscard]] std::string bytes(std::string data = "") const {
    std::string text = m_cards + "END";
    text.resize((text.size() + 2879) / 2880 * 2880, ' ');
    data.resize((data.size() + 2879) / 2880 * 2880, '\0');
    return text + data;
  }

  static HandMadeHdu image(int bitpix, const std::vector<long long>& axes) {
    HandMadeHdu hdu;
    hdu.card("SIMPLE", "T")
        .card("BITPIX", bitpix)
        .card("NAXIS", static_cast<long long>(axes.size()));
    for (std::size_t i = 0; i < axes.size(); ++i)
      hdu.card("NAXIS" + std::to_string(i + 1), axes[i]);
    return hdu;
  }

 private:
  std::string m_cards;
};

/// CFITSIO's writing side, with every status checked by the test.
class FitsMaker {
 public:
  explicit FitsMaker(const std::string& path) {
    fits_create_diskfile(&m_fits, path.c_str(), &m_status);
  }
  ~FitsMaker() {
    if (m_fits != nullptr) close();
  }
  FitsMaker(const FitsMaker&) = delete;
  FitsMaker& operator=(const FitsMaker&) = delete;

  /// Stored (raw) values; scaling keywords are written afterwards by `key`.
  template <class T>
  FitsMaker& image(int bitpix, std::vector<long> axes, int type, std::vector<T> values,
                   const char* name = nullptr) {
    fits_create_img(m_fits, bitpix, static_cast<int>(axes.size()), axes.data(), &m_status);
    if (name != nullptr)
      fits_update_key(m_fits, TSTRING, "EXTNAME", const_cast<char*>(name), nullptr, &m_status);
    if (!values.empty()) {
      fits_write_img(m_fits, type, 1, static_cast<LONGLONG>(values.size()), values.data(),
                     &m_status);
    }
    return *this;
  }
  FitsMaker& key(const char* name, double value) {
    fits_update_key(m_fits, TDOUBLE, name, &value, nullptr, &m_status);
    return *this;
  }
  FitsMaker& key(const char* name, int value) {
    fits_update_key(m_fits, TINT, name, &value, nullptr, &m_status);
    return *this;
  }
  FitsMaker& key(const char* name, const std::string& value) {
    fits_update_key(m_fits, TSTRING, name, const_cast<char*>(value.c_str()), nullptr, &m_status);
    return *this;
  }
  /// An empty table; `columns` are names, forms and units.
  FitsMaker& table(const char* name, int rows, std::vector<std::array<const char*, 3>> columns) {
    std::vector<char*> parts[3];
    for (const auto& column : columns)
      for (std::size_t k = 0; k < 3; ++k) parts[k].push_back(const_cast<char*>(column[k]));
    fits_create_tbl(m_fits, BINARY_TBL, rows, static_cast<int>(columns.size()), parts[0].data(),
                    parts[1].data(), parts[2].data(), name, &m_status);
    return *this;
  }
  template <class T>
  FitsMaker& column(int number, int type, std::vector<T> values) {
    fits_write_col(m_fits, type, number, 1, 1, static_cast<LONGLONG>(values.size()), values.data(),
                   &m_status);
    return *this;
  }
  [[nodiscard]] fitsfile* get() { return m_fits; }
  int& status() { return m_status; }
  void close() {
    fits_close_file(m_fits, &m_status);
    m_fits = nullptr;
    EXPECT_EQ(m_status, 0) << "CFITSIO could not write the test file";
  }

 private:
  fitsfile* m_fits = nullptr;
  int m_status = 0;
};

/// The message of the kastor::Error that `call` throws; empty (and a failure) if it throws none.
template <class Call>
std::string error_of(Call&& call) {
  try {
    call();
  } catch (const kastor::Error& error) {
    const std::string text = error.what();
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    return text;
  }
  ADD_FAILURE() << "no kastor::Error was thrown";
  return "";
}

inline std::string read_error(const std::string& path,
                              const kastor::io::ReadOptions& options = {}) {
  return error_of([&] { (void)kastor::io::read_image(path, options); });
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}
/// Shows both if the text does not contain the part.
#define EXPECT_SAYS(text, part) EXPECT_PRED2(contains, text, part)

template <class T>
const kastor::io::HostPixels<T>& pixels_of(const kastor::io::FitsImage& image) {
  return std::get<kastor::io::HostPixels<T>>(image.pixels);
}

/// The checksum that CFITSIO computes of an HDU's data unit.
inline std::uint32_t cfitsio_datasum(const std::string& path, int hdu) {
  fitsfile* fits = nullptr;
  int status = 0;
  unsigned long data = 0;
  unsigned long all = 0;
  fits_open_diskfile(&fits, path.c_str(), READONLY, &status);
  fits_movabs_hdu(fits, hdu + 1, nullptr, &status);
  fits_get_chksum(fits, &data, &all, &status);
  EXPECT_EQ(status, 0) << path;
  int ignored = 0;
  if (fits != nullptr) fits_close_file(fits, &ignored);
  return static_cast<std::uint32_t>(data);
}

}  // namespace testing_support

#endif
