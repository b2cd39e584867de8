import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import "../../../helpers/page/light-dom.ts";
import { until } from "../../../helpers/until.ts";

const { currentLocale, currentPack, pluginText, setLocale, titleIn, translated } =
  await import("../../../../host/dashboard/i18n/language.ts");
const { createPack, loadPack } = await import("../../../../host/dashboard/i18n/packs.ts");
const { rememberLocale, useLanguagePacks, useRememberedLocale } =
  await import("../../../../host/dashboard/i18n/page.ts");

const words = translated(
  "test",
  {
    stop: "Stop",
    left: (count: number) => `${count} left`,
    broken: (name: string) => `to ${name}`,
  },
  { de: { stop: "Halt" } },
);
const FRENCH = {
  dashboard: {
    test: {
      stop: "<b>Arrêt</b>",
      left: "{0, plural, one {# restant} other {# restants}}",
      unknown: "inconnu",
    },
  },
  vocabulary: { Off: "Éteint", "{count} of {total}": "{count} sur {total}" },
  plugins: { clock: { Clock: "Horloge", Off: "Arrêtée" } },
};

test("a language pack translates texts as text; missing and broken ones stay English", (t) => {
  t.after(() => setLocale("en"));
  t.mock.method(console, "warn", () => undefined);

  const own = { ...FRENCH.dashboard.test, broken: "{0, plural, one {x}}" };
  setLocale("fr-FR", createPack({ dashboard: { test: own } }, "fr-FR"));

  const texts = words.value;
  assert.equal(texts.stop, "<b>Arrêt</b>");
  assert.deepEqual([texts.left(1), texts.left(2)], ["1 restant", "2 restants"]);
  assert.equal(texts.broken("the end"), "to the end");
  assert.deepEqual(Object.keys(texts), ["stop", "left", "broken"]);
});

test("texts of a plugin come from its pack, then from itself, then from the vocabulary", (t) => {
  t.after(() => setLocale("en"));
  const texts = { fr: { Clock: "Pendule", Pause: "Pause !" } };

  setLocale("fr", createPack(FRENCH, "fr"));

  assert.equal(pluginText("clock", "Clock", { texts }), "Horloge");
  assert.equal(pluginText("clock", "Pause", { texts }), "Pause !");
  assert.equal(pluginText("other", "Off", { texts }), "Éteint");
  assert.equal(pluginText("clock", "Off", {}), "Arrêtée");
  assert.equal(
    pluginText("other", "{count} of {total}", { values: { count: 1, total: 2 } }),
    "1 sur 2",
  );
  assert.equal(pluginText("constructor", "toString {x", {}), "toString {x");
});

test("the title of a plugin is that of its pack, or of its manifest", (t) => {
  t.after(() => setLocale("en"));
  setLocale("fr", createPack(FRENCH, "fr"));

  assert.equal(titleIn("clock", "Clock", { fr: "Pendule" }), "Horloge");
  assert.equal(titleIn("other", "Clock", { fr: "Pendule" }), "Pendule");
  assert.equal(titleIn("other", "Clock"), "Clock");
});

test("a text whose placeholders are broken is shown unchanged", (t) => {
  t.after(() => setLocale("en"));
  const pack = { plugins: { clock: { Now: "{n, plural, one {x}}" } } };

  setLocale("xx-not a locale", createPack(pack, "xx-not a locale"));

  assert.equal(pluginText("clock", "Now", { values: { n: 1 } }), "{n, plural, one {x}}");
  assert.equal(currentPack.value?.isTranslated, false);
});

test("a pack is read from the host, with the texts of plugins for somebody who is signed in", async (t) => {
  const { asked } = serve(t, {
    "/languages/fr-FR": { dashboard: FRENCH.dashboard },
    "/languages/fr-FR/plugins": { plugins: FRENCH.plugins },
  });
  const api = { address: (path: string) => path };

  const signedIn = await loadPack(api, "fr-FR", true);
  const stranger = await loadPack(api, "fr-FR-u-fw-sun", false);

  assert.deepEqual(signedIn?.plugins, FRENCH.plugins);
  assert.deepEqual(stranger?.plugins, {});
  assert.deepEqual(asked, ["/languages/fr-FR", "/languages/fr-FR/plugins", "/languages/fr-FR"]);
});

test("without an answer of the host there is no pack", async (t) => {
  t.mock.method(console, "warn", () => undefined);
  serve(t, {});

  assert.equal(await loadPack({ address: (path) => path }, "fr", true), undefined);
});

test("the page keeps its language until the texts of the next one are there", async (t) => {
  t.after(() => rememberLocale("en"));
  const loading = new Map<string, (pack: ReturnType<typeof createPack>) => void>();
  localStorage.setItem("mantel.locale", "en-GB");
  useRememberedLocale();
  await useLanguagePacks((tag) => new Promise((resolve) => loading.set(tag, resolve)));

  rememberLocale("fr-FR");
  const before = currentLocale.value;
  loading.get("fr-FR")?.(createPack(FRENCH, "fr-FR"));
  await until(() => currentLocale.value === "fr-FR");

  assert.equal(before, "en-GB");
  assert.equal(document.documentElement.lang, "fr-FR");
  assert.equal(localStorage.getItem("mantel.locale"), "fr-FR");
});

test("a pack that arrives after the next change of language is not used", async (t) => {
  t.after(() => rememberLocale("en"));
  let answer = (_pack: ReturnType<typeof createPack>): void => undefined;
  await useLanguagePacks(() => new Promise((resolve) => (answer = resolve)));
  rememberLocale("fr-FR");
  const late = answer;

  rememberLocale("de");
  answer(createPack({}, "de"));
  late(createPack(FRENCH, "fr-FR"));
  await until(() => currentLocale.value !== "en");

  assert.equal(currentLocale.value, "de");
  assert.equal(words.value.stop, "Halt");
  assert.equal(currentPack.value?.isTranslated, false);
});

test("the first texts of a language are awaited; those of English are in the page", async (t) => {
  t.after(() => rememberLocale("en"));
  const asked: string[] = [];
  const load = async (tag: string) => {
    asked.push(tag);
    return createPack(FRENCH, tag);
  };
  localStorage.setItem("mantel.locale", "fr");
  useRememberedLocale();
  await useLanguagePacks(load);
  const french = words.value.stop;
  localStorage.removeItem("mantel.locale");
  useRememberedLocale();
  await useLanguagePacks(load);

  assert.equal(french, "<b>Arrêt</b>");
  assert.deepEqual(asked, ["fr"]);
});

/** Answers `fetch` with these documents, and all other paths with 404. */
function serve(t: TestContext, documents: Readonly<Record<string, unknown>>) {
  const asked: string[] = [];
  t.mock.method(globalThis, "fetch", async (path: string) => {
    asked.push(path);
    if (path === "/languages/fr" && Object.keys(documents).length === 0) throw new TypeError("off");
    return path in documents ? Response.json(documents[path]) : new Response("", { status: 404 });
  });
  return { asked };
}
