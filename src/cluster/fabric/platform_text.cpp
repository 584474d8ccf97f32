#include "cluster/fabric/platform_text.h"

#include <expat.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <memory>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "base/files.h"
#include "cluster/fabric/platform_elements.h"
#include "cluster/topologies/topology.h"

namespace simgrad::cluster {

namespace {

/// Zones within zones, each of which SimGrid enters by a call of a function.
constexpr int nested_most = 100;

// expat 2.9 has these functions in 64 bits under new names, and deprecates the old ones.
#if XML_MAJOR_VERSION > 2 || XML_MINOR_VERSION >= 9
constexpr auto line_of = XML_GetCurrentLineNumber64;
constexpr auto column_of = XML_GetCurrentColumnNumber64;
constexpr auto offset_of = XML_GetCurrentByteIndex64;
constexpr auto length_of = XML_GetCurrentByteCount64;
#else
constexpr auto line_of = XML_GetCurrentLineNumber;
constexpr auto column_of = XML_GetCurrentColumnNumber;
constexpr auto offset_of = XML_GetCurrentByteIndex;
constexpr auto length_of = XML_GetCurrentByteCount;
#endif

/// One reading of a platform's text by expat. The text is given to it as ISO 8859-1, so that a character is a byte, as
/// it is to SimGrid, and SimGrid's reading cannot be another.
class PlatformScan {
 public:
  PlatformScan(const std::string& file, std::string text)
      : file_(file), text_(std::move(text)), parser_(XML_ParserCreate("ISO-8859-1"), XML_ParserFree) {
    base::check(parser_ != nullptr, "expat makes a parser");
    XML_SetUserData(parser(), this);
    XML_SetElementHandler(parser(), on_start, on_end);
    XML_SetCharacterDataHandler(parser(), on_text);
    XML_SetCommentHandler(parser(), on_comment);
    XML_SetStartDoctypeDeclHandler(parser(), on_doctype);
    XML_SetProcessingInstructionHandler(parser(), on_instruction);
    XML_SetStartCdataSectionHandler(parser(), on_raw_text);
  }

  void run() {
    // By such a mark expat would take the text for another encoding than SimGrid does.
    if (const auto first = static_cast<unsigned char>(text_.empty() ? '<' : text_.front()); first >= 0x80)
      throw base::ScenarioError(file_ +
                                ":1:1: a byte order mark or another character, expected XML from the first byte");
    const auto status = XML_Parse(parser(), text_.data(), static_cast<int>(text_.size()), XML_TRUE);
    if (fault_) std::rethrow_exception(fault_);
    if (status != XML_STATUS_OK)
      refuse_here(fmt::format("no XML that can be read ({}), expected a platform as SimGrid documents it",
                              XML_ErrorString(XML_GetErrorCode(parser()))));
    check_bytes();
  }

 private:
  XML_Parser parser() const { return parser_.get(); }
  std::size_t offset() const { return static_cast<std::size_t>(offset_of(parser())); }
  std::size_t length() const { return static_cast<std::size_t>(length_of(parser())); }

  std::string here() const { return fmt::format("{}:{}:{}", file_, line_of(parser()), column_of(parser()) + 1); }
  [[noreturn]] void refuse_here(const std::string& what) const {
    throw base::ScenarioError(fmt::format("{}: {}", here(), what));
  }

  /// Expat calls this through C, which no exception may pass.
  template <typename Body>
  static void guarded(void* user_data, Body body) {
    PlatformScan& scan = *static_cast<PlatformScan*>(user_data);
    try {
      body(scan);
    } catch (...) {
      scan.fault_ = std::current_exception();
      XML_StopParser(scan.parser(), XML_FALSE);
    }
  }

  static void on_start(void* scan, const XML_Char* name, const XML_Char** /*attributes*/) {
    guarded(scan, [&](PlatformScan& self) { self.start(name); });
  }
  static void on_end(void* scan, const XML_Char* /*name*/) {
    guarded(scan, [](PlatformScan& self) {
      --self.nested_;
      self.require_profile(std::exchange(self.content_, {}));
    });
  }
  static void on_text(void* scan, const XML_Char* text, int size) {
    guarded(scan, [&](PlatformScan& self) { self.content_.append(text, static_cast<std::size_t>(size)); });
  }
  static void on_comment(void* scan, const XML_Char* /*text*/) {
    guarded(scan, [](PlatformScan& self) { self.comments_.emplace_back(self.offset(), self.length()); });
  }
  static void on_doctype(void* scan, const XML_Char*, const XML_Char*, const XML_Char*, int has_internal_subset) {
    guarded(scan, [&](PlatformScan& self) {
      if (has_internal_subset)
        self.refuse_here(
            "the document type declares something of its own in [ ], expected <!DOCTYPE platform SYSTEM "
            "\"https://simgrid.org/simgrid.dtd\">");
    });
  }
  static void on_instruction(void* scan, const XML_Char* /*target*/, const XML_Char* /*data*/) {
    guarded(scan, [](PlatformScan& self) { self.refuse_here("a processing instruction <? ?>, expected elements"); });
  }
  static void on_raw_text(void* scan) {
    guarded(scan, [](PlatformScan& self) { self.refuse_here("a CDATA section <![CDATA[ ]]>, expected elements"); });
  }

  void start(const std::string& name) {
    if (const std::string fault = fault_of_element(name); !fault.empty()) refuse_here(fault);
    if (++nested_ > nested_most)
      refuse_here(fmt::format("<{}> is nested in {} elements, expected fewer than {}", name, nested_ - 1, nested_most));
    const auto attributes = attributes_of(std::string_view(text_).substr(offset(), length()));
    try {
      hosts_ += hosts_of_element(name, attributes);
    } catch (const std::invalid_argument& fault) {
      refuse_here(fault.what());
    }
    if (hosts_ > most_ranks)
      refuse_here(fmt::format("the platform has more than {} hosts, expected at most as many", most_ranks));
    content_.clear();
    for (const auto& [key, value] : attributes) {
      if (names_file(key) && !value.empty()) check_named_file(value);
      if (key == "periodicity")
        if (const std::string fault = fault_of_period(value); !fault.empty()) refuse_here(fault);
    }
  }

  void require_profile(const std::string& text, const std::string& where = "") const {
    if (const std::string fault = fault_of_profile(text); !fault.empty()) refuse_here(where + fault);
  }

  /// Reads a file where SimGrid will look for it: in the present directory first, then beside the platform.
  void check_named_file(const std::string& name) {
    const std::filesystem::path beside = std::filesystem::path(file_).parent_path() / name;
    const std::string path = access(name.c_str(), R_OK) == 0 ? name : beside.string();
    if (!read_.insert(path).second) return;
    std::string text;
    try {
      text = base::read_file(path);
    } catch (const base::EnvironmentError& error) {
      throw base::EnvironmentError(fmt::format("{}: {}", here(), error.what()));
    } catch (const base::ScenarioError& error) {
      refuse_here(error.what());
    }
    require_profile(text, path + ": ");
  }

  [[noreturn]] void refuse_at(std::size_t place, const char* what) const {
    const std::string_view before = std::string_view(text_).substr(0, place);
    throw base::ScenarioError(fmt::format("{}:{}:{}: {}", file_, 1 + std::ranges::count(before, '\n'),
                                          place - (before.rfind('\n') + 1) + 1, what));
  }

  /// A second look, at the bytes: SimGrid reads references otherwise than expat, and should its reader go astray, there
  /// is no option that it could find.
  void check_bytes() {
    for (const auto& [from, size] : comments_)
      std::fill_n(text_.begin() + static_cast<std::ptrdiff_t>(from), size, ' ');
    const std::string_view text = text_;
    if (const std::size_t at = text.find("<config"); at != std::string_view::npos)
      refuse_at(at, "\"<config\" in a text, expected none");
    for (std::size_t at = text.find('&'); at != std::string_view::npos; at = text.find('&', at + 1)) {
      const std::string_view rest = text.substr(at, 6);
      const auto is = [&](std::string_view reference) { return rest.starts_with(reference); };
      if (!is("&amp;") && !is("&lt;") && !is("&gt;") && !is("&quot;") && !is("&apos;"))
        refuse_at(at, "a reference, expected none but &amp; &lt; &gt; &quot; and &apos;");
    }
  }

  const std::string& file_;
  std::string text_;
  std::unique_ptr<XML_ParserStruct, void (*)(XML_Parser)> parser_;
  std::vector<std::pair<std::size_t, std::size_t>> comments_;  ///< where they begin, and their lengths
  std::set<std::string> read_;                                 ///< paths
  std::string content_;                                        ///< of the present element, which may be a profile
  std::exception_ptr fault_;
  std::int64_t hosts_ = 0;
  int nested_ = 0;
};

}  // namespace

void check_platform_text(const std::string& file) { PlatformScan(file, base::read_file(file)).run(); }

}  // namespace simgrad::cluster
