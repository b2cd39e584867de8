import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Browser, Locator, Page } from "playwright-core";
import type { LayoutDocument } from "../../host/dashboard/editor/document.ts";
import { boxOf, openBrowser, openPage, type TestPage } from "./browser.ts";
import { startHost, type TestHost } from "./host.ts";

const PLUGINS = ["plugins/demo-home", "plugins/room-widget", "plugins/clock-widget"];

/** The layout that each test of the editor begins with. One of its modules is not installed. */
export const LAYOUT = {
  version: 1,
  grid: { columns: 12, rowHeight: 20, gap: 12 },
  pages: [
    {
      id: "home",
      title: "Home",
      widgets: [
        { id: "clock", module: "clock-widget", config: {}, geometry: at(0, 0, 4, 8) },
        {
          id: "living",
          module: "room-widget",
          config: { room: "Living room" },
          geometry: at(4, 2, 8, 5),
        },
        {
          id: "departures",
          module: "departures-widget",
          config: { stop: "Town pool" },
          geometry: at(0, 10, 4, 4),
        },
      ],
    },
    { id: "lights", title: "Lights", widgets: [] },
  ],
  displays: [],
};

/** A fixture whose layout is edited. */
export interface Fixture {
  readonly host: TestHost;
  readonly browser: Browser;
}

type Step = (t: TestContext, fixture: Fixture) => Promise<void>;

/** Tests the editor step by step in one fixture; each step begins with `LAYOUT`. */
export function testEditor(name: string, steps: Readonly<Record<string, Step>>): void {
  void test(name, async (t) => {
    const browser = await openBrowser(t);
    const host = await startHost(t, { plugins: PLUGINS, trusted: "all" });
    for (const [step, run] of Object.entries(steps)) {
      await t.test(step, async (each) => {
        await host.api("/layout", { method: "PUT", json: LAYOUT });
        await run(each, { host, browser });
      });
    }
  });
}

/** The geometry of a widget that is arranged on the wall alone: x, y, width and height. */
export function at(...[x, y, w, h]: readonly [number, number, number, number]) {
  return { lg: { x, y, w, h } };
}

/** The dashboard, for someone who may edit it. */
export async function visit(t: TestContext, { host, browser }: Fixture): Promise<TestPage> {
  const visited = await openPage(t, browser, await host.link("admin"));
  await visited.page.getByRole("slider", { name: "Sofa lamp" }).waitFor();
  return visited;
}

export async function openEditor(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Edit the layout" }).click();
  await tile(page, "Clock").waitFor();
}

/** The handle of a tile, by what people call it. */
export function tile(page: Page, name: string): Locator {
  return page.getByRole("button", { name: new RegExp(`^${name}, column`) });
}

/** Waits for what a screen reader is told last. */
export async function waitForAnnouncement(page: Page, text: string | RegExp): Promise<void> {
  await page.locator("[aria-live]", { hasText: text }).waitFor({ state: "attached" });
}

export async function save(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Save" }).click();
  await waitForAnnouncement(page, "Saved");
}

/** Drags with the mouse: by some CSS pixels, or onto the middle of something. */
export async function drag(
  page: Page,
  from: Locator,
  { by, onto }: { by?: readonly [number, number]; onto?: Locator },
): Promise<void> {
  const box = await boxOf(from);
  const target = onto && (await boxOf(onto));
  const [x, y] = [box.x + box.width / 2, box.y + Math.min(box.height / 2, 60)];
  const end = target
    ? [target.x + target.width / 2, target.y + target.height / 2]
    : [x + (by?.[0] ?? 0), y + (by?.[1] ?? 0)];
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(end[0] ?? x, end[1] ?? y, { steps: 12 });
  await page.mouse.up();
}

/** A finger on a page that is loaded again for it. */
export interface Finger {
  /** Rests on something until that has come. */
  readonly press: (on: Locator, until: Locator) => Promise<void>;
  /** Moves from there by some CSS pixels, and is lifted. */
  readonly dragBy: (dx: number, dy: number) => Promise<void>;
}

export async function createFinger(page: Page): Promise<Finger> {
  const touch = await page.context().newCDPSession(page);
  await touch.send("Emulation.setTouchEmulationEnabled", { enabled: true });
  await page.reload();
  let start = { x: 0, y: 0 };
  const send = (type: "touchStart" | "touchMove" | "touchEnd", dx = 0, dy = 0) =>
    touch.send("Input.dispatchTouchEvent", {
      type,
      touchPoints: type === "touchEnd" ? [] : [{ x: start.x + dx, y: start.y + dy }],
    });
  return {
    async press(on, until) {
      const box = await boxOf(on);
      start = { x: box.x + box.width / 2, y: box.y + Math.min(box.height / 2, 60) };
      await send("touchStart");
      await until.waitFor();
    },
    async dragBy(dx, dy) {
      for (let part = 1; part <= 6; part++) {
        await send("touchMove", (dx * part) / 6, (dy * part) / 6);
      }
      await send("touchEnd");
    },
  };
}

export async function stored({ host }: Fixture): Promise<LayoutDocument> {
  return (await (await host.api("/layout")).json()) as LayoutDocument;
}

export function geometryOf({ pages }: LayoutDocument, id: string) {
  const widget = pages.flatMap(({ widgets }) => widgets).find((each) => each.id === id);
  assert(widget, `there is a widget ${id}`);
  return widget.geometry;
}

/** Somebody else's change, from another screen. */
export async function saveElsewhere(
  fixture: Fixture,
  change: (document: LayoutDocument) => void,
): Promise<void> {
  const document = await stored(fixture);
  change(document);
  const answer = await fixture.host.api("/layout", { method: "PUT", json: document });
  assert.equal(answer.status, 200);
}
