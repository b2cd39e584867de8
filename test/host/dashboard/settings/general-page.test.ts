import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { FakeApi } from "../../../helpers/page/fake-api.ts";
import "../../../helpers/page/light-dom.ts";
import { until } from "../../../helpers/until.ts";

const { effect } = await import("@preact/signals-core");
const { render } = await import("lit");
const { FormAction } = await import("../../../../host/dashboard/settings/form-action.ts");
const { generalPage } = await import("../../../../host/dashboard/settings/general-page.ts");
const { Store } = await import("../../../../host/dashboard/store.ts");

const PACKS = {
  languages: [
    { language: "fr", name: "Français" },
    { language: "sv", name: "Svenska" },
  ],
  damaged: [{ file: "fi.json", detail: "fi.json is not JSON" }],
};

test("languages of packs are offered in their own words, and damaged packs are named", async (t) => {
  const { root } = open(t);
  await until(() => root.querySelector(".failed") !== null);

  const options = [...root.querySelectorAll<HTMLOptionElement>("#language option")];
  const names = new Map(options.map(({ value, textContent }) => [value, textContent]));

  assert.equal(names.get("sv"), "Svenska");
  assert.equal(names.get("fr-FR"), "Français (France)");
  assert.equal(names.get("tlh"), "Klingon");
  assert.ok(!names.has("fr"));
  assert.match(root.querySelector(".failed")?.textContent ?? "", /fi\.json is not JSON/);
});

test("a chosen language is saved at once", async (t) => {
  const { api, root } = open(t);

  choose(root, "#language", "nl-NL");
  await until(() => api.sent.length > 0);

  assert.deepEqual(api.sent, [["PATCH", "/config", { ui: { locale: "nl-NL" } }]]);
});

test("the first day of the week is kept when the language changes", async (t) => {
  const { api, root, store } = open(t);
  const days = [...root.querySelectorAll<HTMLOptionElement>("#week-start option")];

  store.ui.value = { ...store.ui.value, locale: "de-DE" };
  choose(root, "#week-start", "sun");
  await until(() => api.sent.length === 1);
  store.ui.value = { ...store.ui.value, locale: "de-DE-u-fw-sun" };
  choose(root, "#language", "fr-FR");
  await until(() => api.sent.length === 2);
  choose(root, "#week-start", "");
  await until(() => api.sent.length === 3);

  assert.deepEqual(
    days.map(({ textContent }) => textContent),
    ["As usual in the language", "Monday", "Saturday", "Sunday"],
  );
  assert.deepEqual(
    api.sent.map(([, , body]) => (body as { ui: { locale: string } }).ui.locale),
    ["de-DE-u-fw-sun", "fr-FR-u-fw-sun", "de-DE"],
  );
});

test("without full access, the rows that need it are left out, and a sentence says so", async (t) => {
  const rowsFor = async (mayAdminister: boolean) => {
    const { api, root } = open(t, mayAdminister);
    await until(() => api.asked.includes("GET /photos") && api.asked.includes("GET /languages"));
    await until(() => root.querySelector(".failed") !== null);
    await until(() => !mayAdminister || root.querySelector("[data-setting=wallpaper]") !== null);
    const rows = [...root.querySelectorAll<HTMLElement>("[data-setting]")];
    return {
      rows: rows.map((each) => each.dataset["setting"]),
      says: root.textContent.includes("More settings here need full access."),
    };
  };
  const editable = ["language", "time-zone", "week-start", "units", "theme", "night"];

  assert.deepEqual(await rowsFor(true), {
    rows: [...editable, "accent", "wallpaper", "idle", "screensaver"],
    says: false,
  });
  assert.deepEqual(await rowsFor(false), { rows: [...editable, "idle"], says: true });
});

/** The general settings of a home whose language has no pack. */
function open(t: TestContext, mayAdminister = true) {
  const photos = [{ name: "sea.jpg" }];
  const api = new SendingApi({ "/languages": PACKS, "/photos": { photos } });
  const store = new Store();
  store.ui.value = { locale: "tlh", timeZone: "Europe/Paris" };
  const page = generalPage({ api, store, formAction: new FormAction(), mayAdminister });
  const root = document.createElement("div");
  document.body.append(root);
  const stop = effect(() => void render(page.view(), root));
  t.after(() => {
    stop();
    root.remove();
  });
  return { api, root, store };
}

function choose(root: HTMLElement, selector: string, value: string): void {
  const select = root.querySelector<HTMLSelectElement>(selector);
  assert.ok(select);
  select.value = value;
  select.dispatchEvent(new Event("change", { bubbles: true }));
}

/** Keeps what is sent. */
class SendingApi extends FakeApi {
  readonly sent: (readonly [string, string, unknown])[] = [];

  override async send<M extends string, P extends string>(
    method: M,
    path: P,
    body?: unknown,
  ): Promise<never> {
    this.sent.push([method, path, body]);
    return undefined as never;
  }
}
