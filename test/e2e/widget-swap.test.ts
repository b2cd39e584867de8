import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Page } from "playwright-core";
import type { ModuleView } from "../../host/api/module.ts";
import { openBrowser, openPage } from "../helpers/browser.ts";
import { startHost, type TestHost } from "../helpers/host.ts";
import { until } from "../helpers/until.ts";

test("a saved widget is swapped in place, with its state and without a page load", async (t) => {
  const { page, save } = await openCounter(t);
  await page.evaluate(() => Object.assign(globalThis, { samePage: true }));
  await page.getByRole("button", { name: "first 0" }).click();
  await page.getByRole("button", { name: "first 1" }).waitFor();

  await save(counter("second"));

  await page.getByRole("button", { name: "second 1" }).waitFor();
  assert.equal(await page.evaluate("samePage"), true);
  const ticks = await page.evaluate("ticks.first");
  await until(async () => Number(await page.evaluate("ticks.second")) > 3);
  assert.equal(await page.evaluate("ticks.first"), ticks, "the old code's timer has ended");
  assert.equal(await page.locator("[data-module=counter-widget] .widget").count(), 1);
});

test("a widget whose new code throws continues with its old code", async (t) => {
  const { page, save, host } = await openCounter(t);

  await save(counter("broken", "throw new Error('it is too late');"));

  const tile = page.locator("[data-module=counter-widget]");
  await tile.getByText("New code failed: it is too late").waitFor();
  await tile.getByRole("button", { name: "first 0" }).click();
  await tile.getByRole("button", { name: "first 1" }).waitFor();
  const module = async () =>
    (await (await host.api("/modules/counter-widget")).json()) as Pick<
      ModuleView,
      "state" | "error"
    >;
  await until(async () => (await module()).state === "degraded");
  const { message, file, line, frame = "" } = (await module()).error ?? assert.fail();
  assert.deepEqual(
    [message, file, line],
    ["the widget failed in a browser: it is too late", "widget.ts", 7],
  );
  assert.match(frame, /> 7 \|     throw new Error\('it is too late'\);/);
  await save(counter("mended"));
  await until(async () => (await module()).state === "active");
  await tile.getByRole("button", { name: "mended 1" }).waitFor();
  assert.equal(await tile.getByRole("status").count(), 0);
});

test("a stopped widget does not affect others and restarts by a tap", async (t) => {
  const { page } = await openCounter(t);
  const tile = page.locator("[data-module=counter-widget]");

  await tile.getByRole("button", { name: "first 0" }).click({ button: "right" });
  await tile.getByText("Stopped: asked to stop").waitFor();
  await page.getByRole("timer").waitFor();
  await tile.getByRole("button", { name: "Restart" }).click();

  await tile.getByRole("button", { name: "first 0" }).waitFor();
});

/** The dashboard with a widget that counts clicks, and a way to save its code. */
async function openCounter(
  t: TestContext,
): Promise<{ page: Page; save: (code: string) => Promise<void>; host: TestHost }> {
  const host = await startHost(t, {
    plugins: ["plugins/clock-widget"],
    trusted: ["clock-widget", "counter-widget"],
  });
  const folder = join(host.plugins, "counter-widget");
  const save = (code: string): Promise<void> => writeFile(join(folder, "widget.ts"), code);
  await mkdir(folder);
  await save(counter("first"));
  await writeFile(join(folder, "package.json"), JSON.stringify(COUNTER_PACKAGE));
  await until(async () => (await host.api("/modules/counter-widget")).ok, { withinMs: 20_000 });
  await host.api("/layout", { method: "PUT", json: LAYOUT });
  const browser = await openBrowser(t);
  const { page } = await openPage(t, browser, await host.link("admin"));
  await page.getByRole("button", { name: "first 0" }).waitFor();
  return { page, save, host };
}

const LAYOUT = {
  version: 1,
  grid: { columns: 12, rowHeight: 56, gap: 8 },
  pages: [
    {
      id: "home",
      title: "Home",
      widgets: [tileOf("clock", 0), tileOf("counter", 4)],
    },
  ],
  displays: [],
};

function tileOf(id: string, x: number): object {
  return { id, module: `${id}-widget`, config: {}, geometry: { lg: { x, y: 0, w: 4, h: 4 } } };
}

const COUNTER_PACKAGE = {
  name: "counter-widget",
  version: "1.0.0",
  type: "module",
  mantel: { id: "counter-widget", kinds: ["widget"], widget: "widget.ts" },
};

/** The code of a widget that counts clicks under a name, and counts its timer's ticks on the page. */
function counter(name: string, first = ""): string {
  return `
import { defineWidget } from "@mantel/plugin-sdk/widget";
export default defineWidget<Record<never, never>, { clicks: number }>({
  name: "Counter",
  size: { default: [2, 2] },
  mount(root, ctx) {
    ${first}
    const ticks = ((globalThis as { ticks?: Record<string, number> }).ticks ??= {});
    ticks.${name} = 0;
    setInterval(() => ticks.${name}++, 20);
    let clicks = ctx.handedOver?.clicks ?? 0;
    const button = document.createElement("button");
    const draw = () => (button.textContent = "${name} " + clicks);
    ctx.on(button, "click", () => { clicks++; draw(); });
    ctx.on(button, "contextmenu", () => { throw new Error("asked to stop"); });
    root.append(button);
    draw();
    return { handOver: () => ({ clicks }) };
  },
});
`;
}
