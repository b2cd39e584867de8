// The part of the Chromium kit that runs in the page.

import type { ServiceDefinition } from "../service.ts";
import type { Settings, WidgetDefinition } from "../widget.ts";
import type { Recorded, WidgetTestOptions } from "./fake-context.ts";
import { mountWidget, type TestedWidget } from "./mount.ts";
import base from "../ui/base.css";
import theme from "../ui/theme.css";

declare const mantelCall: (
  name: string,
  input: unknown,
) => Promise<{ answer?: unknown; error?: { code?: string; message: string } }>;

/** The widget on this page, and what the test asks of it. */
export const mantelTest = {
  widgetUnderTest: undefined as WidgetDefinition<Settings, unknown> | undefined,
  widget: undefined as unknown as TestedWidget,

  mount(options: WidgetTestOptions, services: readonly string[]): void {
    const style = document.createElement("style");
    style.textContent = `${theme} body { margin: 0 } body > div { width: 100vw; height: 100vh }`;
    document.head.append(style);
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(base);
    document.adoptedStyleSheets = [sheet];
    if (!this.widgetUnderTest) throw new Error("the widget entry has no default export");
    this.widget = mountWidget(this.widgetUnderTest, { ...options, services: services.map(remote) });
  },

  recorded(): Omit<Recorded, "faults"> {
    const { commands, roomCommands, scenes, announced } = this.widget;
    return { commands, roomCommands, scenes, announced };
  },

  setSettings(settings: Readonly<Record<string, unknown>>): void {
    this.widget.settings.value = settings;
  },
};

/** A service whose handler is in the test's process, where input and answer are checked. */
function remote(key: string) {
  const [name = "", version = "1"] = key.split("@");
  const definition = { name, version: Number(version), input: {}, output: {} };
  const handler = async (input: unknown) => {
    const { answer, error } = await mantelCall(key, input);
    if (error) throw Object.assign(new Error(error.message), { code: error.code });
    return answer;
  };
  return { definition: definition as ServiceDefinition, handler };
}
