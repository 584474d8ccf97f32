// A scenario that is refused, with a place and a reason.
#pragma once

#include <string>

#include "base/errors.h"
#include "catch.h"
#include "experiment/scenario.h"

namespace simgrad::experiment {

inline void check_refused_text(const std::string& text, const std::string& why) {
  CAPTURE(text);
  try {
    planned(text);
    FAIL("accepted");
  } catch (const base::ScenarioError& error) {
    const std::string told = error.what();
    CAPTURE(told);
    CHECK(told.find(why) != std::string::npos);
    CHECK(told.find("x.toml:") != std::string::npos);
  }
}

}  // namespace simgrad::experiment
