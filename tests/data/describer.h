/// A describer that writes down what it is shown.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/describe.h"

namespace simgrad::data::test {

class Notes final : public base::Describer {
 public:
  std::vector<std::string> keys;
  std::map<std::string, base::Bounds, std::less<>> bounds;
  std::map<std::string, std::string, std::less<>> refused;

  using Key = std::string_view;
  using Meaning = std::string_view;
  void flag(Key key, bool&, Meaning) override { note(key); }
  void integer(Key key, std::int64_t&, Meaning, base::Bounds b) override { note(key, b); }
  void number(Key key, double&, Meaning, base::Bounds b) override { note(key, b); }
  void quantity(Key key, double&, base::Unit, Meaning, base::Bounds b) override { note(key, b); }
  void text(Key key, std::string&, Meaning) override { note(key); }
  void path(Key key, std::string&, Meaning) override { note(key); }
  void numbers(Key key, std::vector<double>&, Meaning, base::Bounds b) override { note(key, b); }
  void integer(Key key, std::optional<std::int64_t>&, Meaning, base::Bounds b) override { note(key, b); }
  void number(Key key, std::optional<double>&, Meaning, base::Bounds b) override { note(key, b); }
  void quantity(Key key, std::optional<double>&, base::Unit, Meaning, base::Bounds b) override { note(key, b); }
  void text(Key key, std::optional<std::string>&, Meaning) override { note(key); }
  void names_or_indices(Key key, std::vector<std::string>&, Meaning) override { note(key); }
  void name_or_index(Key key, std::optional<std::string>&, Meaning) override { note(key); }
  void integer_or(Key key, std::optional<std::int64_t>&, std::string_view, Meaning, base::Bounds b) override {
    note(key, b);
  }
  void number_or(Key key, std::optional<double>&, std::string_view, Meaning, base::Bounds b) override { note(key, b); }
  void quantity_or(Key key, std::optional<double>&, base::Unit, std::string_view, Meaning, base::Bounds b) override {
    note(key, b);
  }
  void component(Key key, base::AnySlot&, Meaning) override { note(key); }
  void inline_component(Key key, base::AnySlot& slot, Meaning) override {
    note(key);
    if (slot.object()) slot.object()->describe(*this);
  }
  void section(Key key, base::Described&, Meaning) override { note(key); }
  void refuse(Key key, std::string_view message) override { refused.emplace(key, message); }
  bool given(Key) const override { return false; }

 protected:
  void any_choice(Key key, int&, std::span<const base::Choice>, Meaning) override { note(key); }
  void any_list(Key key, AnyList&, Meaning) override { note(key); }

 private:
  void note(Key key, base::Bounds b = {}) {
    keys.emplace_back(key);
    bounds.emplace(key, b);
  }
};

}  // namespace simgrad::data::test
