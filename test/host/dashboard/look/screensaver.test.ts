import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { createFormats } from "@mantel/plugin-sdk/format";
import { signal } from "@preact/signals-core";
import type { Session } from "../../../../host/dashboard/session.ts";
import "../../../helpers/page/light-dom.ts";
import { mockAgain } from "../../../helpers/mock-again.ts";
import { settled } from "../streaming-home.ts";

const { Screensaver } = await import("../../../../host/dashboard/look/screensaver.ts");

const FORMATS = createFormats({ locale: "en-GB", timeZone: "UTC", units: "metric" });
const ROUND_MS = 30_000;
const create = document.createElement.bind(document);

test("an idle screen shows the time until a key, which does nothing else and counts as a touch", (t) => {
  const { saver } = open(t, "clock");
  let touches = 0;
  let reached = 0;
  const ended = new AbortController();
  t.after(() => ended.abort());
  addEventListener("mantel-touch", () => touches++, { signal: ended.signal });
  document.body.addEventListener("keydown", () => reached++, { signal: ended.signal });

  saver.show();
  assert.match(shown()?.textContent ?? "", /^07:05Friday/);
  const key = new Event("keydown", { bubbles: true, cancelable: true });
  document.body.dispatchEvent(key);

  assert.deepEqual([shown(), touches, reached, key.defaultPrevented], [null, 1, 0, true]);
});

test("a tap ends it only when it is over, and reaches nothing below", (t) => {
  const { saver } = open(t, "clock");
  saver.show();
  const element = shown();

  element?.dispatchEvent(new Event("pointerdown", { bubbles: true }));
  assert.equal(shown(), element);
  element?.dispatchEvent(new Event("click", { bubbles: true }));

  assert.equal(shown(), null);
});

test("at night, and in a home without a screensaver, nothing is shown", (t) => {
  const none = open(t, undefined);
  none.saver.show();
  const night = open(t, "clock");
  night.theme.value = "night";
  night.saver.show();

  assert.equal(shown(), null);
});

test("photos follow each other, and the last one stays while the host is away, which is asked once a round", async (t) => {
  const { saver, host, asked, pass } = open(t, "photos");
  host.photos = ["a.png", "b.png"];
  saver.show();
  await settled();
  const first = asked.at(-1);
  await pass(ROUND_MS);
  const second = asked.at(-1);
  assert.deepEqual(new Set([first, second]), new Set(["/photos/a.png", "/photos/b.png"]));

  host.photos = undefined;
  await pass(ROUND_MS);
  asked.length = 0;
  for (let round = 0; round < 3; round++) await pass(ROUND_MS);

  assert.deepEqual(asked, ["/photos", "/photos", "/photos"]);
  assert.ok(shown()?.querySelector("canvas"));
});

const shown = (): Element | null => document.querySelector(".screensaver");

function open(t: TestContext, screensaver: "clock" | "photos" | undefined) {
  t.mock.timers.reset();
  t.mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
  const asked: string[] = [];
  const host = { photos: [] as string[] | undefined };
  const theme = signal("dark");
  const openPath = async (path: string): Promise<Response> => {
    asked.push(path);
    if (!host.photos) throw new TypeError("the host is away");
    return Response.json({ photos: host.photos.map((name) => ({ name })) });
  };
  const canvas = { getContext: () => null, animate: () => ({ finished: Promise.resolve() }) };
  mockAgain(
    t,
    document as { createElement: (name: string) => unknown },
    "createElement",
    (name: string) => (name === "canvas" ? Object.assign(create(name), canvas) : create(name)),
  );
  Object.assign(globalThis, {
    createImageBitmap: async () => ({ width: 1, height: 1, close: () => undefined }),
  });
  t.after(() => Reflect.deleteProperty(globalThis, "createImageBitmap"));
  const saver = new Screensaver({
    api: { open: openPath },
    store: { ui: signal(screensaver ? { screensaver } : {}) },
    theme: { theme },
    formats: signal(FORMATS),
    contexts: { shared: { now: () => Date.parse("2026-11-20T07:05:00Z") } },
  } as unknown as Session);
  t.after(() => saver.hide());
  const pass = async (ms: number): Promise<void> => {
    t.mock.timers.tick(ms);
    await settled();
  };
  return { saver, theme, host, asked, pass };
}
