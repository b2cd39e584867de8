import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import type { Page } from "playwright-core";

const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

/**
 * Text on a gradient is left out by axe-core, so the page is looked at with plain grounds: the wall's own,
 * and of a level's fill the end on which text is hardest to read.
 */
const PLAIN = `(() => {
  const plain = new CSSStyleSheet();
  plain.replaceSync(\`
    .wall, .settings, .overlay, .pairing, .editor { background: var(--mantel-bg) !important; }
    .level { background: oklch(var(--mantel-fill-to) var(--hue)) !important; }
    .level::before, .level::after, .progress::before { content: none !important; }
  \`);
  const roots = [document];
  for (const root of roots) {
    if (!root.adoptedStyleSheets.some(({ isPlain }) => isPlain)) {
      root.adoptedStyleSheets.push(Object.assign(plain, { isPlain: true }));
    }
    for (const { shadowRoot } of root.querySelectorAll("*")) if (shadowRoot) roots.push(shadowRoot);
  }
})()`;

/**
 * Fails on whatever axe-core finds on the page as it is now: WCAG 2.2 AA, and good practice. `without`
 * is a selector of what has tests of its own. Elements without a violation are checked, but not described, which would
 * take longer than the checks.
 */
export async function assertAccessible(page: Page, without?: string): Promise<void> {
  await page.evaluate(PLAIN);
  // Evaluated and not added as a script, which the page's own rules would refuse.
  if (!(await page.evaluate(`"axe" in window`))) await page.evaluate(await readFile(AXE, "utf8"));
  const { violations } = await page.evaluate<AxeResults>(
    `axe.run({ exclude: ${JSON.stringify(without ? [without] : [])} },
      { resultTypes: ["violations"], rules: { "target-size": { enabled: true } } })`,
  );
  const found = violations.map(({ id, help, nodes }) => ({
    id,
    help,
    nodes: nodes.map(({ html, failureSummary }) => `${html}\n${failureSummary}`),
  }));
  assert.deepEqual(found, []);
}
