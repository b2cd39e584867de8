import assert from "node:assert/strict";
import { test } from "node:test";
import "../../../helpers/page/light-dom.ts";

const { html, render } = await import("lit");
const { linkRow, selectRow, settingRow, switchInput } =
  await import("../../../../host/dashboard/settings/setting-row.ts");

function rendered(view: unknown): HTMLElement {
  const root = document.createElement("div");
  render(html`${view}`, root);
  return root;
}

test("a choice shows its name, its explanation and the current value, and reports the chosen one", () => {
  const chosen: string[] = [];
  const root = rendered(
    selectRow({
      id: "units",
      title: "Units",
      hint: "For temperatures and distances",
      value: "imperial",
      options: [
        ["metric", "°C"],
        ["imperial", "°F"],
      ],
      onChange: (value) => chosen.push(value),
    }),
  );
  const select = root.querySelector("select");
  assert.ok(select);

  assert.equal(select.value, "imperial");
  assert.equal(root.querySelector("label")?.htmlFor, "units");
  assert.equal(root.querySelector(".hint")?.id, select.getAttribute("aria-describedby"));
  select.value = "metric";
  select.dispatchEvent(new Event("change"));
  assert.deepEqual(chosen, ["metric"]);
});

test("a switch shows its state and reports the new one", () => {
  const told: boolean[] = [];
  const input = switchInput("kiosk", true, (isOn) => told.push(isOn));
  const root = rendered(settingRow({ id: "kiosk", title: "Kiosk", input }));
  const box = root.querySelector<HTMLInputElement>("[role=switch]");
  assert.ok(box);

  assert.equal(box.checked, true);
  assert.equal(root.querySelector(".hint"), null);
  box.checked = false;
  box.dispatchEvent(new Event("change"));
  assert.deepEqual(told, [false]);
});

test("a setting with a page of its own is a link to it", () => {
  const root = rendered([
    linkRow("rooms", {
      title: "Rooms",
      hint: "Names and order",
      href: "#/rooms",
      icon: "mdi:sofa",
    }),
    linkRow("backups", { title: "Backups", href: "#/backups" }),
  ]);
  const links = [...root.querySelectorAll("a")];

  assert.deepEqual(
    links.map((link) => [link.getAttribute("href"), link.querySelector("strong")?.textContent]),
    [
      ["#/rooms", "Rooms"],
      ["#/backups", "Backups"],
    ],
  );
  assert.equal(links[0]?.querySelector("mantel-icon")?.getAttribute("name"), "mdi:sofa");
  assert.equal(links[1]?.querySelector(".hint"), null);
});
