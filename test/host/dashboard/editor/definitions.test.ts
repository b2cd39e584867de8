import assert from "node:assert/strict";
import { test } from "node:test";
import { defineWidget, s } from "@mantel/plugin-sdk/widget";
import type { ModuleView } from "../../../../host/api/module.ts";
import { Store } from "../../../../host/dashboard/store.ts";
import type { AnyWidget, WidgetLoader } from "../../../../host/dashboard/widget-loader.ts";
import "../../../helpers/page/light-dom.ts";

const { Definitions, schemaOf } = await import("../../../../host/dashboard/editor/definitions.ts");
const { setLocale } = await import("../../../../host/dashboard/i18n/language.ts");

const NOTE = defineWidget({
  name: "Note",
  size: { default: [3, 4] },
  settings: {
    title: s.text({ title: "Title" }),
    names: s.list(s.text({ title: "Name" }), { max: 3 }),
  },
  texts: { de: { Title: "Titel" } },
  mount: () => undefined,
}) as unknown as AnyWidget;

test("a widget's definition is read once from its code, which is released again", async () => {
  const { definitions, used } = home({ note: "/note.js" });

  const [first, second] = await Promise.all([definitions.find("note"), definitions.find("note")]);

  assert.equal(first, NOTE);
  assert.equal(second, NOTE);
  assert.deepEqual(used, ["acquire /note.js", "release /note.js"]);
});

test("a module without a widget has no definition", () => {
  const { definitions } = home({});

  assert.equal(definitions.find("note"), undefined);
});

test("sizes are known for the widgets whose code runs", async () => {
  const { definitions } = home({ note: "/note.js", broken: "/broken.js" });
  const before = definitions.sizes.value.size;

  await definitions.readSizes(["note", "broken", "note", "unknown"]);

  assert.equal(before, 0);
  assert.deepEqual([...definitions.sizes.value], [["note", NOTE.size]]);
  await assert.rejects(definitions.find("broken") ?? Promise.resolve(), /broken/);
});

test("the settings of a widget are a form in the language of the home, or in English", (t) => {
  t.after(() => setLocale("en"));
  const titles = ["de-AT", "fr"].map((locale) => {
    setLocale(locale);
    const { title, names } = schemaOf(NOTE, "note").properties ?? {};
    return [title?.title, names?.items?.title];
  });

  assert.deepEqual(titles, [
    ["Titel", "Name"],
    ["Title", "Name"],
  ]);
  assert.deepEqual(schemaOf({ name: "Clock", size: NOTE.size }, "clock"), {
    type: "object",
    properties: {},
  });
});

/** A home with the modules of these widgets. */
function home(widgets: Readonly<Record<string, string>>) {
  const store = new Store();
  for (const [id, url] of Object.entries(widgets)) {
    store.putModule({ id, name: id, widget: { url, runsIn: "page" } } as ModuleView);
  }
  const used: string[] = [];
  const loader = {
    async acquire(url: string) {
      used.push(`acquire ${url}`);
      if (url === "/broken.js") throw new Error("broken");
      return { hash: "1", instantiate: () => NOTE };
    },
    release: (url: string) => void used.push(`release ${url}`),
  };
  return { definitions: new Definitions(store, loader as unknown as WidgetLoader), used };
}
