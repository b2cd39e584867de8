import type { Device } from "@mantel/plugin-sdk/device";
import { signal } from "@preact/signals-core";
import type { ModuleView } from "../../../host/api/module.ts";
import type { Api } from "../../../host/dashboard/api.ts";
import { ChannelSet } from "../../../host/dashboard/channels.ts";
import { Commands } from "../../../host/dashboard/commands.ts";
import type { OverlaySession } from "../../../host/dashboard/overlay-route.ts";
import { Store } from "../../../host/dashboard/store.ts";
import { WidgetContexts } from "../../../host/dashboard/widget-context.ts";

/** A visit for pages in place of the dashboard, with these devices, in UTC. `said` has what screen readers were told. */
export function overlaySession(
  api: Api,
  devices: readonly Device[] = [],
): OverlaySession & { readonly runs: { value: number }; readonly said: string[] } {
  const store = new Store();
  store.replaceDevices(devices);
  store.ui.value = { timeZone: "UTC" };
  const said: string[] = [];
  const contexts = new WidgetContexts({
    api,
    store,
    channels: new ChannelSet(api, () => ({ timeZone: "UTC", calendarDays: 14 })),
    commands: new Commands(api, store, () => undefined),
    theme: signal("dark"),
    online: signal(true),
    timeZone: signal("UTC"),
    announce: (text) => said.push(text),
    openDetails: () => undefined,
    commandRoom: async () => ({ ok: true }),
  });
  return {
    api,
    store,
    contexts,
    mayControl: true,
    mayEdit: true,
    mayAdminister: true,
    runs: signal(0),
    said,
  };
}

/** A module that serves these paths of the API, as far as pages look at it. */
export function moduleServing(...paths: readonly string[]): ModuleView {
  return { id: "server", name: "Server", permissions: { paths } } as unknown as ModuleView;
}
