import assert from "node:assert/strict";
import { test } from "node:test";
import type { CalendarSource } from "@mantel/plugin-sdk/calendar";
import { MantelError } from "@mantel/plugin-sdk/errors";
import type { CalendarTask } from "@mantel/plugin-sdk/services";
import { CalendarActions } from "../../../host/calendar/actions.ts";

const SOURCE: CalendarSource = {
  id: "family",
  name: "Family",
  color: "#112233",
  status: "ok",
  fetchedAt: null,
};

const ANSWER = { source: SOURCE, finished: true };

/** Actions on the calendar `garden/family`, which its module calls `family`. */
function setUp({
  provides = true,
  answer = ANSWER,
}: { provides?: boolean; answer?: unknown } = {}) {
  const calls: unknown[] = [];
  const actions = new CalendarActions({
    calendar: {
      placeOf(id) {
        if (id === "garden/family") return { provider: "garden", ownId: "family" };
        throw new MantelError("not_found", "no such calendar");
      },
      requestedPlace(id, pointer) {
        if (id === "garden/family") return { provider: "garden", ownId: "family" };
        throw new MantelError("invalid", `${pointer} no calendar ${id}`);
      },
      placeOfEvent: (id) => ({ calendarId: "garden/family", event: id.slice(14) }),
      providers: ["garden"],
      publicIdOf: (provider, ownId) => `${provider}/${ownId}`,
    },
    async call(provider, { name }, input) {
      calls.push([provider, name, input]);
      return answer;
    },
    provides: () => provides,
  });
  return { actions, calls };
}

test("a calendar is refreshed by its module, under the id that it has there", async () => {
  const { actions, calls } = setUp();

  const { source, finished } = await actions.refresh("garden/family");

  assert.deepEqual(calls, [["garden", "calendar.refresh", { id: "family" }]]);
  assert.deepEqual([source.id, source.changedAt, finished], ["garden/family", null, true]);
});

test("an action that the module of a calendar does not support is refused with the reason", async () => {
  const { actions, calls } = setUp({ provides: false });

  await assert.rejects(actions.refresh("garden/family"), {
    code: "conflict",
    message: /garden .* does not provide calendar\.refresh/,
  });
  assert.deepEqual(calls, []);
});

test("an unknown calendar and an invalid answer are refused", async () => {
  const { actions } = setUp({ answer: { source: "?" } });

  await assert.rejects(actions.refresh("other"), { code: "not_found" });
  await assert.rejects(actions.refresh("garden/family"), { code: "service_unavailable" });
});

test("an unknown calendar to create in or to move to is a faulty field", async () => {
  const { actions, calls } = setUp();
  const start = { date: "2026-06-01" };
  const inOther = { action: "create", calendarId: "other" } as const;
  const event = { calendarId: "garden/family", event: "a" };
  const move = { scope: "this", fields: {}, moveTo: "other" } as const;
  const refused = (pointer: string) => ({
    code: "invalid",
    message: `${pointer} no calendar other`,
  });

  const calendarId = refused("/calendarId");
  await assert.rejects(actions.change({ ...inOther, fields: { title: "zoo", start } }), calendarId);
  await assert.rejects(actions.changeTask({ ...inOther, fields: { title: "Milk" } }), calendarId);
  await assert.rejects(async () => actions.update("garden/family/a", move), calendarId);
  await assert.rejects(actions.change({ action: "update", ...event, ...move }), refused("/moveTo"));
  assert.deepEqual(calls, []);
});

test("tasks and their lists have the ids that clients see", async () => {
  const task = taskIn("family");
  const { actions, calls } = setUp({
    answer: { lists: [SOURCE], tasks: [task], truncated: false },
  });

  const { lists, tasks } = await actions.tasks();

  assert.deepEqual(calls, [["garden", "calendar.tasks", {}]]);
  assert.deepEqual(
    lists.map(({ id }) => id),
    ["garden/family"],
  );
  assert.deepEqual(tasks, [taskIn("garden/family")]);
});

test("modules without tasks are not asked for them", async () => {
  const { actions, calls } = setUp({ provides: false });

  assert.deepEqual(await actions.tasks(), { lists: [], tasks: [], truncated: false });
  assert.deepEqual(calls, []);
});

test("a task is changed by the module of its calendar, and keeps its id", async () => {
  const { actions, calls } = setUp({ answer: { task: taskIn("family"), etag: '"a"' } });

  const fields = { status: "completed" } as const;
  const { task } = await actions.updateTask("garden/family/milk", { fields, ifMatch: '"b"' });

  const change = { action: "update", calendarId: "family", uid: "milk", fields, ifMatch: '"b"' };
  assert.deepEqual(calls, [["garden", "calendar.tasks.change", change]]);
  assert.deepEqual(task, taskIn("garden/family"));
});

function taskIn(calendarId: string): CalendarTask {
  return {
    id: `${calendarId}/milk`,
    calendarId,
    uid: "milk",
    title: "Milk",
    description: null,
    due: { date: "2026-06-01" },
    status: "needs-action",
    completedAt: null,
    priority: null,
    repeats: false,
  };
}
