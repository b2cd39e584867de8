import assert from "node:assert/strict";
import { test } from "node:test";
import type { CalendarEvent } from "@mantel/plugin-sdk/calendar";
import type { CalendarChange, CalendarChanged } from "@mantel/plugin-sdk/services";
import { CalendarActions } from "../../../../host/calendar/actions.ts";
import { invalid } from "../../../../host/validate.ts";
import { json, serveApp } from "../serve-app.ts";

const EVENT: CalendarEvent = {
  id: "family/a/2026-06-01",
  calendarId: "family",
  uid: "a",
  recurrenceId: null,
  title: "zoo",
  start: { date: "2026-06-01" },
  end: { date: "2026-06-02" },
  allDay: true,
  status: "confirmed",
  busy: true,
  location: null,
  description: null,
  url: null,
  color: null,
};
const JSON_TYPE = { "content-type": "application/json" };
const PATH = "/calendar/events/family%2Fa%2F2026-06-01";

/** The API with a module that changes the calendar `garden/family`, there called `family`. */
async function setUp(...[t]: Parameters<typeof serveApp>) {
  const changes: CalendarChange[] = [];
  const placeOf = (id: string) => ({ provider: "garden", ownId: id.replace("garden/", "") });
  const calendarActions = new CalendarActions({
    calendar: {
      placeOf,
      requestedPlace(id, pointer) {
        if (id !== "nope") return placeOf(id);
        throw invalid("the change", [{ pointer, detail: `no calendar ${id}` }]);
      },
      placeOfEvent: (id) => ({ calendarId: "family", event: id.replace("family/", "") }),
      providers: ["garden"],
      publicIdOf: (_, ownId) => ownId,
    },
    async call(_, __, input): Promise<CalendarChanged> {
      const change = input as CalendarChange;
      changes.push(change);
      return { event: change.action === "remove" ? null : EVENT, etag: '"two"' };
    },
    provides: () => true,
  });
  return { ...(await serveApp(t, { calendarActions })), changes };
}

test("an event is created with the edit scope alone, and has a tag", async (t) => {
  const { api, changes } = await setUp(t);
  const fields = { title: "zoo", start: { date: "2026-06-01" } };
  const post = (scope: "control" | "edit", body: object) =>
    api(scope, "/calendar/events", json("POST", body));

  assert.equal((await post("control", { calendarId: "family", ...fields })).status, 403);
  const created = await post("edit", { calendarId: "family", ...fields });

  assert.deepEqual([created.status, created.headers.get("etag")], [201, '"two"']);
  assert.deepEqual(await created.json(), EVENT);
  assert.deepEqual(changes, [{ action: "create", calendarId: "family", fields }]);
});

test("an event in words is passed on", async (t) => {
  const { api, changes } = await setUp(t);
  const said = { calendarId: "family", text: "Tomorrow 9 dentist" };

  assert.equal((await api("edit", "/calendar/events", json("POST", said))).status, 201);

  assert.deepEqual(changes, [{ action: "create", ...said }]);
});

test("a faulty event is refused with every fault, before its module is asked", async (t) => {
  const { api, changes } = await setUp(t);

  const response = await api(
    "edit",
    "/calendar/events",
    json("POST", { calendarId: "family", start: { date: "soon" }, colour: "red" }),
  );

  const { errors } = (await response.json()) as { errors: { pointer: string }[] };
  assert.equal(response.status, 422);
  assert.ok(errors.length > 1);
  assert.deepEqual(changes, []);
});

test("an unknown calendar of a new or moved event is refused as a faulty field", async (t) => {
  const { api, changes } = await setUp(t);
  const calendarId = "nope";
  const said = json("POST", { calendarId, text: "Tomorrow 9 dentist" });
  const event = json("POST", { calendarId, title: "zoo", start: { date: "2026-06-01" } });

  for (const [path, init] of [
    ["/calendar/events", said],
    ["/calendar/events", event],
    [PATH, json("PATCH", { calendarId })],
  ] as const) {
    const response = await api("edit", path, init);
    const { code, errors } = (await response.json()) as {
      code: string;
      errors: { pointer: string }[];
    };
    assert.deepEqual([response.status, code], [422, "invalid"]);
    assert.deepEqual(
      errors.map(({ pointer }) => pointer),
      ["/calendarId"],
    );
  }
  assert.deepEqual(changes, []);
});

test("scope and If-Match are passed on, and one occurrence is meant without a scope", async (t) => {
  const { api, changes } = await setUp(t);
  const patch = (path: string, body: object, headers: Record<string, string> = {}) => {
    const init = json("PATCH", body);
    return api("edit", path, { ...init, headers: { ...JSON_TYPE, ...headers } });
  };

  assert.equal((await patch(PATH, { title: "park" })).status, 200);
  await patch(PATH, { title: "park", scope: "all" }, { "if-match": '"one"' });
  await patch(`${PATH}?scope=following`, { calendarId: "home" });
  const removed = await api("edit", `${PATH}?scope=all`, { method: "DELETE" });

  assert.equal(removed.status, 204);
  const place = { calendarId: "family", event: "a/2026-06-01" };
  const update = { action: "update", ...place } as const;
  assert.deepEqual(changes, [
    { ...update, scope: "this", fields: { title: "park" } },
    { ...update, scope: "all", fields: { title: "park" }, ifMatch: '"one"' },
    { ...update, scope: "following", fields: {}, moveTo: "home" },
    { action: "remove", ...place, scope: "all" },
  ]);
});

test("one event is read with its tag", async (t) => {
  const { api } = await setUp(t);

  const response = await api("read", PATH);

  assert.deepEqual([response.status, response.headers.get("etag")], [200, '"two"']);
});
