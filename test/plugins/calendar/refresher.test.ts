import assert from "node:assert/strict";
import { test } from "node:test";
import { UTC } from "../../../plugins/calendar/ics/zones.ts";
import { Refresher } from "../../../plugins/calendar/refresher.ts";
import { Source } from "../../../plugins/calendar/source.ts";

/** A refresher of one calendar on the web and one file; the test moves its clock. */
function setUp() {
  const clock = { now: 0 };
  const told: string[] = [];
  const sources = ["club", "family"].map(
    (id) => new Source({ id, fallbackName: id, floating: UTC }),
  );
  const refresher = new Refresher({
    agenda: {
      find: (id) => sources.find((each) => each.id === id),
      publishNow: async () => void told.push("published"),
    },
    files: { refresh: async (id) => void told.push(`file ${id}`) },
    readers: [
      { has: (id) => id === "club", refresh: async () => void told.push("asked its server") },
    ],
    now: () => clock.now,
  });
  return { refresher, told, clock };
}

test("a calendar is read now, and published before the answer", async () => {
  const { refresher, told } = setUp();

  const { source, finished } = await refresher.refresh("club");

  assert.deepEqual([source.id, finished], ["club", true]);
  assert.deepEqual(told, ["asked its server", "published"]);
});

test("a file is read again", async () => {
  const { refresher, told } = setUp();

  await refresher.refresh("family");

  assert.deepEqual(told, ["file family", "published"]);
});

test("a server is asked at most every five seconds", async () => {
  const { refresher, told, clock } = setUp();
  const asked = () => told.filter((each) => each === "asked its server").length;

  await refresher.refresh("club");
  clock.now = 4_999;
  await refresher.refresh("club");
  assert.equal(asked(), 1);
  clock.now = 5_000;
  await refresher.refresh("club");
  assert.equal(asked(), 2);
});

test("an unknown calendar is refused", async () => {
  await assert.rejects(setUp().refresher.refresh("nobody"), { code: "not_found" });
});
