import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { ApiError } from "../../../../host/dashboard/api.ts";
import { rememberSignedIn } from "../../../../host/dashboard/signed-in.ts";
import { FakeApi } from "../../../helpers/page/fake-api.ts";
import "../../../helpers/page/light-dom.ts";
import { until } from "../../../helpers/until.ts";
import { FakeAutomations, WELCOME } from "./fake-host.ts";
import { DOOR, LAMP, openPage as open } from "./open-page.ts";

test("the list has a switch for each automation, and templates for new ones", async (t) => {
  const host = new FakeAutomations();
  const { text, click, all } = await open(t, host, "");

  assert.deepEqual(text(".row b"), ["Welcome light"]);
  assert.equal(all(".templates li").length, 8);
  click(".row .switch");
  await until(() => host.stored.get("welcome")?.enabled === false);
});

test("an automation is switched off for two hours, and its row says until when", async (t) => {
  const host = new FakeAutomations();
  const { text, click, all } = await open(t, host, "");

  click(".row .pill");
  await until(() => all(".row .pill").length === 0);

  assert.deepEqual([...host.snoozed], [["welcome", 7_200_000]]);
  assert.match(text(".row small")[0] ?? "", /^off until \d\d:31 · /);
});

test("who may only look at automations has no switch, no template and no form", async (t) => {
  rememberSignedIn({
    ...{ name: "Child", scope: ["edit"], display: false },
    readOnlyPaths: ["automations"],
  });
  t.after(() => localStorage.clear());
  const { text, all } = await open(t, new FakeAutomations(), "");
  assert.deepEqual([text(".row b"), all(".row .switch").length], [["Welcome light"], 0]);
  assert.equal(all(".templates").length, 0);

  const page = await open(t, new FakeAutomations(), "welcome");
  assert.equal(page.find<HTMLButtonElement>("[data-pointer='/triggers/0']").disabled, true);
  assert.equal(page.all(".verdict button, .more").length, 0);
});

test("a webhook shows the address that starts it", async (t) => {
  const host = new FakeAutomations();
  host.stored.set("welcome", { ...WELCOME, triggers: [{ type: "webhook", name: "bell" }] });
  const { text, click, all } = await open(t, host, "welcome");

  click("[data-pointer='/triggers/0']");
  await until(() => all(".chooser pre").length === 1);

  assert.match(text(".chooser pre")[0] ?? "", /^POST http.*\/hooks\/secret\/bell$/);
});

test("without a plugin that offers automations the page says so in one sentence", async (t) => {
  const { text } = await open(t, new FakeApi(), "");

  assert.deepEqual(text("main > p"), ["Automations are not available: no plugin offers them."]);
});

test("an automation is shown as code, and the code is hidden again", async (t) => {
  const host = new FakeAutomations();
  const { text, click, all } = await open(t, host, "welcome");
  const toggle = ".more [aria-expanded]";

  click(toggle);
  await until(() => all(".more .code").length === 1);
  assert.deepEqual(text(".more .code"), ["when(Welcome light)"]);
  click(toggle);
  await until(() => all(".more .code").length === 0);
});

test("an automation is turned into code, and is switched off", async (t) => {
  const host = new FakeAutomations();
  const { text, click, all, session } = await open(t, host, "welcome");
  session.store.replaceModules([
    { id: "automations", name: "Automations", kinds: ["automation"] } as never,
  ]);
  click(".more [aria-expanded]");
  await until(() => all(".more .code").length === 1);

  click(".more .code + .pill");
  await until(() => text(".outcome [role=status] p").length === 1);

  assert.deepEqual([...host.files], [["welcome-light.ts", "when(Welcome light)"]]);
  assert.equal(host.stored.get("welcome")?.enabled, false);
  assert.match(text(".outcome [role=status] p")[0] ?? "", /^The file welcome-light\.ts runs now/);
});

test("a refused file leaves the automation as it is", async (t) => {
  const host = new FakeAutomations();
  const { text, click, all, session } = await open(t, host, "welcome");
  session.store.replaceModules([
    { id: "automations", name: "Automations", kinds: ["automation"] } as never,
  ]);
  click(".more [aria-expanded]");
  await until(() => all(".more .code").length === 1);
  host.failure = new ApiError(409, { code: "conflict", detail: "there is already a file" });

  click(".more .code + .pill");
  await until(() => text(".outcome [role=alert] p").length === 1);

  assert.deepEqual(text(".outcome [role=alert] p"), [
    "Not turned into code: there is already a file",
  ]);
  assert.equal(host.stored.get("welcome")?.enabled, true);
});

test("an automation is a sentence with live values, and is edited part by part", async (t) => {
  const host = new FakeAutomations();
  const { text, click, find } = await open(t, host, "welcome");

  assert.deepEqual(text(".token button"), ["Front door opens", "turn on Hall lamp", "“blink”"]);
  assert.deepEqual(text(".live"), [
    "closed now",
    "off now",
    "cannot be edited here, and is kept as it is",
  ]);
  click('[data-pointer="/actions/0"]');
  const value = find<HTMLSelectElement>('[id$="-on"]');
  value.selectedIndex = 2;
  value.dispatchEvent(new Event("change"));
  assert.equal(text(".token button")[1], "turn off Hall lamp");
  click(".edits .strong");

  await until(() => host.stored.get("welcome")?.revision === 2);
  assert.deepEqual(host.stored.get("welcome")?.actions[0], {
    type: "command",
    device: LAMP.id,
    command: { on: false },
  });
});

test("a part is added by its kind, moved and removed", async (t) => {
  const { text, click } = await open(t, new FakeAutomations(), "welcome");

  click('[aria-label="Add a condition"]');
  click(".chooser .pills button:nth-child(3)");
  const added = text(".token button");
  click(".chooser .danger");
  click('[data-pointer="/actions/0"]');
  click('[aria-label="Move down"]');

  assert.ok(added.includes("it is dark"), added.join());
  assert.deepEqual(text(".token button"), ["Front door opens", "“blink”", "turn on Hall lamp"]);
});

test("the last run is drawn through the sentence and read again when an automation runs", async (t) => {
  const host = new FakeAutomations();
  const trace = {
    id: "1",
    startedAt: "2026-11-20T17:31:02Z",
    endedAt: "2026-11-20T17:31:03Z",
    trigger: { index: 0 },
    conditions: [],
    actions: [
      {
        index: 0,
        at: "0",
        result: "failed",
        startedAt: "2026-11-20T17:31:02Z",
        endedAt: null,
        error: "no answer",
      },
    ],
    result: "failed",
  };
  const { text, all, session } = await open(t, host, "welcome");

  host.traces = [trace];
  session.runs.value++;
  await until(() => all(".steps li").length === 2);

  assert.deepEqual(text(".steps li"), ["Front door opens 17:31", "turn on Hall lamp no answer"]);
  assert.deepEqual(
    [all(".line.reached").length, all(".token.ok").length, all(".token.failed").length],
    [2, 1, 1],
  );
});

test("a run shows the values that its conditions saw, also those of an if", async (t) => {
  const host = new FakeAutomations();
  const isOpen = { type: "state", device: DOOR.id, field: "contact", equals: false };
  const conditions = [
    isOpen,
    { type: "time", after: "22:00" },
    { type: "sun", is: "down" },
    { type: "presence", anyone: true },
    { type: "calendar", calendar: "*" },
    { type: "any", of: [isOpen, { type: "sun", is: "down" }] },
    { type: "variable", name: "count", above: 2 },
    isOpen,
  ];
  const { mode, enabled, triggers, actions } = WELCOME;
  host.put("welcome", { name: "Welcome", mode, enabled, triggers, conditions, actions });
  const inGroup = [
    { index: 0, result: true, value: false },
    { index: 1, result: false, value: "up" },
  ];
  const values = [false, "22:31:07", "down", false, [], inGroup, 3, null];
  const step = { index: 0, at: "0", type: "check", startedAt: "2026-11-20T22:31:07Z" };
  host.traces = [
    {
      id: "1",
      startedAt: "2026-11-20T22:31:07Z",
      endedAt: "2026-11-20T22:31:07Z",
      trigger: { index: 0 },
      conditions: values.map((value, index) => ({ index, result: index !== 3, value })),
      actions: [
        {
          ...step,
          result: "ok",
          value: true,
          request: { type: "check", conditions: [isOpen] },
          conditions: [{ index: 0, result: true, value: false }],
        },
      ],
      result: "completed",
    },
  ];
  const { text, all } = await open(t, host, "welcome");
  await until(() => all(".steps li").length > 2);

  const seen = text(".steps p span").filter((fact) => fact.startsWith("saw "));
  assert.deepEqual(seen, [
    "saw open",
    "saw 22:31",
    "saw dark",
    "saw nobody is home",
    "saw no event",
    "saw Front door is open: open; it is dark: light",
    "saw 3",
    "saw unknown",
    "saw open",
  ]);
});

test("unsaved changes are warned of once before they are lost", async (t) => {
  const { page, text, click } = await open(t, new FakeAutomations(), "welcome");
  const before = page.warnsOfUnsaved();
  click('[data-pointer="/actions/0"]');
  click(".chooser .danger");

  assert.deepEqual([before, page.warnsOfUnsaved(), page.warnsOfUnsaved()], [false, true, false]);
  assert.match(text(".said").join(), /Leave again to discard/);
});

test("a deleted automation is created again by undo", async (t) => {
  const host = new FakeAutomations();
  const { page, text, click } = await open(t, host, "welcome");

  click(".more .danger");
  await until(() => host.stored.size === 0);
  page.show("", "");
  await until(() => text(".said").some((each) => each.includes("Welcome light deleted")));
  click(".said .pill");

  await until(() => host.stored.size === 1);
  assert.equal([...host.stored.values()][0]?.name, "Welcome light");
});

test("trying saves a new automation, and the page continues under its address", async (t) => {
  const { click, host } = await openTemplate(t);
  t.after(() => history.replaceState(null, "", "/"));

  click(".verdict .strong");
  await until(() => host.sent.length === 2);

  assert.deepEqual(host.sent, ["POST /automations", "POST /automations/new-1/run"]);
  assert.equal(location.hash, "#/automations/new-1");
});

test("faults that the host reports are shown below their parts", async (t) => {
  const { page, text, click, host } = await openTemplate(t);
  const errors = [{ pointer: "/triggers/0/device", detail: "must not be empty" }];
  host.failure = new ApiError(422, { code: "invalid", detail: "invalid automation", errors });

  click(".edits .strong");
  await until(() => text(".token .fault").length === 1);

  assert.deepEqual(text(".token .fault"), ["must not be empty"]);
  assert.equal(page.warnsOfUnsaved(), true);
});

async function openTemplate(t: TestContext) {
  const host = new FakeAutomations();
  return { host, ...(await open(t, host, "new", "leftOpen")) };
}
