import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import "../../../helpers/page/light-dom.ts";
import { deviceOf } from "../../../helpers/device.ts";

const { render } = await import("lit");
const { ChartGestures } = await import("../../../../host/dashboard/details/chart-gestures.ts");
const { ticksOf } = await import("../../../../host/dashboard/details/chart-ticks.ts");
const { readingsIn } = await import("../../../../host/dashboard/details/chart-paths.ts");
const { History } = await import("../../../../host/dashboard/details/history.ts");
const { historyView } = await import("../../../../host/dashboard/details/history-view.ts");

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const NOW = Date.UTC(2026, 10, 20, 12);
const ID = "demo:sensor:1";
const speech = {
  t: (text: string) => text,
  fmt: {
    time: (at: number) => new Date(at).toISOString().slice(11, 16),
    date: (at: number) => new Date(at).toISOString().slice(5, 10),
    number: (value: number) => `${value}`,
    unit: (value: number) => `${value} °C`,
    relative: () => "",
  } as never,
};

/** A history at noon whose answers have one point an hour: the hours since the epoch. */
function historyOf(t: TestContext, hasLonger = true) {
  t.mock.timers.enable({ apis: ["Date", "setTimeout"], now: NOW });
  const asked: URL[] = [];
  const closed = new AbortController();
  t.after(() => closed.abort());
  const read = async (path: string): Promise<Response> => {
    const url = new URL(path, "http://host");
    asked.push(url);
    const time = (name: string, usual: number) =>
      Date.parse(url.searchParams.get(name) ?? new Date(usual).toISOString());
    const [from, to] = [time("from", NOW - DAY_MS), time("to", NOW)];
    const points = [];
    for (let at = from; at <= to; at += HOUR_MS)
      points.push({ at: new Date(at).toISOString(), value: Math.floor(at / HOUR_MS) });
    return Response.json({ points });
  };
  const history = new History({ deviceId: ID, read, closed: closed.signal, hasLonger });
  return { history, asked, spanOf: () => hoursOf(history.range.value) };
}

/** A range as hours before noon. */
function hoursOf({ from, ms }: { from: number; ms: number }): readonly number[] {
  return [from, from + ms].map((at) => Math.round((at - NOW) / (HOUR_MS / 100)) / 100 + 0);
}

function askedHours(url: URL | undefined): readonly number[] {
  const at = (name: string) => Date.parse(url?.searchParams.get(name) ?? "");
  return hoursOf({ from: at("from"), ms: at("to") - at("from") });
}

test("zooming keeps the instant at its place, moving stops at the present, and one read follows", async (t) => {
  const { history, asked, spanOf } = historyOf(t);
  await history.show("temperature");
  assert.equal(asked[0]?.pathname, `/smart-home/devices/${encodeURIComponent(ID)}/history`);

  history.zoom(0.5, 0.25);
  assert.deepEqual([spanOf(), history.span.value], [[-21, -9], undefined]);
  history.pan(-0.5);
  assert.deepEqual(spanOf(), [-27, -15]);
  assert.equal(asked.length, 1, "nothing is read while it moves");
  t.mock.timers.tick(300);
  await turn();

  assert.equal(asked.length, 2);
  assert.deepEqual(askedHours(asked[1]), [-33, -9], "half of the time before and after it too");
  history.pan(9);
  assert.deepEqual(spanOf(), [-12, 0]);
  history.zoom(1e-9);
  assert.equal(history.range.value.ms, 5 * 60_000);
  history.zoom(1e9);
  assert.equal(history.range.value.ms, 366 * DAY_MS);
  await history.show("temperature", "week");
  assert.deepEqual([spanOf(), history.span.value], [[-168, 0], "week"]);
});

test("without the plugin that records a chart stays within the day of the host", async (t) => {
  const { history, asked, spanOf } = historyOf(t, false);
  await history.show("temperature");

  history.zoom(4);
  history.pan(-3);
  assert.deepEqual(spanOf(), [-24, 0]);
  history.zoom(0.5);
  history.pan(-3);
  t.mock.timers.tick(300);
  await turn();

  assert.deepEqual([spanOf(), asked.length], [[-24, -12], 1]);
});

test("an earlier day lies over the shown one, and another device is read for the same time", async (t) => {
  const { history, asked } = historyOf(t);
  await history.show("temperature");

  await history.compare("day");
  assert.deepEqual(askedHours(asked.at(-1)), [-48, -24]);
  const first = history.other.value.readings[0];
  assert.deepEqual(
    [first?.at, first?.value],
    [NOW - DAY_MS, (NOW - 2 * DAY_MS) / HOUR_MS],
    "yesterday's value at the place of today's",
  );

  await history.compare("demo:sensor:2");
  const [own, other] = asked.slice(-2);
  assert.match(own?.pathname ?? "", /sensor%3A1/);
  assert.match(other?.pathname ?? "", /sensor%3A2/);
});

const event = (fields: object) => ({
  currentTarget: {
    getBoundingClientRect: () => ({ left: 100, width: 400 }),
    setPointerCapture: () => undefined,
  },
  button: 0,
  preventDefault: () => undefined,
  ...fields,
});
const pointer = (pointerId: number, clientX: number, pointerType: string) =>
  event({ pointerId, clientX, pointerType }) as unknown as PointerEvent;

test("the mouse drags the chart, one finger reads it, and two fingers zoom it", async (t) => {
  const { history, spanOf } = historyOf(t);
  await history.show("temperature");
  const gestures = new ChartGestures(history);

  gestures.down(pointer(1, 200, "mouse"));
  gestures.move(pointer(1, 300, "mouse"));
  gestures.up(pointer(1, 300, "mouse"));
  assert.deepEqual(spanOf(), [-30, -6]);
  gestures.move(pointer(1, 300, "mouse"));
  assert.equal(history.at.value, 0.5, "a mouse without a button reads");

  gestures.down(pointer(2, 200, "touch"));
  gestures.move(pointer(2, 400, "touch"));
  assert.deepEqual([spanOf(), history.at.value], [[-30, -6], 0.75]);
  gestures.move(pointer(2, 200, "touch"));
  gestures.down(pointer(3, 400, "touch"));
  gestures.move(pointer(2, 100, "touch"));
  gestures.move(pointer(3, 500, "touch"));
  assert.deepEqual(spanOf(), [-24, -12], "what was between the fingers fills the chart");
  gestures.leave(pointer(2, 100, "touch"));
  gestures.leave(pointer(3, 500, "touch"));
  assert.equal(history.at.value, undefined);
});

test("the wheel zooms with Ctrl and moves sideways; otherwise it scrolls the page", async (t) => {
  const { history, spanOf } = historyOf(t);
  await history.show("temperature");
  const gestures = new ChartGestures(history);
  const wheel = (fields: object) => {
    let isTaken = false;
    const given = { clientX: 500, deltaX: 0, deltaY: 0, preventDefault: () => (isTaken = true) };
    gestures.wheel(event({ ...given, ...fields }) as unknown as WheelEvent);
    return isTaken;
  };

  assert.equal(wheel({ deltaY: 100 }), false);
  assert.deepEqual(spanOf(), [-24, 0]);
  assert.ok(wheel({ deltaY: -Math.LN2 / 0.005, ctrlKey: true }));
  assert.deepEqual(spanOf().map(Math.round), [-12, 0]);
  assert.ok(wheel({ deltaX: -400 }));
  assert.ok(wheel({ deltaY: -400, shiftKey: true }));
  assert.deepEqual(spanOf().map(Math.round), [-36, -24]);
});

test("keys read, move and zoom a chart", async (t) => {
  const { history, spanOf } = historyOf(t);
  await history.show("temperature");
  const gestures = new ChartGestures(history);
  const press = (key: string, fields = {}) =>
    gestures.key(event({ key, ...fields }) as unknown as KeyboardEvent);

  press("ArrowLeft");
  assert.equal(history.at.value, 95 / 96);
  press("ArrowLeft", { shiftKey: true });
  assert.deepEqual(spanOf(), [-36, -12]);
  history.at.value = 0.5;
  press("+");
  assert.deepEqual(spanOf(), [-30, -18]);
  press("-");
  press("ArrowRight", { shiftKey: true });
  press("-", { ctrlKey: true });
  assert.deepEqual(spanOf(), [-24, 0], "Ctrl with minus is the browser's own zoom");
});

test("an axis has at most seven times, at whole steps", () => {
  const from = new Date(2026, 10, 19, 13, 7).getTime();
  for (const ms of [
    5 * 60_000,
    HOUR_MS,
    5 * HOUR_MS,
    DAY_MS,
    3 * DAY_MS,
    60 * DAY_MS,
    366 * DAY_MS,
  ]) {
    const ticks = ticksOf({ from, ms }, speech);
    assert.ok(ticks.length >= 3 && ticks.length <= 7, `${ms}: ${ticks.length}`);
    assert.ok(ticks.every(({ share }) => share > 0 && share < 1));
  }
  const minutes = ticksOf({ from, ms: 30 * 60_000 }, speech).map(({ share }) =>
    new Date(from + share * 30 * 60_000).getMinutes(),
  );
  assert.deepEqual(minutes, [10, 15, 20, 25, 30, 35]);
});

test("a zoomed chart draws the value that holds at its begin", () => {
  const readings = [0, 10, 20, 30].map((at) => ({ at, value: at }));

  assert.deepEqual(readingsIn(readings, { from: 15, ms: 3 }), [
    { at: 15, value: 10 },
    { at: 20, value: 20 },
  ]);
  assert.deepEqual(readingsIn([], { from: 0, ms: 1 }), []);
});

test("the card zooms by buttons and offers the devices that measure the same", async (t) => {
  const { history, spanOf } = historyOf(t);
  const measures = (id: string, unit: "°C" | "%") =>
    deviceOf({
      id,
      name: `Sensor ${id.at(-1)}`,
      kind: "sensor",
      capabilities: { temperature: { type: "number", unit, readOnly: true } },
    });
  const device = measures(ID, "°C");
  const devices = [device, measures("demo:sensor:2", "°C"), measures("demo:sensor:3", "%")];
  const gestures = new ChartGestures(history);
  const root = document.createElement("div");
  const draw = () => render(historyView({ device, devices, history, gestures, speech }), root);
  await history.show("temperature");
  draw();

  const options = [...root.querySelectorAll("option")].map(({ textContent }) => textContent);
  assert.deepEqual(options, ["Nothing", "A day earlier", "A week earlier", "Sensor 2"]);
  root.querySelector<HTMLElement>('[aria-label="Zoom in"]')?.click();
  draw();
  assert.deepEqual(spanOf(), [-18, -6]);
  assert.equal(root.querySelector("h3")?.textContent, "11-19 18:00 to 11-20 06:00");
  await history.compare("day");
  history.at.value = 0.5;
  draw();

  assert.match(root.querySelector(".other")?.getAttribute("d") ?? "", /^M0 /);
  assert.equal(root.querySelectorAll(".said b").length, 2, "the values of both curves");
});
