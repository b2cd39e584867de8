import { signal } from "@preact/signals-core";
import { html, nothing, type TemplateResult } from "lit";
import { words as pairingWords } from "../i18n/pairing.ts";
import { qrOf } from "../pairing/qr.ts";
import { words } from "./words.ts";

/** A new secret as it is shown, once. */
export interface NewSecret {
  readonly id: string;
  readonly text: string;
  /** Content of the QR code; absent for none. */
  readonly link?: string | undefined;
  /** The purpose of the QR code. */
  readonly linkHint?: string | undefined;
  /** A command that uses the secret. */
  readonly example?: string | undefined;
  /** The reason why other devices cannot use it. */
  readonly warning?: string | undefined;
}

const copied = signal<string | undefined>(undefined);

/** A new secret with a button that copies it, a QR code for a phone and an example. */
export function newSecretView(secret: NewSecret): TemplateResult {
  const { id, text, link, linkHint, example, warning } = secret;
  const texts = words.value;
  return html`<div class="field new-secret">
    <label for=${id}>${texts.shownOnce}</label>
    <textarea id=${id} readonly rows="3" dir="ltr" .value=${text}></textarea>
    <div class="actions">
      <button type="button" class="button" @click=${() => void copy(id, text)}>
        ${copied.value === text ? texts.copied : texts.copy}
      </button>
    </div>
    ${warning === undefined ? nothing : html`<p class="hint">${warning}</p>`}
    ${
      link === undefined
        ? nothing
        : html`<p class="hint">${linkHint}</p>
            ${qrOf(link, linkHint ?? pairingWords.value.qrCode)}`
    }
    ${
      example === undefined
        ? nothing
        : html`<p class="hint">${texts.exampleHint}</p>
            <pre dir="ltr" tabindex="0">${example}</pre>`
    }
  </div>`;
}

/** Pages without HTTPS have no clipboard: there the browser copies what is selected. */
async function copy(id: string, text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.getElementById(id);
    if (!(area instanceof HTMLTextAreaElement)) return;
    area.select();
    if (!document.execCommand("copy")) return; // the text stays selected for the keyboard
  }
  copied.value = text;
}
