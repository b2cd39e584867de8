import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { deviceOf } from "../../../helpers/device.ts";
import { FakeApi } from "../../../helpers/page/fake-api.ts";
import "../../../helpers/page/light-dom.ts";
import { overlaySession } from "../../../helpers/page/overlay-session.ts";
import { until } from "../../../helpers/until.ts";

const { findInHome } = await import("../../../../host/dashboard/find/home-results.ts");
const { followFind } = await import("../../../../host/dashboard/find/follow-find.ts");

const light = { kind: "light" } as const;
const HOME = {
  devices: [
    deviceOf({ ...light, id: "demo:light:1", name: "Ceiling", room: "Küche" }),
    deviceOf({ ...light, id: "demo:light:2", name: "Old kitchen lamp", room: "Cellar" }),
    deviceOf({ ...light, id: "demo:light:3", name: "Bed", room: null, groups: ["Kitsch"] }),
  ],
  scenes: [
    { id: "s1", name: "Kitchen party", available: true },
    { id: "s2", name: "Kitchen off", available: false },
  ] as never,
  pages: [{ id: "kit", title: "Kit", icon: "mdi:home" }] as never,
};

const found = (text: string) => findInHome(text, HOME).map(({ title }) => title);

test("names that begin with the text come first, then words in a name, then the rest, then rooms of devices", () => {
  assert.deepEqual(found("kit"), ["Kitsch", "Kitchen party", "Kit", "Old kitchen lamp"]);
  assert.deepEqual(found("it"), ["Kitsch", "Old kitchen lamp", "Kitchen party", "Kit"]);
});

test("letter case and accents do not matter, and a room finds its devices", () => {
  assert.deepEqual(found("KUCHE"), ["Küche", "Ceiling"]);
  assert.deepEqual(found("küche"), ["Küche", "Ceiling"]);
});

test("nothing is found by white space", () => {
  assert.deepEqual(found("  "), []);
});

test("a choice opens the details of a device, room or group, activates a scene, or goes to a page", () => {
  const opens = (text: string) => findInHome(text, HOME)[0]?.opens;

  assert.deepEqual(opens("ceiling"), { details: { device: "demo:light:1" } });
  assert.deepEqual(opens("cellar"), { details: { room: "Cellar" } });
  assert.deepEqual(opens("kitsch"), { details: { group: "Kitsch" } });
  assert.deepEqual(opens("party"), { scene: "s1" });
  assert.deepEqual(findInHome("kit", HOME)[2]?.opens, { address: "#kit" });
});

test("/ and Ctrl-K open the search, but not in a field, behind the settings or in kiosk mode", async (t) => {
  const { press, dialogs, root } = follow(t);
  const field = document.createElement("input");
  root.append(field);
  press({ key: "/" }, field);
  press({ key: "k" });
  root.hidden = true;
  press({ key: "/" });
  root.hidden = false;
  document.documentElement.setAttribute("data-kiosk", "");
  press({ key: "k", ctrlKey: true });
  document.documentElement.removeAttribute("data-kiosk");

  const prevented = press({ key: "k", ctrlKey: true }, field);
  await until(() => dialogs().length === 1);
  const [first] = dialogs();
  press({ key: "/" });
  await until(() => dialogs().length === 1 && dialogs()[0] !== first);

  assert.equal(prevented, true);
});

test("a device is chosen in the dialog by Enter, and the dialog closes", async (t) => {
  const { press, dialogs, opened } = follow(t);
  press({ key: "/" });
  await until(() => dialogs().length === 1);
  const input = dialogs()[0]?.querySelector("input");
  assert.ok(input);

  input.value = "ceil";
  input.dispatchEvent(new Event("input"));
  const titles = Array.from(
    dialogs()[0]?.querySelectorAll("li span") ?? [],
    (each) => each.textContent,
  );
  input.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" }));

  assert.deepEqual(titles, ["Ceiling"]);
  assert.deepEqual(opened, [{ device: "demo:light:1" }]);
  assert.equal(dialogs().length, 0);
});

function follow(t: TestContext) {
  const session = overlaySession(new FakeApi(), HOME.devices);
  const opened: unknown[] = [];
  const { contexts } = session;
  Object.assign(contexts, {
    channel: () => ({ value: [] }),
    openDetails: (target: unknown) => opened.push(target),
  });
  const root = document.createElement("div");
  document.body.append(root);
  const shown = { value: { pages: [] } };
  const stop = followFind(root, { ...session, shown, mayEdit: false } as never);
  const dialogs = () => Array.from(document.querySelectorAll("dialog.find-in-home"));
  t.after(() => {
    stop();
    root.remove();
    for (const dialog of dialogs()) dialog.dispatchEvent(new Event("cancel"));
  });
  const press = (keys: KeyboardEventInit, target: EventTarget = root): boolean => {
    const event = new KeyboardEvent("keydown", {
      bubbles: true,
      composed: true,
      cancelable: true,
      ...keys,
    });
    target.dispatchEvent(event);
    return event.defaultPrevented;
  };
  return { root, press, dialogs, opened };
}
