import type { Needs } from "@mantel/plugin-sdk/needs";
import { html, nothing, type TemplateResult } from "lit";
import type { WidgetView } from "../../api/module.ts";
import type { Fact } from "./facts.ts";
import type { SettingsDependencies } from "./page.ts";
import { words } from "./words.ts";

/**
 * Where the widget of a module runs, its access to the home, and the button that changes whether it
 * is trusted.
 */
export function widgetView(
  parts: SettingsDependencies,
  id: string,
  widget: WidgetView | null,
): TemplateResult | typeof nothing {
  if (!widget) return nothing;
  const say = words.value;
  const facts: Fact[] = [
    [say.widgetRuns, widget.runsIn === "page" ? say.inPage : say.inFrame],
    ...needsOf(widget.needs),
  ];
  return html`<section class="panel">
    <h2>${say.widget}</h2>
    <dl>
      ${facts.map(
        ([name, value]) =>
          html`<div>
            <dt>${name}</dt>
            <dd dir="auto">${value}</dd>
          </div>`,
      )}
    </dl>
    ${widget.shipped ? html`<p>${say.shippedWidget}</p>` : trustView(parts, id, widget)}
  </section>`;
}

function trustView(
  { api, formAction }: SettingsDependencies,
  id: string,
  widget: WidgetView,
): TemplateResult {
  const say = words.value;
  const set = (trusted: boolean | null): void =>
    void formAction.run(
      () => api.send("PATCH", "/config", { modules: { [id]: { trusted } } }),
      say.trustChanged,
    );
  const isTrusted = widget.runsIn === "page";
  return html`<p>${isTrusted ? say.trustedWidget : say.framedWidget}</p>
    <div class="actions">
      ${
        isTrusted
          ? formAction.button(say.distrust, () => set(null))
          : formAction.sureButton("trust", say.trust, () => set(true))
      }
    </div>`;
}

function needsOf({ devices = [], kinds = [], rooms = [], ...needs }: Needs): Fact[] {
  const say = words.value;
  const isLimited = kinds.length + rooms.length > 0;
  const which = isLimited ? say.devicesOf(kinds.join(", "), rooms.join(", ")) : say.everyDevice;
  const channels = {
    system: say.seesSystem,
    calendar: say.seesCalendar,
    scenes: say.seesScenes,
    weather: say.seesWeather,
    modules: say.seesModules,
  };
  const documents = {
    calendar: say.readsCalendar,
    history: say.readsHistory,
    photos: say.readsPhotos,
  };
  const lists: readonly (readonly [string, readonly string[]])[] = [
    [
      say.needsToSee,
      [
        ...(devices.includes("read") ? [which] : []),
        ...(needs.channels ?? []).map((name) => channels[name]),
      ],
    ],
    [
      say.needsToCommand,
      [
        ...(devices.includes("command") ? [which] : []),
        ...(needs.scenes === true ? [say.needsScenes] : []),
      ],
    ],
    [say.needsToRead, (needs.reads ?? []).map((name) => documents[name])],
  ];
  const asked = lists.filter(([, values]) => values.length > 0);
  if (asked.length === 0) return [[say.needsToSee, say.needsNothing]];
  return asked.map(([name, values]) => [name, values.join(" · ")]);
}
