import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { groupsOf, pageIn } from "../../../../host/dashboard/logbook/entries.ts";
import { deviceOf } from "../../../helpers/device.ts";
import { type Answers, FakeApi } from "../../../helpers/page/fake-api.ts";
import "../../../helpers/page/light-dom.ts";
import { overlaySession } from "../../../helpers/page/overlay-session.ts";
import { until } from "../../../helpers/until.ts";

const { Logbook } = await import("../../../../host/dashboard/logbook/logbook.ts");
const { LastChanges } = await import("../../../../host/dashboard/details/who.ts");

const LAMP = deviceOf({
  id: "demo:light:1",
  name: "Hall lamp",
  room: "Hall",
  capabilities: {
    on: { type: "boolean" },
    brightness: { type: "number", min: 0, max: 100, unit: "%" },
  },
  state: { on: true, brightness: 62 },
});
const DOOR = deviceOf({
  id: "demo:binary-sensor:1",
  kind: "binary-sensor",
  name: "Front door",
  room: "Hall",
  capabilities: { contact: { type: "boolean", readOnly: true } },
  state: { contact: false },
});
const DOOR_CAUSE = { kind: "device", id: DOOR.id, name: DOOR.name };
const EVENING = { kind: "automation", id: "evening", name: "Evening", parent: DOOR_CAUSE };
const AT = "2026-11-20T17:31:02Z";
const ENTRIES = [
  {
    id: "4",
    at: AT,
    kind: "state",
    device: LAMP.id,
    what: "brightness",
    from: 20,
    to: 62,
    cause: EVENING,
  },
  {
    id: "3",
    at: AT,
    kind: "state",
    device: LAMP.id,
    what: "on",
    from: false,
    to: true,
    cause: EVENING,
  },
  {
    id: "2",
    at: "2026-11-20T17:31:01Z",
    kind: "state",
    device: DOOR.id,
    what: "contact",
    from: true,
    to: false,
    cause: DOOR_CAUSE,
  },
  {
    id: "1",
    at: "2026-11-19T08:00:00Z",
    kind: "removed",
    device: "gone",
    deviceName: "Old plug",
    what: "removed",
    cause: { kind: "person", id: "x", name: "Mara" },
  },
];
const FIRST_PAGE = "/logbook?limit=100";

test("changes with one cause are one group, and the page has the chain of causes in words", async (t) => {
  const { text, frame } = await open(t, { [FIRST_PAGE]: { entries: ENTRIES, next: null } });

  assert.deepEqual(text("article h3"), [
    "Automation “Evening” ← Front door",
    "Front door opens",
    "Mara",
  ]);
  assert.deepEqual(text("article li"), ["Hall lamp on, 62%", "Old plug removed"]);
  assert.deepEqual(text(".day > header > span"), [
    "2 changes from 2 causes",
    "1 change from 1 cause",
  ]);
  assert.equal(frame.querySelector("main > .pill"), null, "there are no earlier ones");
});

test("a change says why, and is put back", async (t) => {
  const sent = `/smart-home/devices/${encodeURIComponent(LAMP.id)}/command`;
  const { api, text, click } = await open(t, {
    [FIRST_PAGE]: { entries: ENTRIES, next: null },
    [sent]: { device: { ...LAMP, revision: 2, state: { on: false, brightness: 62 } } },
  });

  click("article li button");
  const why = [...text(".why h2"), ...text(".why ol b")];
  click(".why .strong");
  await until(() => text(".said").includes("Hall lamp is back as it was"));

  assert.deepEqual(why, [
    "Why did Hall lamp change?",
    "Front door",
    "Automation “Evening”",
    "Hall lamp",
  ]);
  assert.deepEqual(api.posted, [{ on: false }], "a brightness would turn it on");
});

test("runs of automations are shown with their results", async (t) => {
  const run = { at: AT, kind: "run", cause: EVENING };
  const { text } = await open(t, {
    [FIRST_PAGE]: {
      entries: [
        { ...run, id: "6", what: "cancelled" },
        { ...run, id: "5", what: "stopped" },
        { ...run, id: "4", what: "stopped", to: "it ran too often" },
        { ...run, id: "3", what: "failed" },
        { ...run, id: "2", what: "failed", to: "Lamp did not answer" },
        { ...run, id: "1", what: "completed" },
      ].map((entry, index) => ({ ...entry, device: `gone:${index}`, deviceName: "Run" })),
      next: null,
    },
  });

  assert.deepEqual(text("article li").toReversed(), [
    "Run cancelled",
    "Run did nothing: its conditions were not met",
    "Run failed: it ran too often",
    "Run failed",
    "Run failed: Lamp did not answer",
    "Run ran",
  ]);
});

test("failed commands and scenes are shown with their reason", async (t) => {
  const mara = { kind: "person", id: "x", name: "Mara" };
  const movie = { kind: "scene", id: "host:scene:movie", name: "Movie", parent: mara };
  const failed = { at: AT, kind: "failed", device: LAMP.id, from: '{"on":true}', cause: movie };
  const { text } = await open(t, {
    [FIRST_PAGE]: {
      entries: [
        { id: "3", at: AT, kind: "scene", what: "partial", cause: movie },
        { ...failed, id: "2", what: "deadline_passed", to: "the lamp did not confirm it" },
        { ...failed, id: "1", what: "device_fault", to: "the lamp is broken", cause: mara },
      ],
      next: null,
    },
  });

  assert.deepEqual(text("article h3"), ["Scene “Movie” ← Mara", "Mara"]);
  assert.deepEqual(text("article li"), [
    "Hall lamp command failed: no answer in time",
    "activated, but not all of it",
    "Hall lamp command failed: the lamp is broken",
  ]);
});

test("filters and pages are asked of the host", async (t) => {
  const { api, frame, click, select } = await open(t, {
    [FIRST_PAGE]: { entries: ENTRIES.slice(0, 2), next: "9-1" },
    "/logbook?": { entries: ENTRIES.slice(3), next: null },
  });

  click("main > .pill");
  await until(() => frame.querySelectorAll("article").length === 2);
  click(".kinds button:nth-child(2)");
  await until(() => api.asked.length === 5);
  select(0, "Hall");
  await until(() => api.asked.length === 6);
  select(2, "automation:Evening");
  await until(() => api.asked.length === 7);

  assert.deepEqual(api.asked.filter((each) => each.includes("logbook")).slice(1), [
    "GET /logbook?limit=100&cursor=9-1",
    "GET /logbook?limit=100&cause=person",
    "GET /logbook?limit=100&room=Hall&cause=person",
    "GET /logbook?limit=100&room=Hall&cause=automation%3AEvening",
  ]);
});

test("without a plugin that keeps a logbook the page says so in one sentence", async (t) => {
  const { text } = await open(t, {}, "main > p");

  assert.deepEqual(text("main > p"), ["The logbook is not available: no plugin keeps one."]);
});

test("a page that is not valid is empty, and unknown fields of parts are named as in automations", () => {
  assert.deepEqual(pageIn(7), { entries: [], next: undefined });
  const { entries } = pageIn({
    entries: [{ at: AT, kind: "state", what: "light.on", to: true }, { at: "x" }, null],
  });
  assert.deepEqual(
    entries.map(({ what }) => what),
    ["parts/light/on"],
  );
  assert.equal(groupsOf(entries).length, 1);
});

test("the sheet of a device names who switched it", async () => {
  const api = new FakeApi({ "/logbook?": { entries: ENTRIES.slice(0, 2) } });
  const { store, contexts } = overlaySession(api, [LAMP, DOOR]);
  const changes = new LastChanges(store, { fmt: contexts.formats.value });

  await changes.read(api, LAMP.id);

  assert.equal(changes.heading(LAMP.id), "by Automation “Evening”");
  assert.equal(changes.groups.value.length, 1);
});

async function open(t: TestContext, answers: Answers, shown = "article") {
  t.mock.method(console, "warn", () => undefined);
  const api = new FakeApi(answers);
  const frame = document.createElement("div");
  const root = document.createElement("div");
  frame.append(root);
  document.body.append(frame);
  const logbook = new Logbook(root, overlaySession(api, [LAMP, DOOR]));
  logbook.show("");
  t.after(() => {
    logbook.close();
    frame.remove();
  });
  await until(
    () => frame.querySelector(shown) !== null && frame.querySelector("[aria-busy=true]") === null,
  );
  const text = (selector: string): string[] =>
    Array.from(frame.querySelectorAll(selector), ({ textContent }) =>
      (textContent ?? "").replace(/\s+/g, " ").trim(),
    );
  const click = (selector: string): void => frame.querySelector<HTMLElement>(selector)?.click();
  const select = (nth: number, value: string): void => {
    const found = frame.querySelectorAll("select")[nth];
    if (!found) throw new Error("no such choice");
    found.value = value;
    found.dispatchEvent(new Event("change"));
  };
  return { api, frame, text, click, select };
}
