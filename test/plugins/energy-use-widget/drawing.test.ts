import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { deviceOf } from "../../helpers/device.ts";
import { mountOnPage } from "../../helpers/page/widget.ts";

const { default: energyUse } = await import("../../../plugins/energy-use-widget/widget.ts");

const NOW = Date.UTC(2026, 10, 20, 12);
const DAY_MS = 24 * 3_600_000;
const METER = deviceOf({
  kind: "sensor",
  name: "Meter",
  capabilities: {
    power: { type: "number", unit: "W", step: 10, readOnly: true },
    energy: { type: "number", unit: "kWh", step: 0.01, readOnly: true },
  },
});
const isoOf = (at: number) => new Date(at).toISOString();

/** Statistics of days up to now. */
function daysOf(figures: readonly { sum?: number | null; mean?: number | null }[]) {
  const today = Date.UTC(2026, 10, 20);
  return figures.map((each, index) => {
    const from = today - (figures.length - 1 - index) * DAY_MS;
    return {
      from: isoOf(from),
      to: isoOf(from + DAY_MS),
      min: null,
      max: null,
      mean: null,
      ...each,
    };
  });
}

function mounted(t: TestContext, statistics: readonly object[], place: object = {}) {
  t.mock.timers.enable({ apis: ["Date"], now: NOW });
  const answers = { "/history/statistics?": { statistics } };
  return mountOnPage(t, energyUse, { devices: [METER], answers, ...place });
}

const queryOf = (asked: string | undefined) =>
  Object.fromEntries(new URL(asked?.slice(4) ?? "", "http://host").searchParams);

test("each day has a bar, and the current one its energy and cost", async (t) => {
  const { root, api, textOf, waitFor, click } = mounted(
    t,
    daysOf([{ sum: 8 }, { sum: null }, { sum: 4 }, { sum: 2 }]),
    { config: { price: 0.5 } },
  );
  await waitFor(".bars button");

  assert.deepEqual(textOf(".sum b, .note, .total"), [
    "2 kWh",
    "today · €1.00",
    "14 kWh · €7.00 in all",
  ]);
  const heights = Array.from(root.querySelectorAll(".bars i"), (bar) => bar.getAttribute("style"));
  assert.deepEqual(heights, ["height: 100%;", "height: 0%;", "height: 50%;", "height: 25%;"]);
  const { from, ...query } = queryOf(api.asked.at(-1));
  assert.deepEqual(query, { device: METER.id, field: "energy", period: "day", to: isoOf(NOW) });
  assert.equal(from, isoOf(NOW - 13 * DAY_MS));
  click(".bars button");
  assert.deepEqual(textOf(".sum b, .note"), ["8 kWh", "17 Nov · €4.00"]);
  assert.equal(
    root.querySelector(".bars [aria-label]")?.getAttribute("aria-label"),
    "17 Nov · 8 kWh · €4.00",
  );
});

test("weeks and months are read when they are chosen, and stay chosen over a reload", async (t) => {
  const { mounted: tile, api, textOf, until, waitFor, root } = mounted(t, daysOf([{ sum: 1 }]));
  await waitFor(".bars button");
  const [, weeks, months] = root.querySelectorAll<HTMLElement>(".periods button");

  weeks?.click();
  await until(() => textOf(".note")[0] === "this week");
  months?.click();
  await until(() => textOf(".note")[0] === "this month");

  const [week, month] = api.asked.slice(-2).map(queryOf);
  assert.deepEqual([week?.["period"], week?.["from"]], ["week", isoOf(NOW - 77 * DAY_MS)]);
  assert.deepEqual([month?.["period"], month?.["from"]], ["month", "2025-12-01T12:00:00.000Z"]);
  assert.deepEqual(tile.handOver(), { stateVersion: 1, data: "month" });
});

test("without a counter the energy is the mean power times the time that has passed", async (t) => {
  const { energy: _, ...capabilities } = METER.capabilities;
  const { textOf, waitFor } = mounted(t, daysOf([{ mean: 1_000 }, { mean: 500 }]), {
    devices: [{ ...METER, capabilities }],
  });
  await waitFor(".bars button");

  assert.deepEqual(textOf(".sum b, .total"), ["6 kWh", "30 kWh in all"]);
});

test("a small tile shows the figure alone", async (t) => {
  const { size, root, waitFor } = mounted(t, daysOf([{ sum: 1 }]));
  await waitFor(".bars");

  size.value = { ...size.value, height: 189 };
  assert.deepEqual(
    [".periods", ".bars"].map((part) => root.querySelector(part) !== null),
    [false, true],
  );
  size.value = { ...size.value, height: 129 };
  assert.equal(root.querySelector(".bars"), null);
});

test("a home without a meter or a history says what to do", async (t) => {
  const { store, waitFor, textOf } = mounted(t, [], { answers: {} });
  const failed = await waitFor(".empty strong");
  store.removeDevice(METER.id);

  assert.deepEqual([failed, textOf(".empty strong")], [["No statistics yet"], ["No meter yet"]]);
});
