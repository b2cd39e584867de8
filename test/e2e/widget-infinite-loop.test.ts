import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { openBrowser, openPage } from "../helpers/browser.ts";
import { startHost } from "../helpers/host.ts";
import { until } from "../helpers/until.ts";

const LOOPS = {
  plain: "for (;;);",
  catching: "for (;;) try { for (;;); } catch {}",
  microtasks: "void (async () => { for (;;) await undefined; })();",
};
const STOPPED = "Stopped: infinite loop";

test("a widget with an infinite loop", async (t) => {
  const host = await startHost(t, {
    plugins: ["plugins/clock-widget"],
    trusted: ["clock-widget", "endless-widget"],
  });
  const folder = join(host.plugins, "endless-widget");
  const save = (code: string): Promise<void> => writeFile(join(folder, "widget.ts"), code);
  await mkdir(folder);
  await save(endless(""));
  await writeFile(join(folder, "package.json"), JSON.stringify(PACKAGE));
  await until(async () => (await host.api("/modules/endless-widget")).ok, { withinMs: 20_000 });
  await host.api("/layout", { method: "PUT", json: LAYOUT });
  const url = await host.link("edit");
  const { page } = await openPage(t, await openBrowser(t), url);
  const tile = page.locator("[data-module=endless-widget]");

  for (const kind of Object.keys(LOOPS)) {
    await t.test(`becomes an error tile, and the page continues: ${kind}`, async () => {
      await tile.getByRole("button", { name: kind }).dispatchEvent("click");

      await tile.getByText(STOPPED).waitFor();
      await until(async () => (await page.evaluate<number>(COUNT_FRAMES)) > 20, {
        withinMs: 20_000,
      });
      await page.getByRole("timer").waitFor();
      await tile.getByRole("button", { name: "Restart" }).click();
      await tile.getByRole("button", { name: kind }).waitFor();
    });
  }

  await t.test("is refused if it loops while mounting, and the old code continues", async () => {
    await save(endless("for (;;);"));

    await tile.getByText("New code failed: infinite loop").waitFor();
    assert.equal(await tile.getByRole("button", { name: "plain" }).count(), 1);
  });
});

const PACKAGE = {
  name: "endless-widget",
  type: "module",
  mantel: { id: "endless-widget", kinds: ["widget"], widget: "widget.ts" },
};
const LAYOUT = {
  version: 1,
  grid: { columns: 12, rowHeight: 56, gap: 8 },
  pages: [{ id: "home", title: "Home", widgets: [tileOf("clock", 0), tileOf("endless", 4)] }],
  displays: [],
};

function tileOf(id: string, x: number): object {
  return { id, module: `${id}-widget`, config: {}, geometry: { lg: { x, y: 0, w: 4, h: 4 } } };
}

/** A widget with a button for each loop; `first` runs while it mounts. */
function endless(first: string): string {
  const buttons = Object.entries(LOOPS).map(([name, loop]) => `add("${name}", () => { ${loop} });`);
  return `
import { defineWidget } from "@mantel/plugin-sdk/widget";
export default defineWidget({
  name: "Endless",
  size: { default: [2, 2] },
  mount(root, ctx) {
    ${first}
    const add = (name: string, run: () => void): void => {
      const button = document.createElement("button");
      button.textContent = name;
      ctx.on(button, "click", run);
      root.append(button);
    };
    ${buttons.join("\n    ")}
  },
});
`;
}

/** The frames of half a second. */
const COUNT_FRAMES = `new Promise((resolve) => {
  let frames = 0;
  const endsAt = performance.now() + 500;
  requestAnimationFrame(function next(now) {
    if (now >= endsAt) return resolve(frames);
    frames++;
    requestAnimationFrame(next);
  });
})`;
