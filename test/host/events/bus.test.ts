import assert from "node:assert/strict";
import { test } from "node:test";
import type { ApiEvent } from "../../../host/api/events.ts";
import { Bus } from "../../../host/events/bus.ts";

test("a listener gets every event until it stops listening, and the others continue", () => {
  const bus = new Bus();
  const [heard, heardByOther]: ApiEvent[][] = [[], []];
  const stop = bus.on((event) => void heard?.push(event));
  bus.on((event) => void heardByOther?.push(event));

  bus.emit("layout.changed", { revision: 1 });
  stop();
  bus.emit("layout.changed", { revision: 2 });

  const events = [1, 2].map((revision) => ({ topic: "layout.changed", data: { revision } }));
  assert.deepEqual(heard, events.slice(0, 1));
  assert.deepEqual(heardByOther, events);
});
