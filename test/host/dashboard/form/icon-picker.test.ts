import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { Icons } from "../../../../host/assets/icons.ts";
import { isFound, OFFERED_ICONS } from "../../../../host/dashboard/form/icon-words.ts";
import { setLocale } from "../../../../host/dashboard/i18n/language.ts";
import "../../../helpers/page/light-dom.ts";

const { render } = await import("lit");
const { iconPicker } = await import("../../../../host/dashboard/form/icon-picker.ts");

test("each offered icon exists, and has one name in each language", () => {
  const icons = new Icons();

  for (const { icon, english, german } of OFFERED_ICONS) {
    const name = icon.slice("mdi:".length);
    assert.ok(icons.find([name])[name], icon);
    assert.ok(english !== "" && german !== "", icon);
  }
  assert.equal(new Set(OFFERED_ICONS.map(({ icon }) => icon)).size, OFFERED_ICONS.length);
});

test("icons are found by the beginnings of English and German words", () => {
  const found = (search: string) =>
    OFFERED_ICONS.filter((each) => isFound(each, search)).map(({ icon }) => icon);

  assert.deepEqual(found("kühlschr"), ["mdi:fridge"]);
  assert.deepEqual(found("Living"), ["mdi:sofa"]);
  assert.deepEqual(found("Christmas tree"), ["mdi:pine-tree"]);
  assert.deepEqual(found("nothing like it"), []);
  assert.equal(found(" ").length, OFFERED_ICONS.length);
});

test("a press chooses an icon, and a press on the chosen one removes it", (t) => {
  const picker = show(t, "mdi:sofa");

  picker.press("mdi:bed");
  picker.press("mdi:sofa");

  assert.deepEqual(picker.chosen, ["mdi:bed", ""]);
  assert.deepEqual(picker.shown()[0], "mdi:sofa", "the chosen one is first");
  assert.equal(picker.name("mdi:sofa"), "sofa");
});

test("a search leaves the icons that it finds, and says so if there are none", (t) => {
  const picker = show(t, "mdi:bed");

  picker.search("bad");
  const bath = picker.shown();
  picker.search("brand");
  const none = [picker.shown(), picker.isEmpty()];
  picker.search("");

  assert.deepEqual(bath, ["mdi:shower", "mdi:bathtub"]);
  assert.deepEqual(none, [[], true]);
  assert.deepEqual([picker.shown().length, picker.isEmpty()], [OFFERED_ICONS.length, false]);
});

test("an icon that is not offered stays, and names are in the language of the home", async (t) => {
  setLocale("de");
  t.after(() => setLocale("en-GB"));
  const picker = show(t, "mdi:teapot-outline");

  assert.equal(picker.shown()[0], "mdi:teapot-outline");
  picker.search("teapot");
  assert.deepEqual(picker.shown(), ["mdi:teapot-outline"]);
  assert.equal(picker.name("mdi:fridge"), "Kühlschrank");
  assert.equal(show(t, null).shown().length, OFFERED_ICONS.length);
});

function show(t: TestContext, value: string | null) {
  const root = document.createElement("div");
  document.body.append(root);
  t.after(() => root.remove());
  const chosen: string[] = [];
  render(iconPicker({ id: "icon", value, set: (icon) => chosen.push(icon) }), root);
  const buttons = () => [...root.querySelectorAll<HTMLElement>("[data-icon]")];
  const button = (icon: string) =>
    buttons().find((each) => each.getAttribute("data-icon") === icon);
  return {
    chosen,
    press: (icon: string) => button(icon)?.click(),
    name: (icon: string) => button(icon)?.getAttribute("aria-label"),
    shown: () => buttons().flatMap((each) => (each.hidden ? [] : [each.getAttribute("data-icon")])),
    isEmpty: () => !root.querySelector("[role=status]")?.hasAttribute("hidden"),
    search: (text: string) => {
      const input = root.querySelector<HTMLInputElement>("#icon");
      assert.ok(input);
      input.value = text;
      input.dispatchEvent(new Event("input"));
      input.dispatchEvent(new Event("change"));
    },
  };
}
