import assert from "node:assert/strict";
import { test } from "node:test";
import { deviceOf } from "../../helpers/device.ts";
import { mountOnPage } from "../../helpers/page/widget.ts";

const { default: status } = await import("../../../plugins/status-widget/widget.ts");

const WINDOW = deviceOf({
  kind: "binary-sensor",
  name: "Bath window",
  room: "Bath",
  capabilities: {},
  state: { contact: false },
});
const DOOR = deviceOf({
  kind: "lock",
  name: "Front door",
  capabilities: {},
  state: { locked: false },
});

test("the status names what needs attention, of all rooms or of the one in its settings", (t) => {
  const { config, store, online, root, textOf } = mountOnPage(t, status, {
    devices: [WINDOW, DOOR],
  });
  const all = textOf("li");
  const opened = Array.from(
    root.querySelectorAll<HTMLElement>("[data-opens]"),
    ({ dataset }) => dataset["details"],
  );

  config.value = { room: "Bath" };
  const bath = textOf("li");
  config.value = { openings: false };
  store.putDevice({ ...DOOR, revision: 2, state: { locked: true } });
  online.value = false;

  assert.deepEqual(all, ["Bath window open", "Front door unlocked"]);
  assert.deepEqual(opened, [WINDOW.id, DOOR.id], "a tap opens the device");
  assert.deepEqual(bath, ["Bath window open"]);
  assert.deepEqual(textOf("li"), ["Locked"]);
  assert.equal(root.querySelector("ul")?.className, "stale");
});
