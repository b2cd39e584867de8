import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { assertAccessible } from "../helpers/accessibility.ts";
import { boxOf } from "../helpers/browser.ts";
import { openFullHome, showsAll } from "../helpers/full-home.ts";
import { patchUi, picture } from "../helpers/stage.ts";
import { assertFits } from "../helpers/text-boxes.ts";
import { until } from "../helpers/until.ts";

test("a home with a right-to-left language", async (t) => {
  const stage = await openFullHome(t);
  const { page } = await stage.visit(t, "edit");
  await showsAll(page);
  await patchUi(stage.host, { locale: "ar" });
  await page.locator(":root[dir=rtl]").waitFor();

  for (const [width, height] of [
    [1280, 800],
    [390, 844],
    [320, 568],
  ] as const) {
    await t.test(`is mirrored and fits into ${width} pixels of width`, async () => {
      await page.setViewportSize({ width, height });
      await picture(page, `right-to-left-${width}`);
      await assertFits(page);
      await assertAccessible(page);
    });
  }
  await page.setViewportSize({ width: 1280, height: 800 });
  await t.test("writes times and numbers from left to right", () => times(page));
  await t.test("is edited as it is shown", () => edits(page));
});

async function times(page: Page): Promise<void> {
  const clock = page.locator("[data-module=clock-widget]");
  const [hour, minute, half] = await Promise.all(
    [".hour", ".minute", ".dayPeriod"].map((part) => boxOf(clock.locator(part))),
  );

  assert.ok(half && hour && minute && half.x < hour.x && hour.x < minute.x);
}

async function edits(page: Page): Promise<void> {
  await page.locator(".edit-layout").click();
  const tile = page.locator(".grid-stack-item", { hasText: "is not allowed yet" });
  await tile.scrollIntoViewIfNeeded();
  await picture(page, "right-to-left-editor");
  const before = await boxOf(tile);

  await dragLeft(page, { x: before.x + before.width / 2, y: before.y + before.height / 2 });
  await until(async () => (await boxOf(tile)).x < before.x - 90);
  const moved = await boxOf(tile);
  await dragLeft(page, { x: moved.x + 16, y: moved.y + moved.height - 16 });

  await until(async () => (await boxOf(tile)).width > before.width + 90);
  const resized = await boxOf(tile);
  assert.equal(Math.round(moved.width), Math.round(before.width));
  assert.equal(Math.round(resized.x + resized.width), Math.round(moved.x + moved.width));
}

/** One column of the wall. */
async function dragLeft(page: Page, { x, y }: { x: number; y: number }): Promise<void> {
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x - 104, y, { steps: 10 });
  await page.mouse.up();
}
