import type { Device } from "@mantel/plugin-sdk/device";
import { Actions } from "@mantel/plugin-sdk/ui/actions";
import { CONTROL_TEXTS_DE } from "@mantel/plugin-sdk/ui/control-words";
import { DEVICE_TEXTS_DE } from "@mantel/plugin-sdk/ui/device-texts";
import { DEVICE_TILE_STYLES } from "@mantel/plugin-sdk/ui/device-tile";
import { effect, signal } from "@preact/signals-core";
import { html, render, type TemplateResult } from "lit";
import { pluginText } from "../i18n/language.ts";
import { isServed } from "../served-paths.ts";
import type { Session } from "../session.ts";
import type { Box, DetailsTarget } from "../widget-context.ts";
import { ChartGestures } from "./chart-gestures.ts";
import { deviceView } from "./device-view.ts";
import { History, measuredFields } from "./history.ts";
import { roomView } from "./room-view.ts";
import { openSheet } from "./sheet.ts";
import type { LastChanges } from "./who.ts";
import { words } from "./words.ts";
import styles from "./details.css";
import baseStyles from "@mantel/plugin-sdk/ui/base.css";
import controlStyles from "@mantel/plugin-sdk/ui/controls.css";
import liveStyles from "@mantel/plugin-sdk/ui/live-picture.css";
import playerStyles from "@mantel/plugin-sdk/ui/player-card.css";

const css = [baseStyles, DEVICE_TILE_STYLES, liveStyles, playerStyles, controlStyles, styles].map(
  (text) => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(text);
    return sheet;
  },
);
const TEXTS = { de: { ...DEVICE_TEXTS_DE, ...CONTROL_TEXTS_DE } };

/** Opens the sheet of a device, or of the lights of a room. It grows from `box`. */
export function openDetails(session: Session, target: DetailsTarget, box: Box): void {
  const device = "device" in target ? session.store.device(target.device) : undefined;
  const label = nameOf(session, target) || words.peek().home;
  const sheet = openSheet({ label, box, css });
  const { contexts } = session;
  const actions = actionsOf(session);
  const notice = signal("");
  const history = new History({
    deviceId: "device" in target ? target.device : "",
    read: (path, signalOfRead) =>
      contexts.read(path, AbortSignal.any([signalOfRead, sheet.closed])),
    closed: sheet.closed,
    hasLonger: isServed(session.store, "/history"),
  });
  const chart = {
    history,
    gestures: new ChartGestures(history),
    devices: session.store.devices().peek(),
  };
  const shown = device?.peek();
  const changes = signal<LastChanges | undefined>(undefined);
  if (shown && isSettable(shown) && isServed(session.store, "/logbook")) {
    void import("./who.ts").then(async ({ LastChanges: Changes }) => {
      const last = new Changes(session.store, actions);
      await last.read(session.api, shown.id);
      changes.value = last;
    });
  }
  const [field] = shown ? measuredFields(shown) : [];
  if (field) void history.show(field.key);
  const tell = (sentence: string): void => {
    notice.value = sentence;
    contexts.shared.announce(sentence);
  };
  const stop = effect(() => {
    if (session.theme.theme.value === "night") return sheet.close();
    const close = closeButton(() => sheet.close());
    const view = device
      ? deviceView(device.value, {
          session,
          actions,
          chart,
          close,
          tell,
          changes: changes.value,
        })
      : roomView("device" in target ? { room: "" } : target, { session, actions, close });
    render(
      html`${view}
        <p class="notice">${notice.value}</p>`,
      sheet.root,
    );
  });
  sheet.closed.addEventListener("abort", stop);
}

/** True if somebody can switch or set the device. */
function isSettable({ capabilities, parts = [] }: Device): boolean {
  return [capabilities, ...parts.map((part) => part.capabilities)].some((each) =>
    Object.values(each).some(({ readOnly }) => readOnly !== true),
  );
}

function nameOf({ store }: Session, target: DetailsTarget): string {
  if ("group" in target) return target.group;
  return "room" in target ? target.room : (store.device(target.device).peek()?.name ?? "");
}

function closeButton(close: () => void): TemplateResult {
  return html`<button class="round close" aria-label=${words.value.close} @click=${close}>
    <mantel-icon name="mdi:close"></mantel-icon>
  </button>`;
}

/** The actions of a sheet. */
function actionsOf({ contexts }: Session): Actions {
  const { shared, formats } = contexts;
  const { command, announce, online, picture, now } = shared;
  return new Actions({
    command,
    announce,
    online,
    picture,
    now,
    visible: signal(true),
    get fmt() {
      return formats.value;
    },
    t: (text, values) => pluginText("", text, { texts: TEXTS, values }),
  });
}
