import { chip } from "@mantel/plugin-sdk/ui/chip";
import { defineWidget, s } from "@mantel/plugin-sdk/widget";
import { html, render } from "lit";
import { chipsOf } from "./widget/chips.ts";
import styles from "./widget.css";
import chipStyles from "@mantel/plugin-sdk/ui/chip.css";

export default defineWidget({
  name: "Status",
  icon: "mdi:shield-check-outline",
  size: { default: [4, 2], min: [2, 2], max: [12, 8] },
  texts: {
    de: {
      Status: "Status",
      "Open windows and doors": "Offene Fenster und Türen",
      "Alarms, smoke, gas and water": "Alarm, Rauch, Gas und Wasser",
      Locks: "Schlösser",
      "Devices that do not answer": "Geräte ohne Antwort",
      "Low batteries": "Schwache Batterien",
      "Low battery level in percent": "Batterie schwach unter … Prozent",
      "Only devices of this room": "Nur Geräte dieses Raums",
      "{name}: alarm": "{name}: Alarm",
      "{name}: call for help": "{name}: Hilferuf",
      "{name}: smoke": "{name}: Rauch",
      "{name}: gas": "{name}: Gas",
      "{name}: carbon monoxide": "{name}: Kohlenmonoxid",
      "{name}: water": "{name}: Wasser",
      "{name} is jammed": "{name} klemmt",
      "{name} open": "{name} offen",
      "{name} unlocked": "{name} entriegelt",
      "{name}: battery {percent}": "{name}: Batterie {percent}",
      "{name}: battery low": "{name}: Batterie schwach",
      "{name} does not answer": "{name} antwortet nicht",
      "{count} devices do not answer": "{count} Geräte antworten nicht",
      Locked: "Verriegelt",
      "All is well": "Alles in Ordnung",
      "No devices yet": "Noch keine Geräte",
    },
  },
  settings: {
    dangers: s.bool({ title: "Alarms, smoke, gas and water", default: true }),
    openings: s.bool({ title: "Open windows and doors", default: true }),
    locks: s.bool({ title: "Locks", default: true }),
    unreachable: s.bool({ title: "Devices that do not answer", default: true }),
    batteries: s.bool({ title: "Low batteries", default: true }),
    batteryBelow: s.number({
      title: "Low battery level in percent",
      min: 1,
      max: 100,
      step: 1,
      default: 20,
    }),
    room: s.room({ title: "Only devices of this room" }),
  },
  styles: chipStyles + styles,
  mount(root, ctx) {
    const devices = ctx.devices();
    ctx.effect(() => {
      const settings = ctx.settings.value;
      const { room } = settings;
      const here = devices.value.filter((device) => room === "" || device.room === room);
      const chips = chipsOf(here, { ...settings, i18n: ctx });
      render(
        html`<ul class=${ctx.online.value ? "" : "stale"} aria-label=${ctx.t("Status")}>
          ${chips.map((each) => html`<li>${chip(each)}</li>`)}
        </ul>`,
        root,
      );
    });
  },
});
