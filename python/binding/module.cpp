// SPDX-License-Identifier: Apache-2.0
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <kastor/error.hpp>
#include <kastor/version.hpp>

#include "binding/arrays.hpp"
#include "binding/found.hpp"
#include "binding/functions.hpp"
#include "binding/measured.hpp"
#include "binding/runtime.hpp"
#include "binding/words.hpp"
#include "cli/run/errors.hpp"

namespace kastor::python {
namespace {

using namespace nb::literals;

void say(PyObject* type, const char* text) {
  PyErr_SetString(type, in_words_of_python(cli::message_line(text)).c_str());
}

void add_exceptions(nb::module_& m) {
  // The text of the errors is that of the command, but for the names of options.
  static nb::handle error = nb::exception<Error>(m, "Error", PyExc_RuntimeError).release();
  static nb::handle device_error = nb::exception<DeviceError>(m, "DeviceError", error).release();
  for (const nb::handle each : {error, device_error}) each.attr("__module__") = "kastor";
  // The last one that is registered is asked first.
  nb::register_exception_translator([](const std::exception_ptr& pointer, void*) {
    try {
      std::rethrow_exception(pointer);
    } catch (const cli::UsageError& usage) {
      say(PyExc_ValueError, usage.what());
    } catch (const DeviceError& trouble) {
      say(device_error.ptr(), trouble.what());
    } catch (const Error& trouble) {
      say(error.ptr(), trouble.what());
    } catch (const std::bad_alloc& trouble) {
      PyErr_SetString(PyExc_MemoryError, trouble.what());
    } catch (const std::runtime_error& trouble) {
      // Kokkos has no type for it.
      if (!cli::is_failed_allocation(trouble.what())) throw;
      say(PyExc_MemoryError, trouble.what());
    }
  });
}

void add_runtime(nb::module_& m) {
  // Other threads need the interpreter's lock to end their jobs.
  using Released = nb::call_guard<nb::gil_scoped_release>;
  m.def(
      "start",
      [](std::optional<int> threads, bool device) { Runtime::get().start(threads, device); },
      "threads"_a = nb::none(), "device"_a = true, Released());
  m.def("is_started", [] { return Runtime::get().is_started(); });
  m.def("backends", [] {
    const nb::gil_scoped_release released;
    return Runtime::get().backends();
  });
  m.def(
      "release", [] { Runtime::get().release(); }, Released());
  m.def(
      "finish", [](bool is_alone) { Runtime::get().finish(is_alone); }, "is_alone"_a, Released());
  m.def(
      "before_fork", [] { Runtime::get().before_fork(); }, Released());
  m.def(
      "after_fork", [](bool is_child) { Runtime::get().after_fork(is_child); }, "is_child"_a);
  m.attr("version") = version();
}

}  // namespace

NB_MODULE(_kastor, m) {
  add_exceptions(m);
  add_runtime(m);
  nb::class_<Found>(m, "Found")
      .def("count", [](const Found& found) { return found.image().sources(); })
      .def("islands", &Found::islands)
      .def("components", &Found::components)
      .def("maps", &Found::maps)
      .def("text", &Found::text)
      .def("json", &Found::json)
      .def("notes", &Found::notes)
      .def_prop_ro("seconds", [](const Found& found) { return found.image().seconds; })
      .def_prop_ro("preset",
                   [](const Found& found) {
                     return std::string(cli::name_of(found.image().options.islands.preset));
                   })
      .def_prop_ro("shape",
                   [](const Found& found) {
                     return nb::make_tuple(found.image().image.ny, found.image().image.nx);
                   })
      .def_prop_ro("cards", [](const Found& found) { return found.image().image.header_cards; })
      .def_prop_ro("unit", [](const Found& found) { return found.image().image.hdu.unit; })
      .def_prop_ro("path", [](const Found& found) { return found.image().image.path; })
      .def("write", &Found::write, "path"_a, "components"_a, "names"_a, "overwrite"_a);
  m.def(
      "find",
      [](std::vector<std::string> arguments, std::optional<GivenArray> array, std::string name,
         std::vector<std::string> cards, std::uintptr_t stream, const Companions& companions,
         const std::vector<std::string>& maps, std::optional<bool> components,
         const std::optional<std::string>& on) {
        const Source source{std::move(array), std::move(name), std::move(cards), stream};
        return find(std::move(arguments), source, companions, maps, components, on);
      },
      "arguments"_a, "array"_a, "name"_a, "cards"_a, "stream"_a, "companions"_a, "maps"_a,
      "components"_a = nb::none(), "on"_a = nb::none());
  m.def(
      "measure",
      [](std::vector<std::string> arguments, std::optional<GivenArray> array, std::string name,
         std::vector<std::string> cards, std::uintptr_t stream, const Companions& companions,
         const std::optional<std::string>& on) {
        const Source source{std::move(array), std::move(name), std::move(cards), stream};
        return measure(std::move(arguments), source, companions, on);
      },
      "arguments"_a, "array"_a, "name"_a, "cards"_a, "stream"_a, "companions"_a,
      "on"_a = nb::none());
  m.def("decoded", &decoded, "words"_a, "type"_a, "is_big"_a);
  add_functions(m);
  add_command(m);
}

}  // namespace kastor::python
