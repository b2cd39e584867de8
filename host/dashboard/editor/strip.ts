import { html, nothing } from "lit";
import type { Editing, Message } from "./editing.ts";
import { words } from "./words.ts";

/** The line under the bar: what somebody else has saved, what went wrong, what is done. */
export function stripOf({ message, draft, panel }: Editing): unknown {
  if (draft.theirs.value && panel.value?.kind !== "merge") {
    return html`<div class="strip warn">
      <mantel-icon name="mdi:account-sync-outline"></mantel-icon>
      <span>${words.value.changedElsewhere}</span>
      <button type="button" @click=${() => (panel.value = { kind: "merge" })}>
        ${words.value.look}
      </button>
    </div>`;
  }
  return message.value ? messageView(message.value) : nothing;
}

function messageView({ tone, text, faults = [] }: Message): unknown {
  const icon = tone === "alert" ? "mdi:alert-circle-outline" : "mdi:check-circle-outline";
  return html`<div class="strip ${tone}" role=${tone === "alert" ? "alert" : nothing}>
    <mantel-icon name=${icon}></mantel-icon>
    <span>${text}</span>
    ${
      faults.length === 0
        ? nothing
        : html`<ul>
            ${faults.map(({ pointer, detail }) => html`<li><code>${pointer}</code> ${detail}</li>`)}
          </ul>`
    }
  </div>`;
}
