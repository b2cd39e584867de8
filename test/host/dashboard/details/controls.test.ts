import assert from "node:assert/strict";
import { test } from "node:test";
import "../../../helpers/page/light-dom.ts";
import { deviceOf } from "../../../helpers/device.ts";

const { colourAt, pointOf } = await import("../../../../host/dashboard/details/colour-wheel.ts");
const { snapped, targetAt } = await import("../../../../host/dashboard/details/dial.ts");
const { namesIn, patchOf } = await import("../../../../host/dashboard/details/edit-device.ts");
const { heightsOf, pathsOf, readingAt } =
  await import("../../../../host/dashboard/details/chart-paths.ts");
const { measuredFields } = await import("../../../../host/dashboard/details/history.ts");
const { levelAt } = await import("../../../../host/dashboard/details/level.ts");
const { isNear, withColour } = await import("../../../../host/dashboard/details/recent-colours.ts");
const { whitesOf } = await import("../../../../host/dashboard/details/whites.ts");

test("a level is the height under the finger, in the steps of the device", () => {
  const box = { top: 100, height: 200 };

  assert.deepEqual(
    [90, 100, 200, 300, 400].map((y) => levelAt(y, box)),
    [100, 100, 50, 0, 0],
  );
  assert.equal(levelAt(150, box, 100 / 3), 100 / 1.5);
  assert.equal(levelAt(150, { top: 0, height: 0 }), 0);
});

test("a point of the wheel is a colour, and its colour the same point", () => {
  assert.deepEqual(colourAt(1, 0), { hue: 0, saturation: 100 });
  assert.deepEqual(colourAt(0, 0.5), { hue: 90, saturation: 50 });
  assert.deepEqual(colourAt(-3, 0), { hue: 180, saturation: 100 }, "beside the wheel");
  assert.deepEqual(colourAt(0, 0), { hue: 0, saturation: 0 });
  for (const color of [
    { hue: 268, saturation: 55 },
    { hue: 12, saturation: 100 },
  ]) {
    assert.deepEqual(colourAt(...pointOf(color)), color);
  }
});

test("a dial turns over three quarters, and ends where its gap begins", () => {
  const range = { min: 5, max: 30, step: 0.5 };

  assert.equal(targetAt(0, -1, range), 17.5, "the top is the middle");
  assert.equal(targetAt(-1, 1, range), 5);
  assert.equal(targetAt(1, 1, range), 30);
  assert.equal(targetAt(-0.2, 1, range), 5, "the left half of the gap");
  assert.equal(targetAt(0.2, 1, range), 30, "the right half of the gap");
});

test("a target is a step of the device within its range", () => {
  const range = { min: 5, max: 30, step: 0.1 };

  assert.deepEqual(
    [20.26, 31, -1].map((value) => snapped(value, range)),
    [20.3, 30, 5],
  );
});

test("the whites are those that the lamp reaches, or its limit close to one", () => {
  const lamp = (min: number, max: number) => ({
    capabilities: {
      colorTemperature: { type: "number", min, max, step: 50, unit: "K" },
    } as const,
  });
  const kelvins = (min: number, max: number) =>
    whitesOf(lamp(min, max)).map(({ kelvin }) => kelvin);

  assert.deepEqual(kelvins(2_000, 6_500), [2_000, 2_700, 4_000, 6_500]);
  assert.deepEqual(kelvins(2_200, 6_000), [2_200, 2_700, 4_000, 6_000]);
  assert.deepEqual(kelvins(2_700, 4_000), [2_700, 4_000]);
  assert.deepEqual(whitesOf({ capabilities: {} }), []);
});

test("recent colours are the newest first, without two that look the same", () => {
  const red = { hue: 358, saturation: 100 };
  const alsoRed = { hue: 2, saturation: 95 };
  const blue = { hue: 230, saturation: 80 };

  assert.ok(isNear(red, alsoRed));
  assert.deepEqual(withColour([blue, alsoRed], red), [red, blue]);
  const many = Array.from({ length: 9 }, (_, index) => ({ hue: index * 30, saturation: 100 }));
  assert.equal(many.reduce(withColour, []).length, 7);
});

test("the history offers the measured numbers of a device and its parts, the battery last", () => {
  const reading = (unit: "W" | "%") => ({ type: "number", unit, readOnly: true }) as const;
  const device = deviceOf({
    capabilities: { battery: reading("%"), power: reading("W"), on: { type: "boolean" } },
    parts: [
      {
        id: "light",
        kind: "light",
        name: "Light",
        capabilities: { power: reading("W") },
        state: {},
        pending: {},
      },
    ],
  });

  assert.deepEqual(
    measuredFields(device).map(({ key }) => key),
    ["power", "light.power", "battery"],
  );
  assert.deepEqual(measuredFields(deviceOf({ capabilities: { battery: reading("%") } })), []);
});

const DAY = { from: 0, ms: 24 * 3_600_000 };

test("a chart shows the value that holds at an instant, and small changes as small", () => {
  const readings = [
    { at: 1_000, value: 20 },
    { at: 5_000, value: 20.2 },
  ];

  assert.equal(readingAt(readings, 4_999)?.value, 20);
  assert.equal(readingAt(readings, 9_000)?.value, 20.2);
  assert.equal(readingAt(readings, 0)?.value, 20);
  assert.equal(readingAt([], 0), undefined);
  const yOf = heightsOf(readings, 2);
  const { line } = pathsOf(readings, DAY, yOf);
  assert.match(line, /^M0 [\d.]+L[\d.]+ [\d.]+H100$/);
  assert.ok(Math.abs(yOf(20) - yOf(20.2)) < 10);
  assert.deepEqual(pathsOf([], DAY, yOf).line, "");
});

test("only what was changed of a name, a room and groups is sent; an empty name is not", () => {
  const device = { name: "Lamp", room: "Hall", groups: ["Evening"] };
  const groups = device.groups;

  assert.deepEqual(patchOf(device, { name: "Lamp", room: "Hall", groups }), {});
  assert.deepEqual(patchOf(device, { name: "Shelf", room: "", groups: [] }), {
    name: "Shelf",
    room: "",
    groups: [],
  });
  assert.deepEqual(patchOf(device, { name: "", room: "Attic", groups }), { room: "Attic" });
  assert.deepEqual(patchOf({ ...device, room: null }, { name: "Lamp", room: "", groups }), {});
});

test("names of groups stand between commas, each once", () => {
  assert.deepEqual(namesIn(" Evening, ,Down stairs,Evening,"), ["Evening", "Down stairs"]);
  assert.deepEqual(namesIn(" "), []);
});
