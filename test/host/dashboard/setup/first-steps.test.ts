import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { ApiError } from "../../../../host/dashboard/api.ts";
import { setLocale } from "../../../../host/dashboard/i18n/language.ts";
import { type Answers, FakeApi } from "../../../helpers/page/fake-api.ts";
import "../../../helpers/page/light-dom.ts";
import { overlaySession } from "../../../helpers/page/overlay-session.ts";
import { until } from "../../../helpers/until.ts";

const { showFirstSteps } = await import("../../../../host/dashboard/setup/first-steps.ts");

const HUE = {
  module: "hue",
  name: "Hue Bridge",
  icon: null,
  address: "10.0.0.5",
  options: { address: "10.0.0.5" },
};
const BROKER = { module: "mqtt", name: "MQTT broker", icon: "mdi:hub", address: "10.0.0.6" };

class SetupApi extends FakeApi {
  readonly sent: unknown[] = [];
  refusal: Error | undefined;

  override async send(...request: readonly unknown[]): Promise<never> {
    this.sent.push(request);
    if (this.refusal) throw this.refusal;
    return undefined as never;
  }
}

/** The page of a user who may set the home up. */
function open(t: TestContext, answers: Answers, mayAdminister = true) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  t.mock.method(console, "warn", () => undefined);
  localStorage.clear();
  history.replaceState(null, "", "/#home");
  const root = document.createElement("div");
  root.innerHTML = `<div class="wall"></div>`;
  document.body.append(root);
  t.after(() => root.remove());
  const api = new SetupApi(answers);
  const { store } = overlaySession(api);
  const bridges = (...ids: readonly string[]) =>
    store.replaceModules(
      ids.map((id) => ({ id, name: id, kinds: ["bridge"], state: "active" }) as never),
    );
  bridges("simulated-home");
  showFirstSteps(root, { api, store, mayAdminister });
  const text = () => root.textContent.replace(/\s+/g, " ");
  const click = (label: string): void => {
    const buttons = [...root.querySelectorAll("button")];
    const button = buttons.find((each) => each.textContent.trim() === label);
    assert.ok(button, `there is a button ${label}`);
    button.click();
  };
  return { root, api, bridges, text, click };
}

test("a simulated home says so, and what was found can be connected", async (t) => {
  const found = [HUE, { ...BROKER, options: {} }];
  const { api, text, click } = open(t, {
    "/setup": { simulated: true },
    "/setup/devices": { found },
  });
  await until(() => text().includes("This is a simulated home."));
  assert.match(text(), /Looking/);

  t.mock.timers.tick(1_000);
  await until(() => text().includes("Hue Bridge"));
  assert.match(text(), /Hue Bridge10\.0\.0\.5 Connect MQTT broker10\.0\.0\.6/);
  click("Connect");

  await until(() => location.hash === "#/settings/modules/hue");
  assert.deepEqual(api.sent, [["PATCH", "/modules/hue/config", { address: "10.0.0.5" }]]);
});

test("a found name is in the language of the home, as far as its plugin has it", async (t) => {
  setLocale("de-DE");
  t.after(() => setLocale("en-GB"));
  const titles = { de: "Hue-Brücke" };
  const { root, text } = open(t, {
    "/setup": { simulated: true },
    "/setup/devices": {
      found: [
        { ...HUE, titles },
        { ...BROKER, options: {} },
      ],
    },
  });
  await until(() => root.querySelector(".simulated") !== null);

  t.mock.timers.tick(1_000);
  await until(() => text().includes("10.0.0.5"));

  assert.match(text(), /Hue-Brücke10\.0\.0\.5 .* MQTT broker10\.0\.0\.6/);
});

test("options that are not complete are asked for on the page, and other faults are shown", async (t) => {
  const { api, text, click } = open(t, {
    "/setup": { simulated: true },
    "/setup/devices": { found: [HUE] },
  });
  await until(() => text().includes("simulated"));
  t.mock.timers.tick(1_000);
  await until(() => text().includes("Hue Bridge"));

  api.refusal = new ApiError(507, { code: "disk_full", detail: "the disk is full" });
  click("Connect");
  await until(() => text().includes("the disk is full"));
  assert.equal(location.hash, "#home");
  api.refusal = new ApiError(422, { code: "invalid", detail: "a key is missing" });
  click("Connect");

  await until(() => location.hash === "#/settings/modules/hue");
});

test("a search that fails or finds nothing says so", async (t) => {
  const answers: Answers = { "/setup": { simulated: true }, "/setup/devices": new Error("away") };
  const { api, text } = open(t, answers);
  await until(() => text().includes("simulated"));

  t.mock.timers.tick(1_000);
  await until(() => !text().includes("Looking"));
  const failed = text();
  api.answers["/setup/devices"] = { found: [] };
  t.mock.timers.tick(20_000);
  await until(() => text() !== failed);

  assert.match(text(), /Nothing found yet/);
});

test("the steps go when they are hidden on this screen, and when the home is no longer simulated", async (t) => {
  const { root, api, bridges, text, click } = open(t, { "/setup": { simulated: true } }, false);
  await until(() => text().includes("simulated"));
  assert.doesNotMatch(text(), /Connect your devices/, "only for users who may set the home up");
  const steps = root.querySelector<HTMLElement>(".first-steps");

  api.answers["/setup"] = { simulated: false };
  bridges("hue");
  await until(() => steps?.hidden === true);
  api.answers["/setup"] = { simulated: true };
  bridges("simulated-home");
  await until(() => steps?.hidden === false);
  click("Hide");

  assert.equal(steps?.hidden, true);
  assert.equal(localStorage.getItem("mantel.first-steps-hidden"), "yes");
});
