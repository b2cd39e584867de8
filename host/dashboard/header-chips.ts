import type { Device } from "@mantel/plugin-sdk/device";
import { chip } from "@mantel/plugin-sdk/ui/chip";
import { html, nothing } from "lit";
import { headerAlerts } from "./header-alerts.ts";
import { words } from "./i18n/later.ts";

/** Draws the alerts of the header, and the number of lights that are on. */
export function headerChips(devices: readonly Device[]): unknown {
  const lit = devices.filter(isLit).length;
  const lights = html`<button
    class="chip"
    aria-live="off"
    aria-label=${words.value.lightsOn(lit)}
    data-details-room=""
    data-opens
  >
    <mantel-icon name="mdi:lightbulb-group-outline"></mantel-icon>${lit}
  </button>`;
  return html`${headerAlerts(devices).map(chip)}${lit > 0 ? lights : nothing}`;
}

const isLit = ({ kind, available, state, pending }: Device): boolean =>
  kind === "light" && available && (pending.on ?? state.on) === true;
