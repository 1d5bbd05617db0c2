#include "viewer/side_by_side.hpp"

#include <fmt/format.h>

#include <span>

#include "viewer/base64.hpp"

namespace stria::tool {

namespace {

// The document holds the pages of the frames as base64, so that no text in them can end the
// element around it.
constexpr const char kBegin[] = R"page(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="color-scheme" content="light dark">
<title>Two timelines</title>
<style>
html, body { height: 100%; margin: 0; }
body { display: flex; flex-direction: column; font: 12px system-ui, "DejaVu Sans", sans-serif; }
label { padding: 3px 20px; }
iframe { flex: 1; min-height: 0; border: 0; border-top: 2px solid #888; }
</style>
</head>
<body>
<label><input id="together" type="checkbox" checked> Move and zoom together</label>
<iframe id="first" name="stria-sibling" title="First run"></iframe>
<iframe id="second" name="stria-sibling" title="Second run"></iframe>
<noscript>This page draws timelines with JavaScript.</noscript>
)page";

constexpr const char kEnd[] = R"page(<script>
const frames = ["first", "second"].map((id) => document.getElementById(id));
const spans = [];
let loaded = 0;
for (const frame of frames) {
  const binary = atob(document.getElementById(`page-${frame.id}`).textContent.trim());
  frame.addEventListener("load", () => {
    document.documentElement.dataset.ready = String(++loaded === frames.length);
  });
  frame.srcdoc = new TextDecoder().decode(Uint8Array.from(binary, (c) => c.charCodeAt(0)));
}
addEventListener("message", ({ data, source }) => {
  const from = frames.findIndex((frame) => frame.contentWindow === source);
  if (from >= 0 && data?.striaOpen > 0) {
    spans[from] = data.striaOpen;
    if (spans[0] > 0 && spans[1] > 0) {
      frames.forEach((frame) => frame.contentWindow.postMessage({ striaWiden: Math.max(...spans) }, "*"));
    }
  } else if (from >= 0 && document.getElementById("together").checked) {
    frames[1 - from].contentWindow.postMessage(data, "*");
  }
});
</script>
</body>
</html>
)page";

std::string page_script(const char* id, const std::string& page) {
  std::string script = fmt::format("<script type=\"text/plain\" id=\"page-{}\">", id);
  append_base64(std::as_bytes(std::span(page)), script);
  return script + "</script>\n";
}

}  // namespace

std::string side_by_side_page(const std::string& first, const std::string& second) {
  return kBegin + page_script("first", first) + page_script("second", second) + kEnd;
}

}  // namespace stria::tool
