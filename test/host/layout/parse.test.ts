import assert from "node:assert/strict";
import { test } from "node:test";
import { MantelError } from "@mantel/plugin-sdk/errors";
import type { LayoutInput } from "../../../host/api/layout.ts";
import { parseLayout } from "../../../host/layout/parse.ts";

type Widget = LayoutInput["pages"][number]["widgets"][number];

const widget = (id: string, changes: Partial<Widget> = {}): Widget => ({
  id,
  module: "clock-widget",
  config: {},
  geometry: { lg: { x: 0, y: 0, w: 4, h: 2 } },
  ...changes,
});
const layout = (changes: Partial<LayoutInput> = {}): LayoutInput => ({
  version: 1,
  grid: { columns: 12, rowHeight: 56, gap: 8 },
  pages: [{ id: "home", title: "Home", widgets: [widget("clock")] }],
  displays: [],
  ...changes,
});
const faultsOf = (value: unknown): Record<string, string> => {
  try {
    parseLayout(value);
  } catch (error) {
    if (!(error instanceof MantelError)) throw error;
    assert.equal(error.code, "invalid");
    const faults = error.extras.errors ?? [];
    return Object.fromEntries(faults.map(({ pointer, detail }) => [pointer, detail]));
  }
  return {};
};

test("a full layout is accepted with everything it may have", () => {
  const full = layout({
    revision: 7,
    name: "Haus <b>&</b> Höhle",
    pages: [
      {
        id: "home",
        title: "",
        icon: "mdi:home",
        widgets: [
          widget("clock", {
            type: "analog",
            config: { nested: { free: [1, null, "x"] } },
            geometry: {
              lg: { x: 0, y: 0, w: 12, h: 2 },
              md: { x: 0, y: 0, w: 6, h: 2 },
              sm: { x: 0, y: 4, w: 2, h: 2 },
            },
          }),
        ],
      },
    ],
    displays: [
      {
        id: "wall",
        name: "Wall tablet",
        pages: ["home"],
        theme: "night",
        night: { from: "22:30", to: "06:30" },
        kiosk: true,
        rotateSeconds: 30,
      },
    ],
  });

  assert.deepEqual(parseLayout(full), full);
});

test("a widget of a missing module is accepted", () => {
  const pages = [{ id: "home", title: "Home", widgets: [widget("x", { module: "not-there" })] }];

  assert.deepEqual(faultsOf(layout({ pages })), {});
});

test("a partial document lists every part that is missing", () => {
  assert.deepEqual(Object.keys(faultsOf({ version: 1 })).toSorted(), [
    "/displays",
    "/grid",
    "/pages",
  ]);
});

test("every structural fault is listed with its location", () => {
  const faults = faultsOf({
    ...layout({ name: "x".repeat(201) }),
    version: 2,
    theme: "dark",
    pages: [
      {
        id: "a b",
        title: "",
        widgets: [{ ...widget("w"), geometry: { lg: { x: -1, y: 0, w: 0, h: 1.5 } } }],
      },
    ],
  });

  assert.deepEqual(Object.keys(faults).toSorted(), [
    "/name",
    "/pages/0/id",
    "/pages/0/widgets/0/geometry/lg/h",
    "/pages/0/widgets/0/geometry/lg/w",
    "/pages/0/widgets/0/geometry/lg/x",
    "/theme",
    "/version",
  ]);
});

test("a duplicate id is reported with both locations", () => {
  const faults = faultsOf(
    layout({
      pages: [
        { id: "home", title: "", widgets: [widget("clock")] },
        { id: "home", title: "", widgets: [widget("clock")] },
      ],
      displays: [
        { id: "wall", name: "", pages: [] },
        { id: "wall", name: "", pages: [] },
      ],
    }),
  );

  assert.deepEqual(faults, {
    "/pages/1/id": "is home, which is already the id of /pages/0",
    "/pages/1/widgets/0/id": "is clock, which is already the id of /pages/0/widgets/0",
    "/displays/1/id": "is wall, which is already the id of /displays/0",
  });
});

test("a widget that reaches past the last column is refused at each breakpoint", () => {
  const geometry = { lg: { x: 8, y: 0, w: 4, h: 1 }, sm: { x: 9, y: 0, w: 4, h: 1 } };
  const pages = [{ id: "home", title: "", widgets: [widget("clock", { geometry })] }];

  assert.deepEqual(faultsOf(layout({ pages })), {
    "/pages/0/widgets/0/geometry/sm":
      "ends at column 13; the grid has 12, so x + w must be at most that",
  });
});

test("a display may name only pages that exist, and each once", () => {
  const displays = [{ id: "wall", name: "", pages: ["home", "attic", "home"] }];

  assert.deepEqual(faultsOf(layout({ displays })), {
    "/displays/0/pages/1": "is attic, and no page has that id",
    "/displays/0/pages/2": "is home, which the display already has",
  });
});

test("faults of the schema and of consistency are listed together", () => {
  const far = { lg: { x: 8, y: -1, w: 5, h: 1 }, xl: { x: 40, y: 0, w: 40, h: 1 } };
  const faults = faultsOf({
    ...layout(),
    name: 5,
    pages: [
      { id: "home", title: "", widgets: [widget("clock"), { ...widget("clock"), geometry: far }] },
      { id: "home", title: 7, widgets: [{ id: "clock" }, 5, { id: 5 }, { id: 5 }] },
      null,
      { id: "a b", title: "", widgets: {} },
    ],
    displays: [{ id: "wall", pages: ["home", "attic", "home", 5, 5, "a b"] }, { id: "wall" }, 3],
  });

  assert.deepEqual(Object.keys(faults).toSorted(), [
    "/displays/0/name",
    "/displays/0/pages/1",
    "/displays/0/pages/2",
    "/displays/0/pages/3",
    "/displays/0/pages/4",
    "/displays/0/pages/5",
    "/displays/1/id",
    "/displays/1/name",
    "/displays/1/pages",
    "/displays/2",
    "/name",
    "/pages/0/widgets/1/geometry/lg",
    "/pages/0/widgets/1/geometry/lg/y",
    "/pages/0/widgets/1/geometry/xl",
    "/pages/0/widgets/1/id",
    "/pages/1/id",
    "/pages/1/title",
    "/pages/1/widgets/0/config",
    "/pages/1/widgets/0/geometry",
    "/pages/1/widgets/0/id",
    "/pages/1/widgets/0/module",
    "/pages/1/widgets/1",
    "/pages/1/widgets/2/config",
    "/pages/1/widgets/2/geometry",
    "/pages/1/widgets/2/id",
    "/pages/1/widgets/2/module",
    "/pages/1/widgets/3/config",
    "/pages/1/widgets/3/geometry",
    "/pages/1/widgets/3/id",
    "/pages/1/widgets/3/module",
    "/pages/2",
    "/pages/3/id",
    "/pages/3/widgets",
  ]);
});

test("pages of displays are not called unknown while the pages are missing", () => {
  const displays = [{ id: "wall", name: "", pages: ["home", "home"] }];

  assert.deepEqual(faultsOf({ ...layout({ displays }), pages: undefined }), {
    "/displays/0/pages/1": "is home, which the display already has",
    "/pages": "is absent; it must be of type array",
  });
});

test("a layout with any wrong part is refused, with each fault once", () => {
  const wrong = [undefined, null, 5, -1, "", "home", "a b", [], {}, [null], [{}], { lg: [] }, true];
  const full = layout({
    pages: [
      { id: "home", title: "", widgets: [widget("clock"), widget("clock")] },
      { id: "home", title: "", widgets: [] },
    ],
    displays: [{ id: "wall", name: "", pages: ["home", "attic"] }],
  });
  const places = placesOf(full);
  assert.ok(places.length > 30);

  for (const [index, place] of places.entries()) {
    for (const value of wrong) {
      for (const other of [place, places[(index * 7 + 3) % places.length] ?? []]) {
        const text = JSON.stringify(replaced(replaced(full, place, value), other, value));
        const changed: unknown = JSON.parse(text ?? "null");
        assert.throws(
          () => parseLayout(changed),
          (error) => {
            assert.ok(error instanceof MantelError, `${place.join("/")}: ${String(error)}`);
            const faults = (error.extras.errors ?? []).map((each) => JSON.stringify(each));
            assert.deepEqual(faults, [...new Set(faults)], text);
            return true;
          },
        );
      }
    }
  }
});

/** The keys that lead to each part of a value. */
function placesOf(value: unknown): string[][] {
  if (typeof value !== "object" || value === null) return [[]];
  const below = Object.entries(value).flatMap(([key, each]) =>
    placesOf(each).map((place) => [key, ...place]),
  );
  return [[], ...below];
}

function replaced(value: unknown, [key, ...rest]: readonly string[], by: unknown): unknown {
  if (key === undefined) return by;
  if (typeof value !== "object" || value === null) return value;
  const old: unknown = Reflect.get(value, key);
  return Object.assign(Array.isArray(value) ? [] : {}, value, { [key]: replaced(old, rest, by) });
}

test("the config of a widget is limited in size", () => {
  const config = { text: "ä".repeat(20_000) };
  const pages = [{ id: "home", title: "", widgets: [widget("clock", { config })] }];

  assert.match(faultsOf(layout({ pages }))["/pages/0/widgets/0/config"] ?? "", /is 40011 bytes/);
});
