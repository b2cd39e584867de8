import { html, type TemplateResult } from "lit";
import type { OpenPage, SettingsParts } from "./page.ts";
import { typed } from "./typed.ts";
import { words } from "./words.ts";

/** The home as one file: saved from here, and taken back. */
export function backupPage(parts: SettingsParts): OpenPage {
  return { view: () => html`${makingView(parts)} ${restoringView(parts)}` };
}

function makingView(parts: SettingsParts): TemplateResult {
  const say = words.value;
  return html`<form class="panel form" @submit=${(event: SubmitEvent) => make(event, parts)}>
    <h2>${say.makeBackup}</h2>
    <p class="hint">${say.backupHint}</p>
    ${passphraseField("make-passphrase")}
    <div class="actions">
      <button class="button primary" ?disabled=${parts.doing.busy.value}>${say.makeBackup}</button>
    </div>
  </form>`;
}

function restoringView(parts: SettingsParts): TemplateResult {
  const say = words.value;
  return html`<form
    class="panel form"
    id="restore"
    @submit=${(event: SubmitEvent) => event.preventDefault()}
  >
    <h2>${say.restore}</h2>
    <p class="hint">${say.restoreHint}</p>
    <div class="field">
      <label for="backup-file">${say.backupFile}</label>
      <input id="backup-file" name="file" type="file" required />
    </div>
    ${passphraseField("restore-passphrase")}
    <div class="actions">
      ${parts.doing.sureButton("restore", say.restoreOf, () => restore(parts))}
    </div>
  </form>`;
}

function passphraseField(id: string): TemplateResult {
  return html`<div class="field">
    <label for=${id}>${words.value.passphrase}</label>
    <input
      id=${id}
      name="passphrase"
      type="password"
      minlength="12"
      maxlength="1000"
      autocomplete="new-password"
    />
  </div>`;
}

function make(event: SubmitEvent, { api, doing }: SettingsParts): void {
  event.preventDefault();
  const passphrase = typed(event.currentTarget, "passphrase");
  void doing.save(async () => {
    const file = await api.download("/backup", passphrase === "" ? {} : { passphrase });
    const link = document.createElement("a");
    link.href = URL.createObjectURL(file);
    link.download = `mantel-${new Date().toISOString().slice(0, 10)}.backup`;
    link.click();
    URL.revokeObjectURL(link.href);
  }, words.value.backupMade);
}

function restore({ api, doing }: SettingsParts): void {
  const form = document.querySelector<HTMLFormElement>("#restore");
  const file = form?.querySelector<HTMLInputElement>("#backup-file")?.files?.[0];
  if (!form?.reportValidity() || !file) return;
  const passphrase = typed(form, "passphrase");
  void doing.save(async () => {
    const backup = await base64Of(file);
    await api.post("/restore", { backup, ...(passphrase === "" ? {} : { passphrase }) }, 60_000);
  }, words.value.restoreStaged);
}

async function base64Of(file: File): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}
