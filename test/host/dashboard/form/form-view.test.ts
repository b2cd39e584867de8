import assert from "node:assert/strict";
import { test } from "node:test";
import type { FieldSchema } from "../../../../host/dashboard/form/schema.ts";
import "../../../helpers/page/light-dom.ts";

const { render } = await import("lit");
const { formView } = await import("../../../../host/dashboard/form/form.ts");

type Values = Readonly<Record<string, unknown>>;

const OFFERS = {
  devices: [
    { id: "lamp", name: "Lamp", kind: "light" },
    { id: "meter", name: "Meter", kind: "sensor" },
  ],
  rooms: ["Kitchen"],
  named: {
    field: [
      ["humidity", "Humidity"],
      ["temperature", "Temperature"],
    ],
    scene: [
      ["host:scene:dinner", "Dinner"],
      ["host:scene:movie", "Movie"],
    ],
    kind: [],
    group: [],
    calendar: [],
  },
} as const;
const COLORS = { type: "array", uniqueItems: true, items: { enum: ["red", "green", "blue"] } };

/** A schema, the stored value, the element, what a user enters there, and the new value. */
const INPUTS: readonly [FieldSchema, unknown, string, string | boolean | number, unknown][] = [
  [{ type: "string" }, "a", "input", "b", "b"],
  [{ type: "string" }, "a", "input", "", ""],
  [{ type: "string", minLength: 1 }, "a", "input", "", undefined],
  [{ type: "string", format: "lines" }, "a", "textarea", "b\nc", "b\nc"],
  [{ type: "string", format: "date" }, "", "input", "2026-12-24", "2026-12-24"],
  [{ type: "integer" }, 1, "input", "2", 2],
  [{ type: "number" }, 1, "input", "", undefined],
  [{ type: "boolean" }, false, "input", true, true],
  [{ enum: ["a", "b"] }, "a", "select", 1, "b"],
  [{ type: "string", format: "device" }, "", "select", 2, "meter"],
  [{ type: "string", format: "device", deviceKind: "sensor" }, "", "select", 1, "meter"],
  [{ type: "string", format: "room" }, "", "select", 1, "Kitchen"],
  [{ type: "string", format: "field", default: "" }, "", "select", 1, "humidity"],
  [{ type: "string", format: "field", default: "humidity" }, undefined, "select", 1, "temperature"],
  [{ type: "string", format: "scene" }, "", "select", 2, "host:scene:movie"],
  [COLORS, ["blue"], "input", true, ["red", "blue"]],
  [{}, { a: 1 }, "textarea", '{"b":2}', { b: 2 }],
];

test("each kind of value has an input that changes it", () => {
  for (const [schema, value, element, entered, expected] of INPUTS) {
    const form = draw({ key: schema }, { key: value });

    form.enter(element, entered);

    assert.deepEqual(form.values().key, expected, JSON.stringify(schema));
  }
});

test("an icon is chosen by a press", () => {
  const form = draw({ icon: { type: "string", format: "icon" } }, { icon: 5 });

  form.root.querySelector<HTMLElement>("[data-icon='mdi:sofa']")?.click();

  assert.equal(form.values().icon, "mdi:sofa");
});

test("an input shows the stored value, and its default as a hint", () => {
  const { root } = draw(
    { name: { type: "string", default: "Mia" }, count: { type: "integer", minimum: 1 } },
    { count: 4 },
  );
  const [name, count] = root.querySelectorAll("input");

  assert.deepEqual([name?.value, name?.placeholder], ["", "Mia"]);
  assert.deepEqual([count?.value, count?.min, count?.step], ["4", "1", "1"]);
});

test("a stored choice that is no longer offered stays in the list, and is marked", () => {
  const form = draw({ device: { type: "string", format: "device" } }, { device: "gone" });

  assert.deepEqual(form.textOf("option"), ["None", "Lamp", "Meter", "gone (not available)"]);
});

test("a field shows its title, its hint, and the fault of its value or of the host", () => {
  const schema = { type: "integer", title: "Days", description: "How many", maximum: 9 };
  const own = draw({ days: schema }, { days: 12 });
  const ofHost = draw({ days: schema }, { days: 5 }, new Map([["/days", "is taken"]]));

  assert.deepEqual(own.textOf("label, .hint"), ["Days", "How many"]);
  assert.equal(own.textOf(".fault").length, 1);
  assert.equal(own.root.querySelector("input")?.getAttribute("aria-invalid"), "true");
  assert.deepEqual(ofHost.textOf(".fault"), ["is taken"]);
});

test("a group has a field for each of its values", () => {
  const form = draw(
    { place: { type: "object", properties: { name: { type: "string" } } } },
    { place: { name: "Town", other: 1 } },
  );

  form.enter("fieldset input", "Village");

  assert.deepEqual(form.values(), { place: { name: "Village", other: 1 } });
});

test("items of a list are changed, added and removed", () => {
  const schema = { key: { type: "array", items: { type: "string", default: "new" }, maxItems: 3 } };
  const changed = draw(schema, { key: ["a", "b"] });
  const added = draw(schema, { key: ["a", "b"] });
  const removed = draw(schema, { key: ["a", "b"] });
  const full = draw(schema, { key: ["a", "b", "c"] });

  changed.enter("input", "x");
  added.click(".add");
  removed.click(".row button");

  assert.deepEqual(
    [changed, added, removed].map((form) => form.values().key),
    [["x", "b"], ["a", "b", "new"], ["b"]],
  );
  assert.equal(full.root.querySelector<HTMLButtonElement>(".add")?.disabled, true);
});

test("entries of a map are added, renamed, changed and removed", () => {
  const entry = { type: "object", properties: { name: { type: "string" } } };
  const schema = { key: { type: "object", patternProperties: { "^[a-z]+$": entry } } };
  const stored = { key: { hall: { name: "Hall" }, attic: { name: "" } } };
  const forms = Array.from({ length: 4 }, () => draw(schema, stored));
  const [added, renamed, changed, removed] = forms;

  added?.click("fieldset > .add");
  renamed?.enter("details input", " lobby ");
  changed?.enter("details .field + .field input", "Lobby");
  removed?.click("details .add");

  assert.deepEqual(added?.textOf("summary"), ["Hall (hall)", "attic"]);
  assert.deepEqual(
    forms.map((form) => form.values().key),
    [
      { ...stored.key, "": {} },
      { lobby: { name: "Hall" }, attic: { name: "" } },
      { hall: { name: "Lobby" }, attic: { name: "" } },
      { attic: { name: "" } },
    ],
  );
});

test("a key of a map that is missing or invalid is explained, and one that is taken is refused", () => {
  const schema = { key: { type: "object", patternProperties: { "^[a-z]+$": { type: "string" } } } };
  const wrong = draw(schema, { key: { "": "a", "?": "b" } });
  const taken = draw(schema, { key: { a: "1", b: "2" } });

  taken.enter("details input", "b");

  assert.equal(wrong.textOf(".fault").length, 2);
  assert.deepEqual(taken.values(), { key: { a: "1", b: "2" } });
});

test("a thing of the home is chosen by its name, and a stored one that is gone is kept", () => {
  const properties = {
    field: { type: "string", format: "field", default: "" },
    usual: { type: "string", format: "field", default: "temperature" },
    scenes: { type: "array", items: { type: "string", format: "scene" } },
    kind: { type: "string", format: "kind" },
  };
  const form = draw(properties, { field: "radon", scenes: ["host:scene:movie"] });

  assert.deepEqual(form.textOf("select option"), [
    ...["None", "Humidity", "Temperature", "radon (not available)"],
    ...["Humidity", "Temperature"],
    ...["None", "Dinner", "Movie"],
    ...["None"],
  ]);
});

test("a thing of which the page knows no names is a text", () => {
  const root = document.createElement("div");
  const schema = { type: "object", properties: { scene: { type: "string", format: "scene" } } };
  const offers = { devices: [], rooms: [] };
  render(formView({ schema, values: {}, offers, id: "form", onChange: () => undefined }), root);

  assert.equal(root.querySelectorAll("select").length, 0);
  assert.equal(root.querySelectorAll("input").length, 1);
});

test("text that is not JSON changes nothing", () => {
  const form = draw({ key: {} }, { key: 1 });

  form.enter("textarea", "{");

  assert.deepEqual(form.values(), { key: 1 });
});

test("stored values that the schema does not know are kept until they are discarded", () => {
  const form = draw({ name: { type: "string" } }, { name: "a", old: [1] });
  form.enter("input", "b");
  const kept = form.values();

  form.click(".unknown button");

  assert.deepEqual(form.textOf(".unknown code"), ["old: [1]"]);
  assert.deepEqual([kept, form.values()], [{ name: "b", old: [1] }, { name: "a" }]);
});

function draw(properties: object, stored: Values, faults: ReadonlyMap<string, string> = new Map()) {
  const root = document.createElement("div");
  let values = stored;
  const schema = { type: "object", properties } as FieldSchema;
  const onChange = (next: Values): void => void (values = next);
  render(formView({ schema, values, offers: OFFERS, faults, id: "form", onChange }), root);
  return {
    root,
    values: () => values,
    textOf: (selector: string) =>
      Array.from(root.querySelectorAll(selector), ({ textContent }) => (textContent ?? "").trim()),
    click: (selector: string): void => root.querySelector<HTMLElement>(selector)?.click(),
    enter: (selector: string, entered: string | boolean | number): void => {
      const element = root.querySelector(selector);
      if (typeof entered === "boolean") Object.assign(element ?? {}, { checked: entered });
      else if (typeof entered === "number")
        Object.assign(element ?? {}, { selectedIndex: entered });
      else Object.assign(element ?? {}, { value: entered });
      element?.dispatchEvent(new Event("change"));
    },
  };
}
