import { Actions } from "@mantel/plugin-sdk/ui/actions";
import { DEVICE_TEXTS_DE } from "@mantel/plugin-sdk/ui/device-texts";
import { DEVICE_TILE_STYLES, deviceTiles } from "@mantel/plugin-sdk/ui/device-tile";
import { type Device, defineWidget, s, type WidgetContext } from "@mantel/plugin-sdk/widget";
import { computed } from "@preact/signals-core";
import { html, nothing, render, type TemplateResult } from "lit";
import { repeat } from "lit/directives/repeat.js";
import styles from "./widget.css";
import headingStyles from "@mantel/plugin-sdk/ui/heading.css";

const settings = {
  room: s.room({ title: "Room" }),
  group: s.named("group", { title: "Group" }),
  title: s.text({ title: "Title" }),
  bare: s.bool({ title: "Without a heading" }),
  kinds: s.list(s.named("kind", { title: "Kind to show" }), { max: 20 }),
  without: s.list(s.named("kind", { title: "Kind to hide" }), { max: 20 }),
};
type Context = WidgetContext<typeof settings, unknown>;

/** Maximum number of tiles that a wall shows. Larger rooms can be split by kind. */
const MOST_TILES = 60;

export default defineWidget({
  name: "Room",
  icon: "mdi:sofa-outline",
  size: { default: [8, 5], min: [2, 4] },
  texts: {
    de: {
      ...DEVICE_TEXTS_DE,
      Room: "Raum",
      Group: "Gruppe",
      Title: "Titel",
      Devices: "Geräte",
      "{count} on": "{count} an",
      "All off": "Alle aus",
      "No devices here yet.": "Hier sind noch keine Geräte.",
      "and {count} more": "und {count} weitere",
    },
  },
  settings,
  styles: DEVICE_TILE_STYLES + headingStyles + styles,
  mount(root, ctx) {
    const query = computed(() => queryOf(ctx.settings.value));
    const devices = computed(() => ctx.devices(query.value));
    const tile = deviceTiles(new Actions(ctx));

    ctx.effect(() => {
      const { room, group, title, bare, kinds, without } = ctx.settings.value;
      const here = devices.value.value;
      const isShown = (kind: string): boolean =>
        !without.includes(kind) && (kinds.length === 0 || kinds.includes(kind));
      const shown = here
        .filter(({ kind }) => isShown(kind))
        .filter((device) => kinds.length > 0 || isForTiles(device));
      const heading = bare ? "" : title || group || room;
      const hasLights = heading !== "" && isShown("light");
      const lights = here.filter(
        ({ kind, available }) => hasLights && kind === "light" && available,
      );
      render(
        html`<section
          class=${heading === "" ? "bare" : ""}
          aria-label=${heading || ctx.t("Devices")}
          data-details-room=${lights.length === 0 || group !== "" ? nothing : room}
          data-details-group=${lights.length === 0 || group === "" ? nothing : group}
        >
          ${heading === "" ? nothing : headingOf(ctx, heading, { devices: here, lights })}
          <div class="tiles">${repeat(shown.slice(0, MOST_TILES), ({ id }) => id, tile)}</div>
          ${remark(ctx, shown.length)}
        </section>`,
        root,
      );
    });
  },
});

/** The devices to show: those of a group, of a room, or of the home. */
function queryOf({ room, group }: { room: string; group: string }): {
  room?: string;
  group?: string;
} {
  if (group !== "") return { group };
  return room === "" ? {} : { room };
}

/** The heading opens the lights of the room or group, or of the home without one; a button turns them off. */
function headingOf(
  ctx: Context,
  heading: string,
  { devices, lights }: { readonly devices: readonly Device[]; readonly lights: readonly Device[] },
): TemplateResult {
  const { t } = ctx;
  const { room, group } = ctx.settings.value;
  const lit = lights.filter(({ state, pending }) => (pending.on ?? state.on) === true).length;
  const off = (): void =>
    void ctx.commandRoom(group === "" ? room : { group }, "light", { on: false });
  const name = html`<strong>${heading}</strong>`;
  const opener = html`<button data-opens>
    ${name}${lit === 0 ? nothing : html`<small>${t("{count} on", { count: lit })}</small>`}
  </button>`;
  return html`<h2>
    ${lights.length === 0 ? name : opener}
    ${lit === 0 ? nothing : html`<button class="all" @click=${off}>${t("All off")}</button>`}
    <span>${room === "" || group !== "" ? nothing : climate(ctx, devices)}</span>
  </h2>`;
}

/** The climate of the room for its heading, from the first sensor with each value. */
function climate({ fmt }: Context, devices: readonly Device[]): string {
  const temperature = firstNumber(devices, "temperature");
  const humidity = firstNumber(devices, "humidity");
  return [
    temperature === undefined ? [] : fmt.unit(temperature, "temperature"),
    humidity === undefined ? [] : fmt.unit(humidity, "percent"),
  ]
    .flat()
    .join(" · ");
}

function remark({ t }: Context, count: number): unknown {
  if (count === 0) return html`<p>${t("No devices here yet.")}</p>`;
  if (count <= MOST_TILES) return nothing;
  return html`<p>${t("and {count} more", { count: count - MOST_TILES })}</p>`;
}

/** Climate sensors are shown in the heading. Remote controls and current software have nothing to do here. */
function isForTiles({ kind, capabilities, state }: Device): boolean {
  if (kind === "button") return "press" in capabilities;
  if (kind === "update") {
    return (state.updateAvailable ?? state.installedVersion !== state.latestVersion) === true;
  }
  return !(kind === "sensor" && ("temperature" in capabilities || "humidity" in capabilities));
}

function firstNumber(devices: readonly Device[], field: string): number | undefined {
  const sensors = devices.filter(({ kind, available }) => kind === "sensor" && available);
  const values = [...sensors, ...devices].map(({ state }) => state[field]);
  return values.find((value) => typeof value === "number");
}
