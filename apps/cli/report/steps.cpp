// SPDX-License-Identifier: Apache-2.0
#include "cli/report/steps.hpp"

#include <Kokkos_Core.hpp>

#include "cli/report/format.hpp"

namespace kastor::cli {
namespace {

// Kokkos' callbacks are plain functions, so they find the recorder through a global.
StepRecorder* listener = nullptr;
bool fence_at_regions = false;

void choose_fencing(const std::uint32_t, Kokkos_Tools_ToolSettings* settings) {
  settings->requires_global_fencing = fence_at_regions;
}
void begin_region(const char* name) {
  if (listener != nullptr) listener->begin(name);
}
void end_region() {
  if (listener != nullptr) listener->end();
}

void append_row(std::string& out, const std::string& name, std::int64_t calls, double seconds,
                double pixels) {
  const std::string count = calls > 0 ? fmt::format("{}", calls) : "";
  // The rate of a step of microseconds is meaningless.
  const std::string rate =
      pixels > 0 && seconds > 1e-4 ? fmt::format("{:.1f}", pixels / seconds / 1e6) : "";
  out += fmt::format("{:<48} {:>7} {:>11.6f} {:>10}\n", name, count, seconds, rate);
}

}  // namespace

StepRecorder::StepRecorder(Purpose purpose) : m_purpose(purpose), m_nodes(1) {
  if (m_purpose == Purpose::nothing) return;
  listener = this;
  fence_at_regions = m_purpose == Purpose::timings;
  Kokkos::Tools::Experimental::set_request_tool_settings_callback(choose_fencing);
}

StepRecorder::~StepRecorder() { listener = nullptr; }

void StepRecorder::attach() {
  namespace Tools = Kokkos::Tools::Experimental;
  // A loaded tool has replaced our callbacks by its own, or by none.
  m_foreign_tool = m_purpose == Purpose::nothing
                       ? Kokkos::Tools::profileLibraryLoaded()
                       : Tools::get_callbacks().request_tool_settings != choose_fencing;
  if (m_foreign_tool || m_purpose == Purpose::nothing) return;
  Tools::set_push_region_callback(begin_region);
  Tools::set_pop_region_callback(end_region);
}

void StepRecorder::begin(const char* name) {
  if (m_foreign_tool) Kokkos::Tools::pushRegion(std::string("kastor::app::") + name);
  if (m_purpose == Purpose::nothing) return;
  const std::scoped_lock lock(m_mutex);
  const std::size_t parent = m_open.empty() ? 0 : m_open.back().node;
  std::size_t node = 0;
  for (const std::size_t child : m_nodes[parent].children) {
    if (m_nodes[child].name == name) node = child;
  }
  if (node == 0) {
    node = m_nodes.size();
    m_nodes.push_back({name, {}, 0, 0});
    m_nodes[parent].children.push_back(node);
  }
  m_open.push_back({node, Clock::now()});
}

void StepRecorder::end() {
  if (m_foreign_tool) Kokkos::Tools::popRegion();
  if (m_purpose == Purpose::nothing) return;
  const std::scoped_lock lock(m_mutex);
  if (m_open.empty()) return;  // a region whose begin was not recorded
  const Open open = m_open.back();
  m_open.pop_back();
  Node& node = m_nodes[open.node];
  node.calls += 1;
  node.seconds += std::chrono::duration<double>(Clock::now() - open.since).count();
}

std::string StepRecorder::current() const {
  const std::scoped_lock lock(m_mutex);
  return m_open.empty() ? std::string{} : m_nodes[m_open.back().node].name;
}

void StepRecorder::rows_below(std::size_t node, int depth, double pixels, std::string& out) const {
  for (const std::size_t child : m_nodes[node].children) {
    const Node& step = m_nodes[child];
    append_row(out, std::string(2 * static_cast<std::size_t>(depth), ' ') + step.name, step.calls,
               step.seconds, pixels);
    rows_below(child, depth + 1, pixels, out);
  }
}

std::string StepRecorder::table(std::int64_t pixels) const {
  const std::scoped_lock lock(m_mutex);
  std::string out =
      fmt::format("{:<48} {:>7} {:>11} {:>10}\n", "step", "calls", "seconds", "Mpixel/s");
  rows_below(0, 0, static_cast<double>(pixels), out);
  append_row(out, "total", 0, std::chrono::duration<double>(Clock::now() - m_start).count(),
             static_cast<double>(pixels));
  if (m_foreign_tool) out += "The loaded Kokkos tool has the steps within the library.\n";
  return out;
}

}  // namespace kastor::cli
