import assert from "node:assert/strict";
import { test } from "node:test";
import "../../../helpers/page/light-dom.ts";
import { cpuMsOf } from "../../../helpers/cpu-time.ts";

const { render } = await import("lit");
const { markdownView } = await import("../../../../host/dashboard/settings/markdown.ts");

/** The HTML that a document becomes, without lit's marks. */
function shown(text: string): string {
  const place = document.createElement("div");
  render(markdownView(text), place);
  return place.innerHTML
    .replace(/<!--.*?-->/g, "")
    .replace(/\s*\n\s*/g, "")
    .trim();
}

for (const [text, expected] of [
  [
    "# Echo\nSays *it* **again**,\nwith `code`.",
    "<h3>Echo</h3><p>Says <em>it</em> <strong>again</strong>, with <code>code</code>.</p>",
  ],
  [
    "## Use\n\n- one\n- two\n  and more\n\n1. first",
    "<h4>Use</h4><ul><li>one</li><li>two and more</li></ul><ul><li>first</li></ul>",
  ],
  [
    "```sh\nnpm i # **no**\n```\nEnd",
    '<pre tabindex="0"><code>npm i # **no**</code></pre><p>End</p>',
  ],
  ["~~~\nopen", '<pre tabindex="0"><code>open</code></pre>'],
  ["---\n\n### Third", "<h5>Third</h5>"],
  [
    "[site](https://a.test/x) ![logo](logo.png)",
    '<p><a target="_blank" rel="noopener noreferrer" href="https://a.test/x">site</a> logo</p>',
  ],
  ["[bad](javascript:alert(1)) [local](/api/v1/tokens)", "<p>[bad](javascript:alert(1)) local</p>"],
  ["<script>alert(1)</script>", "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>"],
  ["", ""],
] as const) {
  test(`a README with ${JSON.stringify(text.slice(0, 30))} is shown as elements`, () => {
    assert.equal(shown(text), expected);
  });
}

test("a hostile README takes no noticeable time", () => {
  for (const text of [
    "*".repeat(100_000),
    "[".repeat(100_000),
    "- \n".repeat(50_000),
    `${"`".repeat(3)}\n${"x\n".repeat(50_000)}`,
    "**a ".repeat(20_000),
    "# ".repeat(50_000),
    `#${" ".repeat(50_000)}`,
  ]) {
    assert.ok(cpuMsOf(() => markdownView(text)) < 1_000, text.slice(0, 10));
  }
});
