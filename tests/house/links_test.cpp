// The documents hang together: links lead to files and headings, and a page is in the index of its language.
#include <algorithm>
#include <cctype>

#include "house/translation.h"

namespace links_test {

using namespace simgrad::tests;
namespace fs = std::filesystem;

namespace {

/// A page without code, in which "](" may be anything.
std::string prose_of(const std::string& text) {
  std::string prose;
  bool code = false;
  for (const std::string& line : lines(text)) {
    if (line.starts_with("```"))
      code = !code;
    else if (!code)
      prose += line + "\n";
  }
  return std::regex_replace(prose, std::regex("`[^`]+`"), "");
}

/// The marks that GitHub leaves out of an anchor, beside those of ASCII.
const std::vector<std::string> chinese_marks{"，", "。", "、", "：", "；", "？", "！", "（",
                                             "）", "“",  "”",  "《", "》", "—",  "…"};

/// GitHub's anchor of a heading: letters in lower case, hyphens for blanks, no punctuation.
std::string anchor_of(std::string heading) {
  for (const std::string& mark : chinese_marks)
    for (std::size_t at; (at = heading.find(mark)) != std::string::npos;) heading.erase(at, mark.size());
  std::string anchor;
  for (const char c : heading) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == ' ')
      anchor += '-';
    else if (byte >= 0x80 || std::isalnum(byte) || c == '-' || c == '_')
      anchor += static_cast<char>(byte < 0x80 ? std::tolower(byte) : byte);
  }
  return anchor;
}

std::set<std::string> anchors_of(const std::string& text) {
  std::set<std::string> all;
  bool code = false;
  for (const std::string& line : lines(text)) {
    if (line.starts_with("```")) code = !code;
    const std::size_t title = line.find_first_not_of('#');
    if (code || title == 0 || title == std::string::npos || line[title] != ' ') continue;
    const std::string anchor = anchor_of(line.substr(title + 1));
    std::string unique = anchor;
    for (int i = 1; !all.insert(unique).second; ++i) unique = anchor + "-" + std::to_string(i);
  }
  return all;
}

struct Link {
  std::string file, anchor;
};

/// The links within the repository. The web is not asked.
std::vector<Link> relative_links(const std::string& text) {
  static const std::regex link(R"(\]\(([^)#\s]*)(?:#([^)\s]*))?\))");
  const std::string prose = prose_of(text);
  std::vector<Link> all;
  for (std::sregex_iterator each(prose.begin(), prose.end(), link), end; each != end; ++each)
    if (!(*each)[1].str().starts_with("https://")) all.push_back({(*each)[1], (*each)[2]});
  return all;
}

/// The fault of a link of a page, or "".
std::string fault_of(const Link& link, const fs::path& page) {
  const fs::path target = link.file.empty() ? page : (page.parent_path() / link.file).lexically_normal();
  if (!fs::exists(source_dir() / target)) return target.string() + " does not exist";
  if (link.anchor.empty() || anchors_of(text_of(target)).contains(link.anchor)) return "";
  return target.string() + " has no heading #" + link.anchor;
}

bool links_to(const fs::path& page, const std::string& file) {
  const std::vector<Link> all = relative_links(text_of(page));
  return std::any_of(all.begin(), all.end(), [&](const Link& link) { return link.file == file; });
}

}  // namespace

TEST_CASE("every link of a document leads to a file, and to a heading in it") {
  std::size_t followed = 0;
  for (const fs::path& page : repository_files()) {
    if (page.extension() != ".md") continue;
    for (const Link& link : relative_links(text_of(page))) {
      INFO(page << " links to " << link.file << "#" << link.anchor);
      CHECK(fault_of(link, page) == "");
      ++followed;
    }
  }
  CHECK(followed >= 580);
}

TEST_CASE("a link to a file or a heading that does not exist is found") {
  const fs::path page = "docs/README.md";
  CHECK(fault_of({"limits.md", ""}, page) == "");
  CHECK(fault_of({"scenarios.md", "answers-from-a-model"}, page) == "");
  CHECK(fault_of({"scenarios.zh.md", "用模型回答问题"}, page) == "");
  CHECK(fault_of({"", "lessons"}, page) == "");
  CHECK(fault_of({"limit.md", ""}, page) == "docs/limit.md does not exist");
  CHECK(fault_of({"scenarios.md", "answers"}, page) == "docs/scenarios.md has no heading #answers");
  CHECK(fault_of({"", "lesson"}, page) == "docs/README.md has no heading #lesson");
  const std::vector<Link> found = relative_links("`[a](b)`\n```\n[c](d)\n```\n![e](f) [g](h#i)");
  REQUIRE(found.size() == 2);
  CHECK(found[0].file == "f");
  CHECK(found[1].anchor == "i");
}

TEST_CASE("anchors are those that GitHub makes of headings") {
  CHECK(anchor_of("A scenario of your own") == "a-scenario-of-your-own");
  CHECK(anchor_of("Failures, stragglers: `recovery`?") == "failures-stragglers-recovery");
  CHECK(anchor_of("故障、慢节点、流量与价格") == "故障慢节点流量与价格");
  CHECK(anchors_of("# Twice\n## Twice\n```sh\n# no heading\n```\n") == std::set<std::string>{"twice", "twice-1"});
}

TEST_CASE("every page of docs is in the index of its language, in both languages") {
  REQUIRE(pages().size() > 10);
  for (const fs::path& page : pages()) {
    const fs::path translation = in_chinese(page);
    INFO(page);
    REQUIRE(fs::exists(source_dir() / translation));
    CHECK(text_of(page).find("\n[中文](" + translation.filename().string() + ")") != std::string::npos);
    CHECK(text_of(translation).find("\n[English](" + page.filename().string() + ")") != std::string::npos);
    if (page.filename() == "README.md") continue;
    CHECK(links_to("docs/README.md", page.filename().string()));
    CHECK(links_to("docs/README.zh.md", translation.filename().string()));
  }
  for (const auto& entry : fs::directory_iterator(source_dir() / "docs")) {
    const fs::path name = entry.path().filename();
    INFO(name);
    if (name.stem().extension() == ".zh")
      CHECK(fs::exists(entry.path().parent_path() / name.stem().stem().concat(".md")));
  }
  CHECK(links_to("README.md", "docs/README.md"));
  CHECK(links_to("README.zh.md", "docs/README.zh.md"));
}

}  // namespace links_test
