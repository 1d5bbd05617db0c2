#include "report/report_style.hpp"

namespace stria::tool {

// The parts have the colours of the timeline (tools/viewer/page/picture/palette.js).
const char kReportStyle[] = R"css(:root {
  --ground: #ffffff; --panel: #f7f8fa; --ink: #1f2733; --muted: #667085; --line: #e4e7ec; --alert: #fff6e5; --alert-ink: #6b4300;
  --write: #332187; --read: #42a9e8; --sync: #9b2155; --pack: #45a882; --unpack: #268140;
  --exchange: #9b9c30; --commit: #b52799; --plan: #d05dc4; --metadata: #7f0e5b; --open: #bc556b;
  --waiting: #e1c271; --turn: #fff383; --sharing: #704103; --other: #b3c4d6;
  --background: #c0a8de; --name: #db493c; --close: #8c4a4d; --reserve: #d49297; --resize: #efb7af;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #161a21; --panel: #1d232c; --ink: #e4e8ef; --muted: #98a2b3; --line: #2a313c; --alert: #3a2c10; --alert-ink: #ffdf9e;
    --write: #4781e9; --read: #96cefc; --sync: #f87781; --pack: #41bea5; --unpack: #0f923f;
    --exchange: #b4ab1c; --commit: #e13c9a; --plan: #eb84d7; --metadata: #a2449e; --open: #b55479;
    --waiting: #cfaa4d; --turn: #f6e754; --sharing: #815415; --other: #455168;
    --background: #c0a8fc; --name: #d64d2f; --close: #ad6a6e; --reserve: #cd9299; --resize: #fac3bd;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 15px/1.55 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
main { max-width: 860px; margin: 0 auto; padding: 40px 24px 80px; }
h1 { margin: 0; font-size: 26px; }
h2 { margin: 44px 0 6px; font-size: 18px; }
h3 { margin: 0 0 4px; font-size: 15.5px; font-weight: 600; }
.command { margin: 2px 0 0; color: var(--muted); font: 13px ui-monospace, "DejaVu Sans Mono", monospace; overflow-wrap: anywhere; }
.headline { margin: 24px 0 20px; font-size: 20px; line-height: 1.45; }
[role="alert"] { margin: 12px 0 0; padding: 8px 14px; border-radius: 8px; background: var(--alert); color: var(--alert-ink); }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(220px, 1fr)); gap: 14px; }
.tiles div { padding: 16px 18px; border-radius: 10px; background: var(--panel); }
.tiles b { display: block; font-size: 25px; font-weight: 600; }
.tiles span { color: var(--muted); font-size: 13px; }
.note { margin: 0 0 12px; color: var(--muted); font-size: 13.5px; }
.findings { margin: 8px 0 0; padding: 0; list-style: none; counter-reset: finding; }
.findings li { position: relative; margin: 12px 0; padding: 14px 18px 12px 54px; border-radius: 10px; background: var(--panel);
  counter-increment: finding; }
.findings li::before { content: counter(finding); position: absolute; left: 18px; top: 12px; width: 24px; height: 24px;
  border: 1px solid var(--muted); border-radius: 50%; color: var(--muted); font-size: 13px; line-height: 22px; text-align: center; }
.findings p { margin: 2px 0; }
.remarks li { padding: 8px 18px 8px 54px; background: none; border: 1px solid var(--line); }
.remarks h3 { font-weight: 500; }
.evidence { color: var(--muted); font-size: 13.5px; }
svg { display: block; width: 100%; height: auto; }
svg text { fill: var(--muted); font-size: 12px; }
.bar { height: 44px; border-radius: 8px; }
.legend { display: flex; flex-wrap: wrap; gap: 4px 22px; margin: 12px 0 0; padding: 0; list-style: none; font-size: 14px; }
.legend span { color: var(--muted); font-size: 13px; }
i { display: inline-block; width: 12px; height: 12px; margin-right: 6px; border-radius: 3px; vertical-align: -1px; }
.p-write, .k-0 { fill: var(--write); background: var(--write); }
.p-read, .k-1 { fill: var(--read); background: var(--read); }
.p-sync, .k-4 { fill: var(--sync); background: var(--sync); }
.p-pack, .k-2 { fill: var(--pack); background: var(--pack); }
.p-unpack { fill: var(--unpack); background: var(--unpack); }
.p-exchange, .k-3 { fill: var(--exchange); background: var(--exchange); }
.p-commit, .k-5 { fill: var(--commit); background: var(--commit); }
.p-plan { fill: var(--plan); background: var(--plan); }
.p-metadata { fill: var(--metadata); background: var(--metadata); }
.p-open { fill: var(--open); background: var(--open); }
.p-waiting { fill: var(--waiting); background: var(--waiting); }
.p-turn { fill: var(--turn); background: var(--turn); }
.p-background { fill: var(--background); background: var(--background); }
.p-name { fill: var(--name); background: var(--name); }
.p-close { fill: var(--close); background: var(--close); }
.p-reserve { fill: var(--reserve); background: var(--reserve); }
.p-resize { fill: var(--resize); background: var(--resize); }
.p-sharing { fill: var(--sharing); background: var(--sharing); }
.p-other { fill: var(--other); background: var(--other); }
.scroll { overflow-x: auto; }
.scroll svg { min-width: 520px; }
td.name { min-width: 15em; }
table { width: 100%; border-collapse: collapse; font-size: 13.5px; }
th { padding: 6px 10px 6px 0; border-bottom: 1px solid var(--muted); color: var(--muted); font-weight: 500; text-align: right; }
td { padding: 6px 10px 6px 0; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; vertical-align: top;
  font-variant-numeric: tabular-nums; }
th:first-child, td:first-child { text-align: left; white-space: normal; overflow-wrap: anywhere; }
details { color: var(--muted); font-size: 13px; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 14px; margin: 4px 0; }
dd { margin: 0; }
)css";

}  // namespace stria::tool
