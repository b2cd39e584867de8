import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { assertAccessible } from "../helpers/accessibility.ts";
import { openBrowser, openPage } from "../helpers/browser.ts";
import { openFullHome, showsAll } from "../helpers/full-home.ts";
import { startHost } from "../helpers/host.ts";
import { patchUi, picture, type Stage } from "../helpers/stage.ts";
import { until } from "../helpers/until.ts";

const SIZES = [
  { width: 390, height: 844 },
  { width: 1280, height: 800 },
];

test("the dashboard with every widget has no accessibility violations", async (t) => {
  const stage = await openFullHome(t);
  const { page } = await stage.visit(t, "edit");
  // Colours on their way to another theme are neither the one's nor the other's.
  await page.emulateMedia({ reducedMotion: "reduce" });
  await showsAll(page);

  await t.test("with pending, refused and unconfirmed commands, wide and narrow", async () => {
    await inBothThemes(page, stage, async (theme) => {
      for (const size of SIZES) {
        await page.setViewportSize(size);
        await bringAbout(page);
        await picture(page, `wall-${theme}-${size.width}`);
        await assertAccessible(page);
      }
    });
  });
  await t.test("with the search open, wide and narrow", async () => {
    await inBothThemes(page, stage, async (theme) => {
      for (const size of SIZES) {
        await page.setViewportSize(size);
        await page.getByRole("button", { name: "Find" }).click();
        await page.getByRole("searchbox", { name: "Find" }).fill("li");
        await page.getByRole("list", { name: "Results" }).getByRole("button").first().waitFor();
        await picture(page, `find-${theme}-${size.width}`);
        await assertAccessible(page);
        await page.keyboard.press("Escape");
      }
    });
  });
  await t.test("with broken code, in its tile and in the list of problems", async () => {
    await breakCode(page, stage);
    await page.reload();
    await page.getByRole("alert").getByText("no ink").waitFor();
    await page.getByRole("button", { name: /^Show problems/ }).click();
    await page.locator("#module-problems").getByText("index.ts:1").waitFor();
    await inBothThemes(page, stage, async (theme) => {
      await picture(page, `wall-broken-${theme}`);
      await assertAccessible(page);
    });
  });
  await t.test("while the host is unreachable", async () => {
    await showsAll(page);
    await page.context().setOffline(true);
    await stage.host.stop();
    await page.getByRole("alert").getByText("showing the last known state").waitFor();
    for (const theme of ["dark", "light"]) {
      await page.evaluate(`document.documentElement.dataset.theme = "${theme}"`);
      await picture(page, `wall-away-${theme}`);
      await assertAccessible(page);
    }
  });
});

async function inBothThemes(
  page: Page,
  { host }: Stage,
  look: (theme: string) => Promise<void>,
): Promise<void> {
  for (const theme of ["dark", "light"] as const) {
    await patchUi(host, { theme });
    await page.locator(`:root[data-theme=${theme}]`).waitFor();
    await look(theme);
  }
}

/** A command that waits for its answer, one that is refused, and a lock that asks. */
async function bringAbout(page: Page): Promise<void> {
  await page.getByRole("slider", { name: "Cellar" }).press("ArrowRight");
  await page.getByRole("button", { name: "Front door Locked" }).click();
  const waiting = page.locator(".pending");
  await until(async () => {
    if ((await waiting.count()) > 0) return true;
    return page.getByRole("slider", { name: "Attic" }).press("ArrowRight");
  });

  await page.getByRole("slider", { name: "Cellar" }).getByText("No answer").waitFor();
  await page.getByRole("button", { name: "Front door Unlock?" }).waitFor();
}

async function breakCode(page: Page, { host }: Stage): Promise<void> {
  const note = join(host.plugins, "note-widget/widget.ts");
  const source = await readFile(note, "utf8");
  const system = join(host.plugins, "system/index.ts");
  await writeFile(
    note,
    source.replace("mount(root, ctx) {", '$& if (ctx.version) throw new Error("no ink");'),
  );
  await writeFile(system, `const = 1;\n${await readFile(system, "utf8")}`);
  await page.locator(".badge").getByText("no ink").waitFor();
  await assertAccessible(page);
}

test("a fault is found at each check of a page", async (t) => {
  const browser = await openBrowser(t);
  const { page } = await openPage(t, browser, "data:text/html,<!doctype html>");
  await page.setContent(`<html lang="en"><title>A page</title><main><h1>A page</h1></main>`);
  await assertAccessible(page);

  await page.evaluate(`document.querySelector("main").append(new Image())`);

  await assert.rejects(assertAccessible(page), /image-alt/);
  await assert.rejects(assertAccessible(page), /image-alt/);
});

test("the API page has no accessibility violations", async (t) => {
  const [browser, host] = await Promise.all([
    openBrowser(t),
    startHost(t, { plugins: ["plugins/automations"] }),
  ]);
  const { page } = await openPage(t, browser, `${host.url}/api/v1/docs`);
  await assertAccessible(page);

  await page.getByLabel("Token").fill(await host.token("admin"));
  await page.getByRole("button", { name: "Read the API" }).click();
  const operation = page.locator("details", { hasText: "/smart-home/devices" }).first();
  await operation.locator("summary").click();
  await operation.getByRole("button", { name: "Send" }).click();
  await operation.locator(".answer").getByText("200").waitFor();

  for (const colorScheme of ["dark", "light"] as const) {
    for (const size of SIZES) {
      await page.setViewportSize(size);
      await page.emulateMedia({ colorScheme });
      await picture(page, `docs-${colorScheme}-${size.width}`);
      await assertAccessible(page);
      const wide = await page.evaluate("document.documentElement.scrollWidth > innerWidth");
      assert.equal(wide, false, `${size.width} pixels wide`);
    }
  }
});
