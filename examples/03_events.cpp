// SPDX-License-Identifier: MIT
//
// Events handled where they occur: listeners by key, a filter, and a listener that ends with what
// it refers to.
#include <string>

#include <handoff/event/event_dispatcher.hpp>

int main() {
  handoff::EventDispatcher<std::string, void(int)> sensors;

  int warmest = -100;
  sensors.append_listener("temperature", [&](int celsius) {
    if (celsius > warmest) warmest = celsius;
  });
  sensors.append_filter([](int& value) { return value > -100 && value < 100; });  // no nonsense

  {
    int readings = 0;
    // Whatever other threads dispatch, `readings` may end when this has ended.
    const handoff::ScopedListener counter =
        sensors.append_listener("temperature", [&](int) { ++readings; });
    sensors.dispatch("temperature", 21);
    sensors.dispatch("temperature", 3000);
    sensors.dispatch("humidity", 60);
    if (readings != 1) return 1;
  }
  sensors.dispatch("temperature", 19);
  return warmest == 21 ? 0 : 1;
}
