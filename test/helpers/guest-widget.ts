import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { FrameLocator, Page } from "playwright-core";
import type { TestHost } from "./host.ts";
import { until } from "./until.ts";

/** A widget that somebody has installed: it runs in a frame. */
export interface GuestWidget {
  readonly id: string;
  /** The `needs` of its manifest. */
  readonly needs?: object;
  /** The code of its server side, if it has one. */
  readonly server?: string;
  /** The body of `mount(root, ctx)`. */
  readonly mount: string;
  /** More of the definition, such as `size: { default: [2, 2] },`. */
  readonly more?: string;
  /** Code before the definition. */
  readonly before?: string;
}

/** Puts a widget into the folder of plugins, and waits until the host serves it. */
export async function installGuest(host: TestHost, guest: GuestWidget): Promise<void> {
  const { id, needs, server } = guest;
  const folder = join(host.plugins, id);
  await mkdir(folder, { recursive: true });
  await saveGuest(host, guest);
  if (server !== undefined) await writeFile(join(folder, "index.ts"), server);
  const ofServer = server === undefined ? {} : { server: "index.ts" };
  const mantel = { id, title: "Guest", kinds: ["widget"], widget: "widget.ts", needs, ...ofServer };
  await writeFile(join(folder, "package.json"), JSON.stringify({ type: "module", mantel }));
  await until(async () => (await host.api(`/modules/${id}`)).ok, { withinMs: 20_000 });
}

/** Saves other code of a widget. */
export async function saveGuest(
  host: TestHost,
  { id, mount, more = "", before = "" }: GuestWidget,
) {
  await writeFile(
    join(host.plugins, id, "widget.ts"),
    `import { defineWidget, s } from "@mantel/plugin-sdk/widget";
import { html, render } from "lit";
void s; void html; void render;
${before}
export default defineWidget({
  name: "Guest",
  size: { default: [4, 4] },
  ${more}
  mount(root: any, ctx: any): any {
${mount}
  },
});
`,
  );
}

/** A layout of one page with these widgets side by side, four cells each. */
export function layoutOf(modules: readonly string[], config: object = {}): object {
  const widgets = modules.map((module, at) => ({
    id: `tile-${at}`,
    module,
    config,
    geometry: { lg: { x: (at * 4) % 12, y: Math.floor(at / 3) * 4, w: 4, h: 4 } },
  }));
  return {
    version: 1,
    grid: { columns: 12, rowHeight: 56, gap: 12 },
    pages: [{ id: "home", title: "Home", widgets }],
    displays: [],
  };
}

/** The frame of a module's tile, as it is shown. */
export function frameOf(page: Page, module: string): FrameLocator {
  return page.frameLocator(`[data-module=${module}] mantel-frame:not(.waiting) iframe`);
}
