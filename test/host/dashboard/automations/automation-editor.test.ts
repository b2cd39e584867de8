import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "../../../../host/dashboard/api.ts";
import { AutomationEditor } from "../../../../host/dashboard/automations/automation-editor.ts";
import { draftOf } from "../../../../host/dashboard/automations/templates.ts";
import { FakeAutomations, WELCOME } from "./fake-host.ts";

test("edits are undo steps, and the draft is dirty until it is saved", async () => {
  const { editor, host } = open();
  editor.change(["name"], "Hello");
  editor.add(["conditions"], { type: "sun", is: "down" });
  const opened = editor.opened.peek();
  editor.remove(["conditions", 0]);
  editor.undo();

  assert.equal(opened, "/conditions/0");
  assert.equal(editor.document.value.conditions.length, 1);
  assert.equal(editor.isDirty.value, true);
  assert.equal(await editor.save(), true);
  assert.equal(editor.isDirty.value, false);
  assert.deepEqual(host.sent, ["PUT /automations/welcome at 1"]);
  assert.equal(host.stored.get("welcome")?.name, "Hello");
});

test("fields that the page cannot edit are saved as they were", async () => {
  const { editor, host } = open();

  editor.change(["actions", 0, "forMs"], 60_000);
  await editor.save();

  assert.deepEqual(host.stored.get("welcome")?.actions[1], { type: "blink", times: 3 });
});

test("a new automation is created, and then changed", async () => {
  const host = new FakeAutomations();
  const editor = new AutomationEditor(start(host), draftOf("heating", []));

  assert.equal(editor.isDirty.value, true);
  await editor.save();
  editor.change(["name"], "Warm");
  await editor.save();

  assert.deepEqual(host.sent, ["POST /automations", "PUT /automations/new-1 at 1"]);
  assert.equal(new AutomationEditor(start(host), draftOf("empty", [])).isDirty.value, false);
});

test("changes of somebody else to other parts are merged", async () => {
  const { editor, host } = open();
  editor.change(["name"], "Mine");
  host.put("welcome", { ...WELCOME, mode: "restart" });

  assert.equal(await editor.save(), false);
  assert.deepEqual(editor.conflicts.value, []);
  editor.takeOver();
  await editor.save();

  const { name, mode } = host.stored.get("welcome") ?? WELCOME;
  assert.deepEqual([name, mode], ["Mine", "restart"]);
});

test("of a part that both changed, the user decides", async () => {
  for (const isTheirs of [true, false]) {
    const { editor, host, said } = open();
    editor.change(["name"], "Mine");
    host.put("welcome", { ...WELCOME, name: "Theirs" });
    await editor.save();

    assert.deepEqual(editor.conflicts.value, ["name"]);
    assert.match(said.join(), /Somebody else has changed/);
    editor.decide("name", isTheirs);
    editor.takeOver();
    await editor.save();

    assert.equal(host.stored.get("welcome")?.name ?? "", isTheirs ? "Theirs" : "Mine");
  }
});

test("an automation that somebody else deleted is made again by saving", async () => {
  const { editor, host } = open();
  editor.change(["name"], "Mine");
  host.stored.clear();

  await editor.save();
  const warned = editor.message.value?.text ?? "";
  await editor.save();

  assert.match(warned, /has deleted/);
  assert.equal([...host.stored.values()][0]?.name, "Mine");
});

test("a refused draft stays, with each fault at its part", async () => {
  const { editor, host } = open();
  editor.change(["triggers", 0, "device"], "");
  const errors = [{ pointer: "/triggers/0/device", detail: "must not be empty" }];
  host.failure = new ApiError(422, { code: "invalid", detail: "invalid automation", errors });

  assert.equal(await editor.save(), false);
  assert.equal(editor.faults.value.get("/triggers/0/device"), "must not be empty");
  assert.equal(editor.message.value?.text, "Not saved: invalid automation");
  host.failure = undefined;
  editor.change(["triggers", 0, "device"], "demo:light:1");
  assert.equal(editor.faults.value.size, 0);
});

test("trying starts a run and reads it", async () => {
  const { editor, host } = open();
  host.traces = [{ id: "1", startedAt: "2026-01-01T00:00:00Z", result: "completed" }];

  await editor.run();

  assert.deepEqual(host.sent, ["POST /automations/welcome/run"]);
  assert.equal(editor.traces.value[0]?.result, "completed");
});

test("switching off is stored at once, and other edits stay unsaved", async () => {
  const { editor, host } = open();
  editor.change(["name"], "Hello");

  await editor.setEnabled(false);

  assert.deepEqual(
    [host.stored.get("welcome")?.enabled, host.stored.get("welcome")?.name],
    [false, "Welcome light"],
  );
  assert.deepEqual([editor.document.value.enabled, editor.isDirty.value], [false, true]);
  assert.equal(await editor.save(), true);
});

function start(host: FakeAutomations, said: string[] = []) {
  return { api: host, announce: (text: string) => void said.push(text) };
}

function open() {
  const host = new FakeAutomations();
  const said: string[] = [];
  return { host, said, editor: new AutomationEditor(start(host, said), WELCOME, WELCOME) };
}
