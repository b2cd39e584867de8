import assert from "node:assert/strict";
import { test } from "node:test";
import "../../../helpers/page/light-dom.ts";

const { MantelIcon } = await import("../../../../host/dashboard/icons/mantel-icon.ts");

// By another name, because other tests that share this process draw icons too, and have no host to load them from.
customElements.define("tested-icon", MantelIcon);

const settled = () => new Promise((resolve) => setTimeout(resolve, 20));

function iconOf(name: string): HTMLElement {
  const icon = document.createElement("tested-icon");
  icon.setAttribute("name", name);
  document.body.append(icon);
  return icon;
}

/** The drawn path; `null` for an empty icon. */
const drawn = ({ shadowRoot }: HTMLElement) =>
  shadowRoot?.querySelector("svg > path")?.getAttribute("d") ?? null;

test("an icon is empty until it is loaded, and is drawn at once when it is known", async (t) => {
  t.mock.method(globalThis, "fetch", async () => Response.json({ sofa: "M1", help: "M2" }));

  const first = iconOf("mdi:sofa");
  assert.equal(drawn(first), null);
  await settled();

  assert.equal(drawn(first), "M1");
  assert.equal(drawn(iconOf("mdi:sofa")), "M1");
  assert.equal(first.childNodes.length, 0);
  const svg = first.shadowRoot?.querySelector("svg");
  assert.equal(svg?.getAttribute("viewBox"), "0 0 24 24");
  assert.equal(svg?.getAttribute("fill"), "currentColor");
  assert.equal(svg?.getAttribute("aria-hidden"), "true");
  assert.deepEqual([svg?.style.display, svg?.style.pointerEvents], ["block", "none"]);
});

test("an icon that is renamed while it loads shows the later name", async (t) => {
  let answer = (_response: Response): void => undefined;
  t.mock.method(globalThis, "fetch", () => new Promise((resolve) => (answer = resolve)));
  const icon = iconOf("mdi:help");
  icon.setAttribute("name", "mdi:lamp");
  assert.equal(drawn(icon), null, "the former drawing is gone");
  await settled();
  icon.setAttribute("name", "mdi:sofa");

  answer(Response.json({ lamp: "M3" }));
  await settled();

  assert.equal(drawn(icon), "M1");
});

test("a name of no icon is drawn as a question mark", async () => {
  for (const name of [
    "sofa",
    "mdi:",
    "fas:sofa",
    "a mdi:sofa",
    "mdi:sofa!",
    'mdi:"); background: url(',
  ]) {
    assert.equal(drawn(iconOf(name)), "M2", name);
  }
});
