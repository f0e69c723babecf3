// SPDX-License-Identifier: Apache-2.0
// For builds without a device backend.
#include "device/probe.hpp"

namespace kastor::device {

const Probe& probe() {
  static const Probe none;
  return none;
}

Memory memory() { return {}; }

}  // namespace kastor::device
