import assert from "node:assert/strict";
import { afterEach, test, type TestContext } from "node:test";
import { createFormats } from "@mantel/plugin-sdk/format";
import { defineWidget } from "@mantel/plugin-sdk/widget";
import { effect } from "@preact/signals-core";
import { Api } from "../../../host/dashboard/api.ts";
import { dayOf } from "../../../host/dashboard/channels.ts";
import { aheadMs, compareClock, now } from "../../../host/dashboard/home-time.ts";
import { mountOnPage } from "../../helpers/page/widget.ts";

const HOME = Date.parse("2026-11-20T07:05:00Z");
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const DATE = new Date(HOME).toUTCString();

afterEach(() => (aheadMs.value = 0));

test("a clock that is wrong by more than two minutes is corrected, a smaller difference changes nothing", (t) => {
  const corrected = [-DAY_MS, -3 * MINUTE_MS, -MINUTE_MS, 0, MINUTE_MS, 3 * MINUTE_MS, DAY_MS].map(
    (by) => {
      screenIsAhead(t, by);
      aheadMs.value = 0;
      compareClock(DATE);
      return now() - HOME;
    },
  );

  assert.deepEqual(corrected, [0, 0, -MINUTE_MS, 0, MINUTE_MS, 0, 0]);
});

test("later answers change a correction only if the clock was set, so that nothing flickers", (t) => {
  const seen: number[] = [];
  screenIsAhead(t, DAY_MS);
  compareClock(DATE);
  t.after(effect(() => void seen.push(now() - HOME)));

  screenIsAhead(t, DAY_MS + 900);
  compareClock(DATE);
  screenIsAhead(t, DAY_MS - 900);
  compareClock(DATE);
  screenIsAhead(t, 0);
  compareClock(DATE);

  assert.deepEqual(seen, [0, 0]);
  assert.equal(aheadMs.value, 0);
});

test("an answer without a date changes nothing", (t) => {
  screenIsAhead(t, DAY_MS);
  compareClock(DATE);

  for (const date of [null, "", "yesterday"]) compareClock(date);

  assert.equal(now(), HOME);
});

test("every answer of the host corrects the time, also one that is an error", async (t) => {
  const times: number[] = [];
  t.mock.method(globalThis, "fetch", async () => {
    const [status, date] = times.length === 0 ? [200, HOME] : [404, HOME + DAY_MS];
    return Response.json({}, { status, headers: { Date: new Date(date).toUTCString() } });
  });
  screenIsAhead(t, 400 * DAY_MS);
  const api = new Api(() => undefined);

  await api.get("/a");
  times.push(now());
  await assert.rejects(api.get("/b"));
  times.push(now());

  assert.deepEqual(times, [HOME, HOME + DAY_MS]);
});

test("the age of a value is that in the home", (t) => {
  const fmt = createFormats({ locale: "en-GB", timeZone: "UTC", units: "metric", now });
  screenIsAhead(t, DAY_MS);
  const wrong = fmt.relative(HOME - 5 * MINUTE_MS);
  compareClock(DATE);

  assert.deepEqual([wrong, fmt.relative(HOME - 5 * MINUTE_MS)], ["24 hr ago", "5 min ago"]);
});

test("a widget has the time of the home, and draws again when it is corrected", (t) => {
  screenIsAhead(t, 3 * DAY_MS);
  const { root } = mountOnPage(
    t,
    defineWidget({
      name: "Today",
      size: { default: [1, 1] },
      mount(shadow, ctx) {
        ctx.effect(() => {
          const at = ctx.now();
          shadow.textContent = `${dayOf(at, "UTC")} ${ctx.fmt.relative(HOME - 2 * DAY_MS)}`;
        });
      },
    }),
  );
  const before = root.textContent;

  compareClock(DATE);

  assert.equal(before, "2026-11-23 5 days ago");
  assert.equal(root.textContent, "2026-11-20 2 days ago");
});

function screenIsAhead(t: TestContext, ms: number): void {
  t.mock.timers.reset();
  t.mock.timers.enable({ apis: ["Date"], now: HOME + ms });
}
