import assert from "node:assert/strict";
import { test } from "node:test";
import { setLocale } from "../../../../host/dashboard/i18n/language.ts";
import { deviceOf } from "../../../helpers/device.ts";
import { FakeApi } from "../../../helpers/page/fake-api.ts";
import "../../../helpers/page/light-dom.ts";
import { overlaySession } from "../../../helpers/page/overlay-session.ts";
import { until } from "../../../helpers/until.ts";

const { Automations } = await import("../../../../host/dashboard/automations/automations.ts");

const LAMP = deviceOf({ id: "demo:light:1", name: "Hall lamp", room: "Hall" });
const FOUND = {
  ...{
    name: "Evening",
    kind: "automation",
    result: "partial",
    notes: [],
    exists: false,
    stored: [],
  },
  reasons: [{ place: "action 1", detail: "there is no device for light.gate" }],
};

test("a pasted file is previewed, a missing device is chosen, and the automations are saved", async (t) => {
  t.mock.method(console, "warn", () => undefined);
  setLocale("en-GB");
  const api = new FakeApi({
    "GET /automations/import": { name: "Old Home", files: ["rules.yaml"] },
    "POST /automations/import": {
      automations: [FOUND],
      entities: [{ entity: "light.gate", kind: "device", device: null, candidates: [LAMP.id] }],
    },
  });
  const root = document.createElement("div");
  document.body.append(root);
  const page = new Automations(root, overlaySession(api, [LAMP]));
  t.after(() => {
    page.close();
    document.body.replaceChildren();
  });
  page.show("import", "");
  const find = <T extends HTMLElement>(selector: string) => {
    const found = document.body.querySelector<T>(selector);
    assert.ok(found, `nothing matches ${selector} in ${document.body.innerHTML}`);
    return found;
  };
  await until(() => document.body.querySelector("textarea") !== null);
  await until(() => document.body.querySelector("h2") !== null);
  assert.equal(find("h2").textContent, "Import from Old Home");
  assert.match(find("form.import .hint").textContent ?? "", /^Choose rules\.yaml, /);

  find<HTMLTextAreaElement>("textarea").value = "- alias: Evening";
  find("form.import").dispatchEvent(new Event("submit"));
  await until(() => document.body.querySelector("select") !== null);
  const rows = find(".imported .row").textContent?.replaceAll(/\s+/g, " ").trim();
  const select = find<HTMLSelectElement>("select");
  select.selectedIndex = 1;
  select.dispatchEvent(new Event("change"));
  await until(() => api.posted.length === 2);
  find("section.import button").click();
  await until(() => api.posted.length === 3);

  const yaml = ["- alias: Evening"];
  const devices = { "light.gate": LAMP.id };
  assert.equal(rows, "Evening in part action 1: there is no device for light.gate");
  assert.deepEqual(api.posted, [
    { yaml, devices: {}, partial: false, store: false },
    { yaml, devices, partial: false, store: false },
    { yaml, devices, partial: false, store: true },
  ]);
});
