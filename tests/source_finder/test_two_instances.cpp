// SPDX-License-Identifier: Apache-2.0
// Two jobs on two execution space instances, their kernels enqueued in turn, give what each gives
// alone.
#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <array>
#include <cstdint>
#include <kastor/measure.hpp>
#include <kastor/source_finder.hpp>
#include <vector>

#include "compare.hpp"
#include "device.hpp"
#include "generators.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;

template <class Exec, class T>
struct Job {
  Exec space;
  kastor::Image<T, Exec> image;
  double level;
  kastor::BitMask<Exec> mask;
  kastor::Labeller<Exec> label;
  kastor::Measurer<Exec, T> measure;
  kastor::SourceFinder<Exec, T> find;

  Job(const Exec& instance, std::int64_t ny, std::int64_t nx, double threshold, std::uint64_t seed)
      : space(instance),
        image(ts::to_device<Exec>(ts::make_image<T>(ts::Pixels::contaminated, ny, nx, seed))),
        level(threshold),
        mask(kastor::make_bit_mask(instance, ny, nx)),
        label(instance),
        measure(instance),
        find(instance) {}

  void enqueue_mask() {
    kastor::threshold_into<Exec, T>(space, kastor::ConstImage<T, Exec>(image), level, mask);
  }
};

template <class Exec, class T>
std::vector<Job<Exec, T>> two_jobs(const Exec& first, const Exec& second) {
  std::vector<Job<Exec, T>> jobs;
  jobs.emplace_back(first, 700, 801, 1.0, 1);
  jobs.emplace_back(second, 513, 1300, 0.5, 2);
  return jobs;
}

template <class C>
class TwoInstances : public ::testing::Test {};

TYPED_TEST_SUITE(TwoInstances, ts::ExecsAndReals, ts::CaseName);

TYPED_TEST(TwoInstances, GiveAtOnceWhatEachGivesAlone) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  std::vector<kastor::Catalogue> alone;
  std::vector<kastor::FindResult> found_alone;
  for (auto& job : two_jobs<Exec, T>(Exec{}, Exec{})) {
    job.enqueue_mask();
    const kastor::ConstImage<T, Exec> image(job.image);
    alone.push_back(kastor::to_host<Exec>(job.space, job.measure(image, job.label(job.mask))));
    found_alone.push_back(job.find(image));
  }

  // One host thread cannot be divided: there the two jobs share an instance.
  const bool divisible = !kastor::is_host_space_v<Exec> || Exec{}.concurrency() > 1;
  std::array<Exec, 2> instances;
  if (divisible) {  // a std::vector until Kokkos 4.6, a std::array since
    const auto parts = Kokkos::Experimental::partition_space(Exec{}, 1, 1);
    std::copy_n(parts.begin(), instances.size(), instances.begin());
  }
  auto jobs = two_jobs<Exec, T>(instances[0], instances[1]);
  for (int round = 0; round < 5; ++round) {
    for (auto& job : jobs) job.enqueue_mask();
    std::vector<const kastor::RunLabels<Exec>*> labels;
    for (auto& job : jobs) labels.push_back(&job.label(job.mask));
    // Measuring enqueues only: both jobs are in flight until the first rows are asked for.
    std::vector<Kokkos::View<const kastor::Source*, typename Exec::memory_space>> rows;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      rows.push_back(jobs[i].measure(kastor::ConstImage<T, Exec>(jobs[i].image), *labels[i]));
    }
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      EXPECT_TRUE(ts::same_bits(kastor::to_host<Exec>(jobs[i].space, rows[i]), alone[i]))
          << "job " << i << ", round " << round;
    }
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      for (auto& job : jobs) job.enqueue_mask();
      const auto found = jobs[i].find(kastor::ConstImage<T, Exec>(jobs[i].image));
      EXPECT_TRUE(ts::same_bits(found.sources, found_alone[i].sources))
          << "job " << i << ", round " << round;
      EXPECT_TRUE(ts::same_bits(found.clip, found_alone[i].clip)) << "job " << i;
    }
  }
}

}  // namespace
