import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { signal } from "@preact/signals-core";
import type { Session } from "../../../host/dashboard/session.ts";
import { FakeApi } from "../../helpers/page/fake-api.ts";
import "../../helpers/page/light-dom.ts";

const { watchClock } = await import("../../../host/dashboard/clock-notice.ts");

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

test("a screen with a wrong clock says so, and that it shows the time of the home", (t) => {
  const { aheadMs, notice } = open(t);

  const none = notice();
  aheadMs.value = -2 * HOUR_MS;
  const wrong = notice();
  aheadMs.value = 0;

  assert.equal(none, "");
  assert.match(wrong, /The clock of this screen is wrong by 2 hours\. Mantel shows the time/);
  assert.equal(notice(), "");
});

test("nothing is said while the host is away, nor after it was hidden", (t) => {
  const { aheadMs, link, notice, hide } = open(t);
  aheadMs.value = 5 * MINUTE_MS;

  link.value = { state: "away" };
  const away = notice();
  link.value = { state: "live" };
  const back = notice();
  hide();
  aheadMs.value = 9 * MINUTE_MS;

  assert.deepEqual([away, back !== "", notice()], ["", true, ""]);
});

test("the clock is compared when the host is there, each hour, and each minute while it is wrong", (t) => {
  const { aheadMs, link, asked, pass } = open(t);
  assert.equal(asked(), 1);

  pass(HOUR_MS - MINUTE_MS);
  assert.equal(asked(), 1);
  pass(2 * MINUTE_MS);
  assert.equal(asked(), 2);
  aheadMs.value = HOUR_MS;
  pass(5 * MINUTE_MS);
  assert.equal(asked(), 7);
  link.value = { state: "away" };
  pass(5 * MINUTE_MS);
  assert.equal(asked(), 7);
  link.value = { state: "live" };
  assert.equal(asked(), 8);
});

test("the clock is compared within seconds after it was set", (t) => {
  const { asked, pass, setClock } = open(t);

  pass(MINUTE_MS);
  setClock(3 * HOUR_MS);
  pass(6_000);

  assert.equal(asked(), 2);
});

function open(t: TestContext) {
  let monotonic = 0;
  t.mock.timers.reset();
  t.mock.timers.enable({ apis: ["Date", "setInterval"], now: 1_700_000_000_000 });
  t.mock.method(performance, "now", () => monotonic);
  const api = new FakeApi();
  let asked = 0;
  t.mock.method(api, "discover", async () => void asked++);
  const aheadMs = signal(0);
  const link = signal<{ state: string }>({ state: "live" });
  const main = document.createElement("main");
  document.body.append(main);
  const session = { api, contexts: { aheadMs }, link } as unknown as Session;
  watchClock(main, session);
  const shown = main.nextElementSibling;
  t.after(() => {
    aheadMs.value = 0;
    shown?.remove();
    main.remove();
  });
  return {
    aheadMs,
    link,
    asked: () => asked,
    notice: () => (shown?.textContent ?? "").replaceAll(/\s+/g, " ").trim(),
    hide: () => shown?.querySelector("button")?.click(),
    /** Time passes on both clocks. */
    pass: (ms: number): void => {
      for (let left = ms; left > 0; left -= 1_000) {
        monotonic += 1_000;
        t.mock.timers.tick(1_000);
      }
    },
    setClock: (ms: number): void => t.mock.timers.setTime(Date.now() + ms),
  };
}
