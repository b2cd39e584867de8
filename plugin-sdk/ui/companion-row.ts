import { html, type TemplateResult } from "lit";
import type { Device } from "../device.ts";
import type { Actions } from "./actions.ts";
import { companionsOf } from "./player-group.ts";

/** A button for each player that can play the same music, by its name and not by that of the bridge. */
export function companionRow(
  device: Device,
  actions: Actions,
  players: readonly Device[],
): TemplateResult[] {
  const companions = companionsOf(device, players);
  if (companions.length === 0) return [];
  const name = actions.t("Also plays in");
  return [
    html`<div class="control" role="group" aria-label=${name}>
      <span class="what">${name}</span>
      <div class="choices">
        ${companions.map(
          ({ player, isIn, target, command }) =>
            html`<button aria-pressed=${isIn} @click=${() => void actions.send(target, command)}>
              ${[player.name, actions.wordOf(player)].filter(Boolean).join(": ")}
            </button>`,
        )}
      </div>
    </div>`,
  ];
}
