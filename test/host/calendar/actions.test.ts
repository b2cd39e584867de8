import assert from "node:assert/strict";
import { test } from "node:test";
import type { CalendarSource } from "@mantel/plugin-sdk/calendar";
import { MantelError } from "@mantel/plugin-sdk/errors";
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
      placeOfEvent: (id) => ({ calendarId: "garden/family", event: id.slice(14) }),
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
