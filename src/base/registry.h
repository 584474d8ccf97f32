/// The explicit table of the kinds of a component: a strategy, a model, a data source, a topology, ...
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/describe.h"

namespace simgrad::base {

template <class Base>
class Registry {
 public:
  struct Entry {
    About about;
    std::function<std::unique_ptr<Base>()> make;
  };

  explicit Registry(std::vector<Entry> entries) : entries_(std::move(entries)) {}

  const std::vector<Entry>& entries() const { return entries_; }

  /// The entry of the kind, or null.
  const Entry* find(std::string_view kind) const {
    for (const Entry& entry : entries_)
      if (entry.about.kind == kind) return &entry;
    return nullptr;
  }

 private:
  std::vector<Entry> entries_;
};

/// A registry's line for a type that has `static constexpr About about`.
template <class Base, class Kind>
typename Registry<Base>::Entry entry() {
  return {Kind::about, [] { return std::make_unique<Kind>(); }};
}

/// An option that holds one component out of a registry.
template <class Base>
class Slot final : public AnySlot {
 public:
  explicit Slot(const Registry<Base>& registry) : registry_(&registry) {}
  Slot(const Registry<Base>& registry, std::string_view kind) : registry_(&registry) { choose(kind); }

  /// With an object of one of the kinds, as set in code.
  template <class Kind>
  Slot(const Registry<Base>& registry, std::unique_ptr<Kind> object)
      : registry_(&registry), entry_(registry.find(Kind::about.kind)), object_(std::move(object)) {}

  std::vector<About> kinds() const override {
    std::vector<About> all;
    for (const auto& entry : registry_->entries()) all.push_back(entry.about);
    return all;
  }
  std::string_view kind() const override { return entry_ ? entry_->about.kind : std::string_view(); }
  bool choose(std::string_view kind) override {
    const auto* found = registry_->find(kind);
    if (!found) return false;
    entry_ = found;
    object_ = found->make();
    alias_.clear();
    return true;
  }
  void call(std::string_view alias) override { alias_ = alias; }
  std::string_view alias() const override { return alias_; }
  Described* object() override { return object_.get(); }
  std::unique_ptr<Described> example(std::string_view kind) const override {
    const auto* found = registry_->find(kind);
    return found ? found->make() : nullptr;
  }

  explicit operator bool() const { return object_ != nullptr; }
  const Base& operator*() const { return *object_; }
  const Base* operator->() const { return object_.get(); }
  std::shared_ptr<const Base> shared() const { return object_; }

 private:
  const Registry<Base>* registry_;
  const typename Registry<Base>::Entry* entry_ = nullptr;
  std::shared_ptr<Base> object_;
  std::string alias_;
};

}  // namespace simgrad::base
