import { type Device, defineWidget, s } from "@mantel/plugin-sdk/widget";
import { html, nothing, render } from "lit";
import { repeat } from "lit/directives/repeat.js";
import { Actions } from "./widget/actions.ts";
import { climateTile } from "./widget/climate-tile.ts";
import { deviceTile } from "./widget/device-tile.ts";
import { mediaTile } from "./widget/media-tile.ts";
import styles from "./widget.css";

export default defineWidget({
  name: "Room",
  icon: "mdi:sofa-outline",
  size: { default: [8, 5], min: [2, 3] },
  settings: {
    room: s.room({ title: "Room" }),
    title: s.text({ title: "Title" }),
    kinds: s.list(s.text({ title: "Only this kind" }), { max: 20 }),
    without: s.list(s.text({ title: "Not this kind" }), { max: 20 }),
  },
  styles,
  mount(root, ctx) {
    const all = ctx.devices();
    const actions = new Actions(ctx);

    ctx.effect(() => {
      const { room, title, kinds, without } = ctx.settings.value;
      const here = all.value.filter((device) => room === "" || device.room === room);
      const shown = here
        .filter(({ kind }) => !without.includes(kind))
        .filter((device) => (kinds.length > 0 ? kinds.includes(device.kind) : isForTiles(device)));
      const heading = title || room;
      render(
        html`<section class=${heading === "" ? "bare" : ""} aria-label=${heading || "Devices"}>
          ${heading === "" ? nothing : html`<h2><strong>${heading}</strong><span>${room === "" ? nothing : climate(here)}</span></h2>`}
          <div class="tiles">
            ${repeat(
              shown,
              ({ id }) => id,
              (device) => tileOf(device, actions),
            )}
          </div>
        </section>`,
        root,
      );
    });

    /** The room's air, in its heading: the first sensor that says it. */
    function climate(devices: readonly Device[]): string {
      const temperature = firstNumber(devices, "temperature");
      const humidity = firstNumber(devices, "humidity");
      return [
        temperature === undefined ? [] : ctx.fmt.unit(temperature, "temperature"),
        humidity === undefined ? [] : ctx.fmt.unit(humidity, "percent"),
      ]
        .flat()
        .join(" · ");
    }
  },
});

function tileOf(device: Device, actions: Actions): unknown {
  if (device.kind === "thermostat") return climateTile(device, actions);
  if (device.kind === "media-player") return mediaTile(device, actions);
  return deviceTile(device, actions);
}

/** What only measures the air is in the heading, and a button has nothing to show. */
function isForTiles({ kind, capabilities }: Device): boolean {
  return (
    kind !== "button" &&
    !(kind === "sensor" && ("temperature" in capabilities || "humidity" in capabilities))
  );
}

function firstNumber(devices: readonly Device[], field: string): number | undefined {
  const sensors = devices.filter(({ kind, available }) => kind === "sensor" && available);
  const values = [...sensors, ...devices].map(({ state }) => state[field]);
  return values.find((value) => typeof value === "number");
}
