import { Actions } from "@mantel/plugin-sdk/ui/actions";
import { CONTROL_TEXTS_DE } from "@mantel/plugin-sdk/ui/control-words";
import { deviceControls } from "@mantel/plugin-sdk/ui/controls";
import { DEVICE_TEXTS_DE } from "@mantel/plugin-sdk/ui/device-texts";
import { DEVICE_TILE_STYLES, withDetails } from "@mantel/plugin-sdk/ui/device-tile";
import { lookOf } from "@mantel/plugin-sdk/ui/look";
import { fullTileOf } from "@mantel/plugin-sdk/ui/player-card";
import { playersFor } from "@mantel/plugin-sdk/ui/player-group";
import { followReadings } from "@mantel/plugin-sdk/ui/readings";
import { type Device, defineWidget, s, type WidgetContext } from "@mantel/plugin-sdk/widget";
import { html, nothing, render, type TemplateResult } from "lit";
import { type Measurement, measurementOf, sensorCard } from "./widget/sensor-card.ts";
import styles from "./widget.css";
import cardStyles from "@mantel/plugin-sdk/ui/card.css";
import controlStyles from "@mantel/plugin-sdk/ui/controls.css";
import liveStyles from "@mantel/plugin-sdk/ui/live-picture.css";
import playerStyles from "@mantel/plugin-sdk/ui/player-card.css";

/**
 * Minimum height for the controls below the tile and, if the tile grows with its content, minimum
 * width. In CSS pixels.
 */
const CONTROLS = { height: 210, heightBelowCard: 300, width: 300 };

const settings = {
  device: s.device({ title: "Device" }),
  field: s.named("field", { title: "Sensor value to show" }),
  live: s.bool({ title: "Live picture of a camera" }),
};
type Context = WidgetContext<typeof settings, unknown>;

export default defineWidget({
  name: "Device",
  icon: "mdi:lightbulb-outline",
  size: { default: [3, 4], min: [2, 4], max: [12, 20] },
  texts: {
    de: {
      ...DEVICE_TEXTS_DE,
      ...CONTROL_TEXTS_DE,
      Device: "Gerät",
      "Live picture of a camera": "Live-Bild einer Kamera",
      "Sensor value to show": "Angezeigter Sensorwert",
      "Choose a device in the settings of this tile.":
        "Wähle ein Gerät in den Einstellungen dieser Kachel.",
      "Device {id} not found.": "Gerät {id} nicht gefunden.",
    },
  },
  settings,
  styles: DEVICE_TILE_STYLES + liveStyles + playerStyles + cardStyles + controlStyles + styles,
  mount(root, ctx) {
    const actions = new Actions(ctx);
    const measured = (): Measurement | undefined => {
      const device = deviceOf(ctx);
      return device?.kind === "sensor"
        ? measurementOf(device, ctx.settings.value.field)
        : undefined;
    };
    const readings = followReadings(ctx, () => {
      const sensor = measured();
      return sensor ? [{ deviceId: ctx.settings.value.device, field: sensor.field }] : [];
    });

    ctx.effect(() => {
      const device = deviceOf(ctx);
      if (!device) return void render(absent(ctx), root);
      const sensor = measured();
      const card =
        sensor &&
        sensorCard({ ctx, actions, device, sensor, readings: readings.value[0]?.values ?? [] });
      const flows = root.host.hasAttribute("flow");
      render(withControls(ctx, device, { actions, flows, card, field: sensor?.field }), root);
    });
  },
});

function deviceOf(ctx: Context): Device | undefined {
  return ctx.device(ctx.settings.value.device).value;
}

function absent({ t, settings: { value } }: Context): TemplateResult {
  const text =
    value.device === ""
      ? t("Choose a device in the settings of this tile.")
      : t("Device {id} not found.", { id: value.device });
  return html`<div class="card"><div class="empty">${text}</div></div>`;
}

interface Shown {
  readonly actions: Actions;
  readonly flows: boolean;
  /** The content that replaces the tile. */
  readonly card: TemplateResult | undefined;
  /** The field that `card` shows. */
  readonly field: string | undefined;
}

function withControls(
  ctx: Context,
  device: Device,
  { actions, flows, card, field }: Shown,
): TemplateResult {
  const { width, height } = ctx.size.value;
  const least = card ? CONTROLS.heightBelowCard : CONTROLS.height;
  const fits = flows ? width >= CONTROLS.width : height >= least;
  const players = playersFor(device, ctx);
  const shownAbove = field === undefined ? [] : [field];
  const rows = fits ? deviceControls(device, actions, shownAbove, players) : [];
  const { hue } = lookOf(device, actions);
  return html`<div class="device" .style=${`--hue: ${hue}`}>
    ${withDetails(device, actions, card ?? fullTileOf(device, actions, { players, live: ctx.settings.value.live }))}
    ${rows.length === 0 ? nothing : html`<div class="card rows controls-list">${rows}</div>`}
  </div>`;
}
