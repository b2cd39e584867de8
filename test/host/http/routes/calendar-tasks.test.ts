import assert from "node:assert/strict";
import { test } from "node:test";
import type { CalendarTask, CalendarTaskChange } from "@mantel/plugin-sdk/services";
import { CalendarActions } from "../../../../host/calendar/actions.ts";
import { invalid } from "../../../../host/validate.ts";
import { json, serveApp } from "../serve-app.ts";

const TASK: CalendarTask = {
  id: "family/milk",
  calendarId: "family",
  uid: "milk",
  title: "Milk",
  description: null,
  due: { date: "2026-06-01" },
  status: "needs-action",
  completedAt: null,
  priority: null,
  repeats: false,
};
const PATH = "/calendar/tasks/family%2Fmilk";

/** The API with a module that has one task, in the calendar `family`. */
async function setUp(...[t]: Parameters<typeof serveApp>) {
  const changes: CalendarTaskChange[] = [];
  const placeOf = (id: string) => ({ provider: "garden", ownId: id });
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
    async call(_, { name }, input) {
      if (name === "calendar.tasks") return { lists: [], tasks: [TASK], truncated: false };
      const change = input as CalendarTaskChange;
      changes.push(change);
      return { task: change.action === "remove" ? null : TASK, etag: '"two"' };
    },
    provides: () => true,
  });
  return { ...(await serveApp(t, { calendarActions })), changes };
}

test("tasks are listed, and one is read with its tag", async (t) => {
  const { api } = await setUp(t);

  const all = await api("read", "/calendar/tasks");
  const one = await api("read", PATH);

  assert.deepEqual(await all.json(), { lists: [], tasks: [TASK], truncated: false });
  assert.deepEqual([one.status, one.headers.get("etag")], [200, '"two"']);
});

test("tasks are created, ticked off and removed with the edit scope alone", async (t) => {
  const { api, changes } = await setUp(t);
  const created = { calendarId: "family", title: "Milk" };
  const tick = json("PATCH", { status: "completed" });
  const headers = { "content-type": "application/json", "if-match": '"one"' };

  assert.equal((await api("control", PATH, tick)).status, 403);
  const post = await api("edit", "/calendar/tasks", json("POST", created));
  const patch = await api("edit", PATH, { ...tick, headers });
  const removed = await api("edit", PATH, { method: "DELETE" });

  assert.deepEqual([post.status, patch.status, removed.status], [201, 200, 204]);
  const place = { calendarId: "family", uid: "milk" };
  assert.deepEqual(changes, [
    { action: "create", calendarId: "family", fields: { title: "Milk" } },
    { action: "update", ...place, fields: { status: "completed" }, ifMatch: '"one"' },
    { action: "remove", ...place },
  ]);
});

test("a faulty task is refused with every fault, before its module is asked", async (t) => {
  const { api, changes } = await setUp(t);

  const response = await api("edit", PATH, json("PATCH", { title: "", priority: 10 }));

  const { errors } = (await response.json()) as { errors: { pointer: string }[] };
  assert.equal(response.status, 422);
  assert.deepEqual(errors.map(({ pointer }) => pointer).toSorted(), ["/priority", "/title"]);
  assert.deepEqual(changes, []);
});

test("an unknown calendar of a new task is refused as a faulty field", async (t) => {
  const { api, changes } = await setUp(t);

  const task = { calendarId: "nope", title: "Milk" };
  const response = await api("edit", "/calendar/tasks", json("POST", task));

  const { errors } = (await response.json()) as { errors: { pointer: string }[] };
  assert.deepEqual([response.status, errors.map(({ pointer }) => pointer)], [422, ["/calendarId"]]);
  assert.deepEqual(changes, []);
});
