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

test("the config of a widget is limited in size", () => {
  const config = { text: "ä".repeat(20_000) };
  const pages = [{ id: "home", title: "", widgets: [widget("clock", { config })] }];

  assert.match(faultsOf(layout({ pages }))["/pages/0/widgets/0/config"] ?? "", /is 40011 bytes/);
});
