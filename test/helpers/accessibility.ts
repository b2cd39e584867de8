import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import type { Page } from "playwright-core";

const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

/** Fails on whatever axe-core finds against WCAG 2.2 AA on the page as it is now. */
export async function assertAccessible(page: Page): Promise<void> {
  // Evaluated and not added as a script, which the page's own rules would refuse.
  await page.evaluate(await readFile(AXE, "utf8"));
  const { violations } = await page.evaluate<AxeResults>(
    "axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })",
  );
  const found = violations.map(({ id, help, nodes }) => ({
    id,
    help,
    nodes: nodes.map(({ html, failureSummary }) => `${html}\n${failureSummary}`),
  }));
  assert.deepEqual(found, []);
}
