import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import type { Frame, Page } from "playwright-core";
import { openBrowser, openPage } from "../helpers/browser.ts";
import { layoutOf } from "../helpers/guest-widget.ts";
import { startHost, type TestHost } from "../helpers/host.ts";
import { until } from "../helpers/until.ts";

const PATIENT = { withinMs: 30_000 };
/** A page from elsewhere is a frame itself, and frames have no network. */
const LEFT_OUT = "frame-widget";
/** Figures and names of days change while the test runs; a drawing of them has no text. */
const CHANGING = /[\d.,:%°–]+/g;
/** Shown from the first measurement of a process or of the day on. */
const MEASURED = / # MiB|# kWh today/g;

test("each built-in widget shows the same text in a frame as in the page", async (t) => {
  const host = await startHost(t);
  await until(async () => (await host.api("/health/ready")).ok, PATIENT);
  const widgets = (await widgetsOf(host)).filter((id) => id !== LEFT_OUT);
  const device = "demo:light:2";
  const json = layoutOf(widgets, { device, text: "A note" });
  await host.api("/layout", { method: "PUT", json });
  const browser = await openBrowser(t);
  const textsAt = async (runsIn: "frame" | "page") => {
    const modules = Object.fromEntries(widgets.map((id) => [id, { trusted: runsIn === "page" }]));
    await host.api("/config", { method: "PATCH", json: { modules } });
    const visit = await openPage(t, browser, await host.link("admin"));
    const texts = await settledTexts(visit.page, widgets);
    assert.deepEqual(visit.faults, []);
    await visit.page.context().close();
    return texts;
  };

  const inFrames = await textsAt("frame");
  const inPage = await textsAt("page");

  assert.ok(widgets.length > 10);
  assert.deepEqual(inFrames, inPage);
  assert.ok(Object.values(inPage).filter((text) => text.trim() !== "").length > 10);
});

async function widgetsOf(host: TestHost): Promise<string[]> {
  const ids: unknown = JSON.parse(
    await readFile(new URL("../../plugins/shipped.json", import.meta.url), "utf8"),
  );
  const { modules } = (await (await host.api("/modules")).json()) as {
    modules: { id: string; widget: object | null }[];
  };
  return modules
    .filter(({ id, widget }) => widget && (ids as string[]).includes(id))
    .map(({ id }) => id);
}

/** The text of each widget, once all are there and none has changed for two seconds. */
async function settledTexts(
  page: Page,
  widgets: readonly string[],
): Promise<Record<string, string>> {
  let before = "";
  let since = Date.now();
  await until(async () => {
    const now = JSON.stringify(await textsOf(page, widgets));
    if (now !== before) since = Date.now();
    before = now;
    return (
      Object.keys(JSON.parse(now) as object).length === widgets.length && Date.now() - since > 2_000
    );
  }, PATIENT);
  return JSON.parse(before) as Record<string, string>;
}

async function textsOf(page: Page, widgets: readonly string[]): Promise<Record<string, string>> {
  const texts: Record<string, string> = {};
  for (const id of widgets) {
    const tile = page.locator(`[data-module=${id}] > .widget:not(.waiting)`);
    if ((await tile.count()) !== 1) continue;
    const frame = await (
      await tile
        .locator("iframe")
        .count()
        .then((count) => (count === 1 ? tile.locator("iframe").elementHandle() : null))
    )?.contentFrame();
    const text = await textIn(
      frame ?? page.mainFrame(),
      frame ? "body > .widget" : `[data-module=${id}] > .widget`,
    );
    if (text !== undefined)
      texts[id] = text
        .replaceAll(CHANGING, "#")
        .replaceAll(/\s+/g, " ")
        .replaceAll(MEASURED, "")
        .trim();
  }
  return texts;
}

async function textIn(frame: Frame, selector: string): Promise<string | undefined> {
  return frame
    .evaluate<string | undefined>(
      `document.querySelector(${JSON.stringify(selector)})?.shadowRoot?.textContent`,
    )
    .catch(() => undefined);
}
