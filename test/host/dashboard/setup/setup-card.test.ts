import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { type Answers, FakeApi } from "../../../helpers/page/fake-api.ts";
import "../../../helpers/page/light-dom.ts";
import { until } from "../../../helpers/until.ts";

/** The module that reads calendars in these tests. */
const AGENDA = { id: "agenda", name: "Agenda", state: "active", adds: { calendar: "feeds" } };
const { Store } = await import("../../../../host/dashboard/store.ts");
const { defineSetupCards } = await import("../../../../host/dashboard/setup/setup-card.ts");

const TOWN = {
  name: "Freiburg",
  country: "DE",
  population: 231_195,
  latitude: 47.99,
  longitude: 7.85,
};

class CardApi extends FakeApi {
  readonly sent: unknown[] = [];
  refusal: Error | undefined;

  override async send(...request: readonly unknown[]): Promise<never> {
    this.sent.push(request);
    if (this.refusal) throw this.refusal;
    return undefined as never;
  }
}

function card(t: TestContext, kind: "place" | "calendar", answers: Answers, modules = [AGENDA]) {
  t.mock.method(console, "warn", () => undefined);
  const api = new CardApi(answers);
  const store = new Store();
  store.replaceModules(modules as never);
  defineSetupCards({ api, store });
  const element = document.createElement("mantel-setup");
  element.setAttribute("kind", kind);
  // The light DOM has no popovers.
  Object.assign(HTMLElement.prototype, { showPopover: () => undefined });
  document.body.append(element);
  t.after(() => element.remove());
  const root = element.shadowRoot;
  assert.ok(root);
  const text = () => (root.textContent ?? "").replace(/\s+/g, " ");
  const type = (value: string): void => {
    const input = root.querySelector("input");
    assert.ok(input);
    input.value = value;
    input.dispatchEvent(new Event("input", { bubbles: true }));
  };
  const submit = () =>
    root.querySelector("form")?.dispatchEvent(new Event("submit", { cancelable: true }));
  return { api, root, text, type, submit };
}

test("a town is found by its name, and becomes the place of the home", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { api, root, text, type } = card(t, "place", { "/places?": { places: [TOWN] } });
  type("Frei");
  type("Freib");
  t.mock.timers.tick(150);
  await until(() => text().includes("Freiburg"));

  assert.match(text(), /FreiburgGermany · 231,195/);
  root.querySelector<HTMLElement>("li button")?.click();

  await until(() => api.sent.length === 1);
  const home = { place: "Freiburg", latitude: 47.99, longitude: 7.85 };
  assert.deepEqual(api.sent, [["PATCH", "/config", { home }]]);
  assert.deepEqual(api.asked, ["GET /places?q=Freib"]);
});

test("a town that is not found is reported, and an empty field shows none", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { api, root, type } = card(t, "place", { "/places?": { places: [] } });
  const status = () => root.querySelector("[role=status]")?.textContent.trim() ?? "";
  type("Nowhere");
  t.mock.timers.tick(150);
  await until(() => status() !== "");

  type("");
  t.mock.timers.tick(150);
  await until(() => status() === "");
  api.answers["/places?"] = new Error("away");
  type("Freiburg");
  t.mock.timers.tick(150);

  await until(() => api.asked.length === 2);
  assert.equal(status(), "");
});

test("the link of a calendar is added under a name that is free", async (t) => {
  const feeds = { "calendar-1": { url: "https://example.org/a.ics" } };
  const { api, type, submit } = card(t, "calendar", {
    "/modules/agenda/config": { options: { feeds } },
  });
  type("webcal://example.org/family.ics");

  submit();

  await until(() => api.sent.length === 1);
  const added = { name: "Family", url: "webcal://example.org/family.ics" };
  assert.deepEqual(api.sent, [
    ["PATCH", "/modules/agenda/config", { feeds: { "calendar-2": added } }],
  ]);
});

test("the card reports a text that is not a link, and a change that is refused", async (t) => {
  const { api, root, type, submit } = card(t, "calendar", {
    "/modules/agenda/config": { options: {} },
  });
  const alert = () => root.querySelector("[role=alert]")?.textContent.trim() ?? "";
  type("family");
  submit();
  assert.notEqual(alert(), "");
  assert.deepEqual(api.asked, []);

  api.refusal = new Error("the calendar cannot be read");
  type("https://example.org/family.ics");
  submit();

  await until(() => alert() === "the calendar cannot be read");
});

test("without a module that reads calendars the card says so, and changes nothing", async (t) => {
  const off = { ...AGENDA, state: "disabled" };
  const { api, root, type, submit } = card(t, "calendar", {}, [off]);
  type("https://example.org/family.ics");

  submit();

  const alert = () => root.querySelector("[role=alert]")?.textContent.trim() ?? "";
  await until(() => alert() === "No plugin reads calendars; enable one");
  assert.deepEqual(api.sent, []);
});
