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
  const texts = words.value;
  const facts: Fact[] = [
    [texts.widgetRuns, widget.runsIn === "page" ? texts.runsInPage : texts.runsInFrame],
    ...needsOf(widget.needs),
  ];
  return html`<section class="panel">
    <h2>${texts.widget}</h2>
    <dl>
      ${facts.map(
        ([name, value]) =>
          html`<div>
            <dt>${name}</dt>
            <dd dir="auto">${value}</dd>
          </div>`,
      )}
    </dl>
    ${widget.shipped ? html`<p>${texts.shippedWidget}</p>` : nothing}
    ${!widget.shipped && parts.mayAdminister ? trustView(parts, id, widget) : nothing}
  </section>`;
}

function trustView(
  { api, formAction }: SettingsDependencies,
  id: string,
  widget: WidgetView,
): TemplateResult {
  const texts = words.value;
  const set = (trusted: boolean | null): void =>
    void formAction.run(
      () => api.send("PATCH", "/config", { modules: { [id]: { trusted } } }),
      texts.trustChanged,
    );
  const isTrusted = widget.runsIn === "page";
  return html`<p>${isTrusted ? texts.trustedWidget : texts.framedWidget}</p>
    <div class="actions">
      ${
        isTrusted
          ? formAction.button(texts.distrust, () => set(null))
          : formAction.confirmButton("trust", texts.trust, () => set(true))
      }
    </div>`;
}

function needsOf({ devices = [], kinds = [], rooms = [], ...needs }: Needs): Fact[] {
  const texts = words.value;
  const isLimited = kinds.length + rooms.length > 0;
  const which = isLimited ? texts.devicesOf(kinds.join(", "), rooms.join(", ")) : texts.everyDevice;
  const channels = new Map([
    ["calendar", texts.seesCalendar],
    ["scenes", texts.seesScenes],
    ["modules", texts.seesModules],
  ]);
  const documents = new Map<string, string>([
    ["calendar", texts.readsCalendar],
    ["history", texts.readsHistory],
  ]);
  const lists: readonly (readonly [string, readonly string[]])[] = [
    [
      texts.widgetSees,
      [
        ...(devices.includes("read") ? [which] : []),
        ...(needs.channels ?? []).map((name) => channels.get(name) ?? texts.seesChannel(name)),
      ],
    ],
    [
      texts.widgetControls,
      [
        ...(devices.includes("command") ? [which] : []),
        ...(needs.scenes === true ? [texts.controlsScenes] : []),
      ],
    ],
    [texts.widgetReads, (needs.reads ?? []).map((name) => documents.get(name) ?? name)],
    [texts.widgetCalls, needs.services ?? []],
  ];
  const needed = lists.filter(([, values]) => values.length > 0);
  if (needed.length === 0) return [[texts.widgetSees, texts.widgetNeedsNothing]];
  return needed.map(([name, values]) => [name, values.join(" · ")]);
}
