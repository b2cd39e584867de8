import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { DeviceDescription } from "@mantel/plugin-sdk";
import type { Locator, Page } from "playwright-core";
import { openBrowser, openPage, type TestPage } from "./browser.ts";
import { removeFolder } from "./folder.ts";
import { type Scope, startHost, type TestHost } from "./host.ts";
import { until } from "./until.ts";

/** A tile of the page: its id, whose widget, its settings, and the cells it takes. */
export interface Placed {
  readonly id: string;
  readonly module: string;
  readonly config?: object;
  /** x, y, width and height. */
  readonly at: readonly [number, number, number, number];
}

interface StageOptions {
  /** Besides the widgets of the tiles. */
  readonly plugins?: readonly string[];
  readonly tiles: readonly Placed[];
  readonly devices?: readonly DeviceDescription[];
  readonly config?: object;
  /** Files of the data folder before the start, by their paths there. */
  readonly files?: Readonly<Record<string, string | Buffer>>;
}

/** A home of described devices, and screens that show it. */
export interface Stage {
  readonly host: TestHost;
  /** A new screen; it has the rights of `scope`. */
  readonly visit: (t: TestContext, scope?: Scope) => Promise<TestPage>;
}

/** A host with the bridge `stage`, whose devices are those given, and a browser for all visits. */
export async function openStage(t: TestContext, options: StageOptions): Promise<Stage> {
  const { plugins = [], tiles, devices = [], config = {}, files = {} } = options;
  const data = await mkdtemp(join(tmpdir(), "mantel-stage-"));
  for (const [path, content] of Object.entries(files)) {
    await mkdir(join(data, path, ".."), { recursive: true });
    await writeFile(join(data, path), content);
  }
  await writeFile(join(data, "layout.json"), JSON.stringify(layoutOf(tiles)));
  const [browser, host] = await Promise.all([
    openBrowser(t),
    startHost(t, {
      data,
      plugins: [
        "test/fixtures/plugins/stage",
        ...new Set([...plugins, ...tiles.map(({ module }) => module)].map((id) => `plugins/${id}`)),
      ],
      trusted: "all",
      config: { stage: { devices }, ...config },
    }),
  ]);
  t.after(() => removeFolder(data)); // behind the end of the host, which writes to it
  await until(async () => (await host.api("/health/ready")).ok, { withinMs: 20_000 });
  return {
    host,
    async visit(each, scope = "control") {
      const visit = await openPage(each, browser, await host.link(scope));
      await visit.page.locator(".tile .widget:not(.waiting)").first().waitFor();
      return visit;
    },
  };
}

/** The widget of one tile. */
export function tileOf(page: Page, module: string, nth = 0): Locator {
  return page.locator(`[data-module=${module}]`).nth(nth);
}

/** Writes what a page shows to the folder `MANTEL_SCREENSHOTS`, for people to look at. */
export async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env.MANTEL_SCREENSHOTS;
  if (folder) await page.screenshot({ path: join(folder, `${name}.png`) });
}

/** Changes the home's language, theme or the like on every screen. */
export async function patchUi(host: TestHost, ui: object): Promise<void> {
  await host.api("/config", { method: "PATCH", json: { ui } });
}

function layoutOf(tiles: readonly Placed[]): object {
  return {
    version: 1,
    revision: 1,
    grid: { columns: 12, rowHeight: 20, gap: 12 },
    pages: [
      {
        id: "home",
        title: "Home",
        widgets: tiles.map(({ id, module, config = {}, at: [x, y, w, h] }) => ({
          id,
          module,
          config,
          geometry: { lg: { x, y, w, h } },
        })),
      },
    ],
    displays: [],
  };
}
