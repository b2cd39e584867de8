import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { FakeApi } from "../../../helpers/page/fake-api.ts";
import "../../../helpers/page/light-dom.ts";
import { until } from "../../../helpers/until.ts";

const { effect } = await import("@preact/signals-core");
const { render } = await import("lit");
const { FormAction } = await import("../../../../host/dashboard/settings/form-action.ts");
const { aboutToken, accessPage } =
  await import("../../../../host/dashboard/settings/access-page.ts");
const { Store } = await import("../../../../host/dashboard/store.ts");

const { FormData: PageFormData } = document.defaultView as unknown as typeof globalThis;
const HERE = { origin: "http://127.0.0.1:8470" };

/** The page with the answers of this host. */
function showTokens(t: TestContext, api: FakeApi): HTMLElement {
  const page = accessPage({
    api,
    store: new Store(),
    formAction: new FormAction(),
    mayAdminister: true,
  });
  const root = document.createElement("div");
  document.body.append(root);
  const stop = effect(() => void render(page.view(), root));
  t.after(() => {
    stop();
    root.remove();
  });
  return root;
}

/** The page after a token was created. */
async function createToken(t: TestContext) {
  const { FormData: ofNode } = globalThis;
  globalThis.FormData = PageFormData;
  t.after(() => (globalThis.FormData = ofNode));
  const token = "header.payload.signature";
  const api = new FakeApi({
    "/tokens": { tokens: [], token },
    "/setup": { simulated: false, place: true, address: "http://192.168.1.20:8470" },
  });
  const root = showTokens(t, api);
  const name = root.querySelector<HTMLInputElement>("[name=name]");
  assert.ok(name);
  name.value = "Anna's phone";
  name.closest("form")?.dispatchEvent(new Event("submit", { bubbles: true, cancelable: true }));
  await until(() => root.querySelector("textarea") !== null);
  return { api, root, token };
}

test("a new token is shown once, with a button that copies it and an example", async (t) => {
  const copied: string[] = [];
  const clipboard = { writeText: async (text: string) => void copied.push(text) };
  const before = Object.getOwnPropertyDescriptor(globalThis, "navigator");
  Object.defineProperty(globalThis, "navigator", { value: { clipboard }, configurable: true });
  t.after(() => before && Object.defineProperty(globalThis, "navigator", before));
  const { api, root, token } = await createToken(t);

  const buttons = [...root.querySelectorAll("button")];
  buttons.find(({ textContent }) => textContent.trim() === "Copy")?.click();
  await until(() => buttons.some(({ textContent }) => textContent.trim() === "Copied"));

  assert.deepEqual(copied, [token]);
  assert.equal(root.querySelector("textarea")?.value, token);
  assert.match(root.querySelector("pre")?.textContent ?? "", /^curl -H "Authorization: Bearer /);
  assert.equal((api.posted[0] as { name: string }).name, "Anna's phone");
});

test("the code of a new token signs a phone in, at an address that the phone can open", () => {
  const { link, example } = aboutToken("abc", HERE, "http://192.168.1.20:8470");

  assert.equal(link, "http://192.168.1.20:8470/#token=abc");
  assert.equal(
    example,
    'curl -H "Authorization: Bearer abc" http://192.168.1.20:8470/api/v1/smart-home/devices',
  );
});

test("a new token has no code for phones while the host listens on loopback only", () => {
  const { link, warning, example } = aboutToken("abc", HERE, null);

  assert.equal(link, undefined);
  assert.match(warning ?? "", /--host 0\.0\.0\.0/);
  assert.match(example ?? "", /http:\/\/127\.0\.0\.1:8470\/api/);
});

test("the rights of a display are changed in its row, but not those of this browser", async (t) => {
  const child = {
    ...{ id: "1", name: "Child", scope: ["control"], readOnlyPaths: ["calendar"], status: "valid" },
    ...{ expiresAt: "2027-01-01T00:00:00Z", lastUsedAt: null, session: false },
    device: null,
  };
  const api = new FakeApi({
    "/tokens": { tokens: [{ ...child, display: true, current: false }] },
    "/setup": { simulated: false, place: true, address: null },
    "PATCH /tokens/Child?id=1": { changed: 1 },
  });
  const root = showTokens(t, api);
  await until(() => root.querySelector("details") !== null);

  const boxes = [...root.querySelectorAll<HTMLInputElement>("details input")];
  const [automations, , devices, calendars] = boxes;
  assert.ok(automations && devices && calendars);
  assert.deepEqual([automations.checked, calendars.checked], [false, true]);
  automations.checked = true;
  automations.dispatchEvent(new Event("change"));
  await until(() => api.asked.filter((each) => each === "GET /tokens").length === 2);
  devices.checked = true;
  devices.dispatchEvent(new Event("change"));
  await until(() => api.asked.filter((each) => each === "GET /tokens").length === 3);
  const select = root.querySelector<HTMLSelectElement>("details select");
  assert.equal(select?.value, "control");
  select.value = "read";
  select.dispatchEvent(new Event("change"));
  await until(() => api.asked.filter((each) => each === "GET /tokens").length === 4);

  assert.deepEqual(api.posted, [
    { readOnlyPaths: ["calendar", "automations"] },
    { readOnlyPaths: ["calendar", "smart-home/devices", "smart-home/commands", "rooms"] },
    { scope: ["read"] },
  ]);
  api.answers["/tokens"] = { tokens: [{ ...child, display: false, current: true }] };
  const own = showTokens(t, api);
  await until(() => own.querySelector("li strong") !== null);
  assert.equal(own.querySelector("details"), null);
});

test("people are shown with the devices that they signed in", async (t) => {
  const token = {
    ...{ scope: ["control"], readOnlyPaths: [], status: "valid", display: false, current: false },
    ...{ expiresAt: "2027-01-01T00:00:00Z", lastUsedAt: null, session: true },
  };
  const api = new FakeApi({
    "/tokens": {
      tokens: [
        { ...token, id: "1", name: "Mara", device: "phone" },
        { ...token, id: "2", name: "Noah", device: null, session: false },
        { ...token, id: "3", name: "Mara", device: "tablet" },
        { ...token, id: "4", name: "Mara", device: null },
      ],
    },
    "/setup": { simulated: false, place: true, address: null },
  });
  const root = showTokens(t, api);
  await until(() => root.querySelector(".person") !== null);

  const shown = [...root.querySelectorAll(".person")].map((person) => [
    person.querySelector("h3")?.textContent?.replace(/\s+/g, " ").trim(),
    [...person.querySelectorAll("li strong")].map(({ textContent }) => textContent),
  ]);

  assert.deepEqual(shown, [
    ["M Mara", ["Phone", "Tablet", "Browser"]],
    ["N Noah", ["Link or token"]],
  ]);
});
