import { test } from "node:test";
import type { Page } from "playwright-core";
import { openFullHome, showsAll } from "../helpers/full-home.ts";
import { picture } from "../helpers/stage.ts";
import { assertFits } from "../helpers/text-boxes.ts";

test("nothing on the dashboard is cut off or overlaps", async (t) => {
  const stage = await openFullHome(t);
  const { page } = await stage.visit(t);
  await showsAll(page);

  for (const [at, width, height] of [
    ["on a wall", 1280, 800],
    ["on a wall at 200 %", 640, 400],
    ["on a phone", 390, 844],
    ["on a wall at 400 %", 320, 256],
  ] as const) {
    await t.test(at, async () => {
      await page.setViewportSize({ width, height });
      await picture(page, `zoom-${width}`);
      await assertFits(page);
    });
  }
  await page.setViewportSize({ width: 1280, height: 800 });
  for (const size of [24, 32]) {
    await t.test(`with text of ${size} pixels in the browser's settings`, async () => {
      await setTextSize(page, size);
      await picture(page, `zoom-text-${size}`);
      await assertFits(page);
    });
  }
});

/** As people set it in their browser: CSS pixels, of which 16 are usual. */
async function setTextSize(page: Page, size: number): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send("Page.setFontSizes", { fontSizes: { standard: size } });
  await page.reload();
  await showsAll(page);
}
