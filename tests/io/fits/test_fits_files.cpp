// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <kastor/io/fits_image.hpp>
#include <optional>
#include <sstream>
#include <thread>
#include <vector>

#include "rows_as_read.hpp"

// CFITSIO loses the buffer of a compressed tile that it cannot decompress; the leak checker is not
// to fail for that.
extern "C" const char* __lsan_default_suppressions() { return "leak:imcomp_decompress_tile"; }

namespace {

using namespace testing_support;
using kastor::io::list_hdus;
using testing_support::read_both_ways;

std::string small_fits(float value) {
  const ScratchDirectory scratch;
  FitsMaker(scratch.file("x.fits"))
      .image<float>(FLOAT_IMG, {2, 2}, TFLOAT, {value, value, value, value});
  return read_all(scratch.file("x.fits"));
}

float value_in(const std::string& path) { return pixels_of<float>(read_both_ways(path))(0, 0); }

bool run(const std::string& command) { return std::system(command.c_str()) == 0; }

/// Runs the rest of a test in `directory`.
class WorkingDirectory {
 public:
  explicit WorkingDirectory(const std::filesystem::path& directory)
      : m_before(std::filesystem::current_path()) {
    std::filesystem::current_path(directory);
  }
  ~WorkingDirectory() { std::filesystem::current_path(m_before); }
  WorkingDirectory(const WorkingDirectory&) = delete;
  WorkingDirectory& operator=(const WorkingDirectory&) = delete;

 private:
  std::filesystem::path m_before;
};

TEST(FitsFiles, NamesAreLiteral) {
  const ScratchDirectory scratch;
  const WorkingDirectory here(scratch.path());
  std::filesystem::create_directories("http:/host");
  std::istringstream names(
      "a.fits[1];a.fits[0][1:1,1:1];a.fits(copy.fits);!x.fits;-;stdin;foo|bar;| touch "
      "pwned;~;~root;"
      " lead.fits;trail.fits ;shmem:;http:/host/a.fits;mem:;a+1;$HOME;a.fits#;line\nbreak.fits;"
      "x.Z.fits;raw.imh;@list");
  for (std::string name; std::getline(names, name, ';');) {
    write_bytes(name, small_fits(7.0f));
    EXPECT_EQ(value_in(name), 7.0f) << name;
    std::filesystem::remove(name);
  }
  EXPECT_FALSE(std::filesystem::exists("pwned"));
  EXPECT_FALSE(std::filesystem::exists("copy.fits"));
}

TEST(FitsFiles, FilterSyntaxAndUrlsAreMissingFiles) {
  const ScratchDirectory scratch;
  const WorkingDirectory here(scratch.path());
  write_bytes("a.fits", small_fits(1.0f));
  for (const std::string name :
       {"a.fits[0]", "a.fits+0", "file://a.fits", "http://localhost/a.fits",
        "ftp://localhost/a.fits", "shmem://h0", "mem://", "stream://", "-", "a.fits(b.fits)",
        "!a.fits", "a", "~/a.fits", " a.fits"}) {
    const std::string text = read_error(name);
    EXPECT_TRUE(contains(text, "no such file") || contains(text, "directory")) << text;
  }
  EXPECT_EQ(scratch.entries(), 1u);
}

TEST(FitsFiles, DoesNotTakeACompressedSibling) {
  const ScratchDirectory scratch;
  write_bytes(scratch.file("a.fits"), small_fits(1.0f));
  ASSERT_TRUE(run("gzip " + scratch.file("a.fits")));
  EXPECT_EQ(value_in(scratch.file("a.fits.gz")), 1.0f);
  EXPECT_SAYS(read_error(scratch.file("a.fits")), "no such file");
}

TEST(FitsFiles, LongNamesWork) {
  const ScratchDirectory scratch;
  std::string path = scratch.path().string();
  for (int i = 0; i < 7; ++i) path += "/" + std::string(200, 'd');
  std::filesystem::create_directories(path);
  path += "/a.fits";
  write_bytes(path, small_fits(3.0f));
  EXPECT_EQ(value_in(path), 3.0f);
}

TEST(FitsFiles, LinksAreFollowed) {
  const ScratchDirectory scratch;
  write_bytes(scratch.file("a.fits"), small_fits(3.0f));
  std::filesystem::create_symlink("a.fits", scratch.file("link.fits"));
  EXPECT_EQ(value_in(scratch.file("link.fits")), 3.0f);
}

TEST(FitsFiles, WhatIsNoRegularFileIsRefused) {
  const ScratchDirectory scratch;
  EXPECT_EQ(read_error(scratch.file("none.fits"))
                .rfind(scratch.file("none.fits") + ": no such file; expected", 0),
            0u);
  EXPECT_SAYS(read_error(scratch.path().string()), "is a directory");
  EXPECT_SAYS(read_error("/dev/null"), "not a regular file");
  EXPECT_SAYS(read_error(""), "no such file");
  ASSERT_EQ(::mkfifo(scratch.file("fifo").c_str(), 0600), 0);
  EXPECT_SAYS(read_error(scratch.file("fifo")), "not a regular file");
  EXPECT_SAYS(read_error("/dev/stdin/x"), "expected");
  EXPECT_SAYS(read_error(std::string(5000, 'n')), "expected a FITS file");
}

TEST(FitsFiles, AnUnreadableFileSaysSo) {
  if (::geteuid() == 0) GTEST_SKIP() << "root can read every file";
  const ScratchDirectory scratch;
  write_bytes(scratch.file("a.fits"), small_fits(1.0f));
  ::chmod(scratch.file("a.fits").c_str(), 0);
  EXPECT_SAYS(read_error(scratch.file("a.fits")), "Permission denied");
}

TEST(FitsFiles, OtherContentIsRefused) {
  const ScratchDirectory scratch;
  std::string no_end = small_fits(1.0f).substr(0, 2880);
  for (std::size_t at = 0; at < no_end.size(); at += 80) {
    if (no_end.compare(at, 4, "END ") == 0) no_end.replace(at, 3, "   ");
  }
  for (const auto& [content, says] :
       {std::pair<std::string, std::string>{"", "is empty"},
        {"hello\n", "not a FITS file"},
        {"PK\3\4 and more", "zip"},
        {small_fits(1.0f).substr(0, 1000), "cannot be read as FITS"},
        {no_end, "CFITSIO"},
        {HandMadeHdu::image(8, {}).bytes(), "found no image with data"}}) {
    write_bytes(scratch.file("a"), content);
    EXPECT_SAYS(read_error(scratch.file("a")), says);
  }
}

TEST(FitsFiles, ControlCharactersStayOutOfMessages) {
  const std::string text = read_error("no\nsuch\x1b[31mfile");
  EXPECT_SAYS(text, "no?such?[31mfile");
}

TEST(FitsFiles, TruncatedDataIsCounted) {
  const ScratchDirectory scratch;
  const std::string path = scratch.file("a.fits");
  FitsMaker(path).image<float>(FLOAT_IMG, {100, 100}, TFLOAT, std::vector<float>(10000, 1.0f));
  std::filesystem::resize_file(path, 2880 + 39999);
  const std::string text = read_error(path);
  EXPECT_SAYS(
      text,
      "[0]: data truncated: header says 40000 bytes (NAXIS1=100, NAXIS2=100), file holds 39999;");
}

TEST(FitsFiles, MissingFillBytesDoNotMatter) {
  const ScratchDirectory scratch;
  const std::string path = scratch.file("a.fits");
  FitsMaker(path).image<float>(FLOAT_IMG, {100, 100}, TFLOAT, std::vector<float>(10000, 1.5f));
  const auto sum = read_both_ways(path).datasum;
  std::filesystem::resize_file(path, 2880 + 40000);
  const auto image = read_both_ways(path);
  EXPECT_EQ(pixels_of<float>(image)(99, 99), 1.5f);
  EXPECT_EQ(image.datasum, sum);
  ASSERT_TRUE(run("gzip " + path));
  const auto packed = read_both_ways(path + ".gz");
  EXPECT_EQ(pixels_of<float>(packed)(99, 99), 1.5f);
  EXPECT_EQ(packed.datasum, sum);
}

TEST(FitsFiles, AbsurdSizesAllocateNothing) {
  const ScratchDirectory scratch;
  for (const std::vector<long long>& axes : {std::vector<long long>{1LL << 40, 2},
                                             {1LL << 40, 1LL << 40},
                                             {1LL << 31, 1LL << 31},
                                             {3037000500, 3037000500, 1},
                                             {9223372036854775807, 9223372036854775807}}) {
    for (const int bitpix : {8, 16, -32, -64}) {
      const std::string path = scratch.file("a.fits");
      write_bytes(path, HandMadeHdu::image(bitpix, axes).bytes(std::string(100, 'x')));
      const std::string text = read_error(path);
      EXPECT_SAYS(text, "data truncated");
      (void)list_hdus(path);
    }
  }
}

TEST(FitsFiles, TooManyAxesAreRefusedBeforeCfitsioSeesThem) {
  const ScratchDirectory scratch;
  const std::vector<long long> axes(200, 1);
  write_bytes(scratch.file("a.fits"), HandMadeHdu::image(8, axes).bytes("x"));
  EXPECT_SAYS(read_error(scratch.file("a.fits")), "NAXIS is more than 99");
  HandMadeHdu extension;
  extension.card("XTENSION", "'IMAGE   '").card("BITPIX", 8).card("NAXIS", 200);
  for (int i = 1; i <= 200; ++i) extension.card("NAXIS" + std::to_string(i), 1);
  write_bytes(scratch.file("b.fits"), small_fits(4.0f) + extension.bytes("x"));
  EXPECT_EQ(value_in(scratch.file("b.fits")), 4.0f);
  EXPECT_EQ(list_hdus(scratch.file("b.fits")).size(), 1u);
}

TEST(FitsFiles, ManyAxesOfLengthOneAreFine) {
  const ScratchDirectory scratch;
  std::vector<long long> axes(20, 1);
  axes[0] = 4;
  axes[1] = 3;
  write_bytes(scratch.file("a.fits"), HandMadeHdu::image(8, axes).bytes("abcdefghijkl"));
  const auto image = read_both_ways(scratch.file("a.fits"));
  EXPECT_EQ(pixels_of<float>(image)(2, 3), static_cast<float>('l'));
}

TEST(FitsFiles, JunkBehindTheImageIsIgnored) {
  const ScratchDirectory scratch;
  for (const std::string& junk :
       {std::string(2880, ' '), std::string(2880, '\0'), std::string(100, 'x'),
        std::string("XTENSION= 'IMAGE"), std::string(2880, 'j'),
        HandMadeHdu().card("XTENSION", "'IMAGE   '").bytes()}) {
    write_bytes(scratch.file("a.fits"), small_fits(2.0f) + junk);
    EXPECT_EQ(value_in(scratch.file("a.fits")), 2.0f);
    EXPECT_EQ(list_hdus(scratch.file("a.fits")).size(), 1u);
    EXPECT_SAYS(read_error(scratch.file("a.fits"), {.hdu = "1", .plane = {}}),
                "expected 0, the only HDU of the file");
  }
}

TEST(FitsFiles, GroupsAreRefused) {
  const ScratchDirectory scratch;
  write_bytes(scratch.file("a.fits"), HandMadeHdu::image(16, {2, 2})
                                          .card("PCOUNT", 3)
                                          .card("GCOUNT", 2)
                                          .card("GROUPS", "T")
                                          .bytes(std::string(100, 'x')));
  EXPECT_SAYS(read_error(scratch.file("a.fits")), "PCOUNT=3");
}

std::string larger_fits(const ScratchDirectory& scratch) {
  const std::string path = scratch.file("large.fits");
  std::vector<float> values(300 * 300);
  std::uint32_t state = 1;
  for (float& value : values) value = static_cast<float>(state = state * 1664525u + 1013904223u);
  FitsMaker(path).image<float>(FLOAT_IMG, {300, 300}, TFLOAT, values);
  return path;
}

TEST(FitsFiles, GzipAndBzip2GiveTheSameImage) {
  const ScratchDirectory scratch;
  const std::string path = larger_fits(scratch);
  const auto plain = read_both_ways(path);
  for (const auto& [command, ending, packing] :
       {std::tuple{"gzip", ".gz", "gzip"}, std::tuple{"bzip2", ".bz2", "bzip2"}}) {
    if (!run(std::string("command -v ") + command + " >/dev/null")) continue;
    ASSERT_TRUE(run(std::string(command) + " -k " + path));
    const auto image = read_both_ways(path + ending);
    EXPECT_EQ(image.hdu.compression, packing);
    EXPECT_EQ(image.datasum, plain.datasum);
    for (std::size_t i = 0; i < 90000; ++i)
      ASSERT_EQ(pixels_of<float>(image).data()[i], pixels_of<float>(plain).data()[i]);
    // A packed file is known by its content, whatever it is called.
    if (std::string(command) == "gzip") {
      for (const char* name : {"odd.Z.name", "odd.bz2", "odd.fits"}) {
        std::filesystem::copy_file(path + ending, scratch.file(name));
        EXPECT_EQ(read_both_ways(scratch.file(name)).datasum, plain.datasum) << name;
      }
    } else {
      std::filesystem::copy_file(path + ending, scratch.file("odd2.fits"));
      EXPECT_SAYS(read_error(scratch.file("odd2.fits")), "bzip2");
    }
  }
}

TEST(FitsFiles, TruncatedPackedFilesAreErrors) {
  const ScratchDirectory scratch;
  const std::string path = larger_fits(scratch);
  for (const char* command : {"gzip", "bzip2"}) {
    if (!run(std::string("command -v ") + command + " >/dev/null")) continue;
    const std::string packed = path + (std::string(command) == "gzip" ? ".gz" : ".bz2");
    ASSERT_TRUE(run(std::string(command) + " -k " + path));
    const auto size = std::filesystem::file_size(packed);
    // The last one is longer again: filled with zeros, as an interrupted download may be.
    for (const auto left :
         {size - 1, size - 20, size / 2, std::uintmax_t{300}, std::uintmax_t{11}, size}) {
      std::filesystem::resize_file(packed, left);
      SCOPED_TRACE(packed + " cut to " + std::to_string(left));
      const std::string text = read_error(packed);
      EXPECT_SAYS(text, "expected");
      EXPECT_FALSE(contains(text, "/proc/")) << text;
    }
  }
}

TEST(FitsFiles, GzipOfSeveralMembersIsRefusedNotCut) {
  const ScratchDirectory scratch;
  const std::string path = larger_fits(scratch);
  const std::string bytes = read_all(path);
  write_bytes(scratch.file("1"), bytes.substr(0, 200000));
  write_bytes(scratch.file("2"), bytes.substr(200000));
  ASSERT_TRUE(
      run("cd " + scratch.path().string() + " && gzip 1 2 && cat 1.gz 2.gz > both.fits.gz"));
  EXPECT_SAYS(read_error(scratch.file("both.fits.gz")), "one member");
}

TEST(FitsFiles, DamagedTileCompressionIsAnError) {
  const ScratchDirectory scratch;
  const std::string path = scratch.file("t.fits");
  {
    FitsMaker maker(path);
    fits_set_compression_type(maker.get(), GZIP_1, &maker.status());
    std::vector<short> values(10000);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<short>(i * 31);
    maker.image<short>(SHORT_IMG, {100, 100}, TSHORT, values);
  }
  std::string bytes = read_all(path);
  for (std::size_t i = bytes.size() - 6000; i < bytes.size(); ++i) bytes[i] = '\x55';
  write_bytes(path, bytes);
  EXPECT_SAYS(read_error(path), "[1]: reading the compressed image: tile ");
  std::filesystem::resize_file(path, 9000);
  EXPECT_SAYS(read_error(path), "expected");
}

TEST(FitsFiles, LeavesNoFileOpen) {
  const ScratchDirectory scratch;
  write_bytes(scratch.file("a.fits"), small_fits(1.0f));
  write_bytes(scratch.file("b.fits"), small_fits(1.0f).substr(0, 1000));
  const auto open_files = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
  };
  const auto before = open_files();
  for (int i = 0; i < 20; ++i) {
    (void)read_both_ways(scratch.file("a.fits"));
    (void)read_error(scratch.file("b.fits"));
  }
  EXPECT_EQ(open_files(), before);
}

TEST(FitsFiles, AHeaderIsReadWithoutTheData) {
  const ScratchDirectory scratch;
  const std::string path = scratch.file("a.fits");
  auto hdu = HandMadeHdu::image(-32, {3, 2});
  write_bytes(path, hdu.card("BUNIT", "'Jy'").bytes());  // no data at all
  const auto image = kastor::io::read_header(path);
  EXPECT_EQ(image.ny, 2);
  EXPECT_EQ(image.nx, 3);
  EXPECT_EQ(image.hdu.unit, "Jy");
  EXPECT_EQ(image.header_cards.size(), 6u);
  EXPECT_EQ(image.datasum, 0u);
  std::visit([](const auto& pixels) { EXPECT_EQ(pixels.size(), 0u); }, image.pixels);
  EXPECT_SAYS(read_error(path), "data truncated");
  EXPECT_SAYS(error_of([&] { (void)kastor::io::read_header(scratch.file("b")); }), "no such file");
}

TEST(FitsFiles, TheStatedDatasumIsTheCards) {
  const ScratchDirectory scratch;
  const std::string path = scratch.file("a.fits");
  const auto stated = [&](const std::string& value) {
    auto hdu = HandMadeHdu::image(-32, {3, 2});
    if (!value.empty()) hdu.card("DATASUM", value);
    write_bytes(path, hdu.bytes());
    return kastor::io::stated_datasum(kastor::io::read_header(path));
  };
  EXPECT_EQ(stated("'4294967295'"), 4294967295u);
  EXPECT_EQ(stated("'0       '           / sum of 12 words"), 0u);
  EXPECT_EQ(stated("2503531142"), 2503531142u);
  EXPECT_EQ(stated(""), std::nullopt);
  EXPECT_EQ(stated("'        '           / not known"), std::nullopt);
  EXPECT_EQ(stated("'4294967296'"), std::nullopt);
  EXPECT_EQ(stated("'12a'"), std::nullopt);
  EXPECT_EQ(stated("'-12'"), std::nullopt);
  EXPECT_EQ(stated("1.5"), std::nullopt);
}

TEST(FitsFiles, SeveralThreadsReadAtOnce) {
  if (!kastor::io::reads_in_parallel()) GTEST_SKIP() << "needs a CFITSIO made for threads";
  const ScratchDirectory scratch;
  constexpr int threads = 4, rounds = 50;
  for (int i = 0; i < threads; ++i)
    write_bytes(scratch.file(std::to_string(i)), small_fits(static_cast<float>(i)));
  std::vector<std::uint32_t> sums;
  for (int i = 0; i < threads; ++i)
    sums.push_back(read_both_ways(scratch.file(std::to_string(i))).datasum);
  std::atomic<int> wrong{0};
  const auto work = [&](int thread) {
    kastor::io::FitsImage image;
    kastor::io::ReadOptions options;
    options.threads = 1;
    for (int i = 0; i < rounds; ++i) {
      const int file = (thread + i) % threads;
      kastor::io::read_image(scratch.file(std::to_string(file)), options, image);
      const auto& pixels = std::get<kastor::io::HostPixels<float>>(image.pixels);
      if (image.datasum != sums[static_cast<std::size_t>(file)] ||
          pixels(0, 0) != static_cast<float>(file)) {
        ++wrong;
      }
    }
  };
  {
    std::vector<std::jthread> crew;
    for (int thread = 0; thread < threads; ++thread) crew.emplace_back(work, thread);
  }
  EXPECT_EQ(wrong, 0);
}

}  // namespace
