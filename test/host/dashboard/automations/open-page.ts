import type { TestContext } from "node:test";
import type { Api } from "../../../../host/dashboard/api.ts";
import { setLocale } from "../../../../host/dashboard/i18n/language.ts";
import { deviceOf } from "../../../helpers/device.ts";
import "../../../helpers/page/light-dom.ts";
import { overlaySession } from "../../../helpers/page/overlay-session.ts";
import { until } from "../../../helpers/until.ts";

const { Automations } = await import("../../../../host/dashboard/automations/automations.ts");

export const LAMP = deviceOf({ id: "demo:light:1", name: "Hall lamp", room: "Hall" });
export const DOOR = deviceOf({
  id: "demo:binary-sensor:1",
  kind: "binary-sensor",
  name: "Front door",
  capabilities: { contact: { type: "boolean", readOnly: true } },
  state: { contact: true },
});

/** A page of the automations in a home with a lamp and a door, in UTC and in British English. */
export async function openPage(t: TestContext, api: Api, id: string, item = "") {
  t.mock.method(console, "warn", () => undefined);
  setLocale("en-GB");
  const frame = document.createElement("div");
  const root = document.createElement("div");
  frame.append(root);
  document.body.append(frame);
  const session = overlaySession(api, [LAMP, DOOR]);
  const page = new Automations(root, session);
  t.after(() => {
    page.close();
    frame.remove();
  });
  page.show(id, item);
  await until(() => frame.querySelector("[aria-busy=false]") !== null);
  const all = (selector: string) => [...frame.querySelectorAll<HTMLElement>(selector)];
  const find = <T extends HTMLElement>(selector: string): T => {
    const [found] = all(selector);
    if (!found) throw new Error(`nothing matches ${selector} in ${frame.innerHTML}`);
    return found as T;
  };
  const text = (selector: string): string[] =>
    all(selector).map(({ textContent }) => (textContent ?? "").replace(/\s+/g, " ").trim());
  return { page, session, all, find, text, click: (selector: string) => find(selector).click() };
}
