import { signal } from "@preact/signals-core";
import { html, nothing, type TemplateResult } from "lit";
import { now } from "../home-time.ts";
import { download } from "./files.ts";
import { formValue } from "./form-value.ts";
import type { OpenSettingsPage, SettingsDependencies } from "./page.ts";
import { restartButton } from "./restart-button.ts";
import { words } from "./words.ts";

/** Backup and restore of the home as one file. */
export function backupPage(parts: SettingsDependencies): OpenSettingsPage {
  const isPlanned = signal(false);
  return {
    view: () =>
      html`${makingView(parts)} ${restoringView(parts, () => (isPlanned.value = true))}
      ${isPlanned.value ? html`<div class="actions">${restartButton(parts)}</div>` : nothing}`,
  };
}

function makingView(parts: SettingsDependencies): TemplateResult {
  const texts = words.value;
  return html`<form class="panel form" @submit=${(event: SubmitEvent) => make(event, parts)}>
    <h2>${texts.createBackup}</h2>
    <p class="hint">${texts.backupHint}</p>
    ${passphraseField("make-passphrase")}
    <div class="actions">
      <button class="button primary" ?disabled=${parts.formAction.busy.value}>
        ${texts.createBackup}
      </button>
    </div>
  </form>`;
}

function restoringView(parts: SettingsDependencies, planned: () => void): TemplateResult {
  const texts = words.value;
  return html`<form
    class="panel form"
    id="restore"
    @submit=${(event: SubmitEvent) => event.preventDefault()}
  >
    <h2>${texts.restore}</h2>
    <p class="hint">${texts.restoreHint}</p>
    <div class="field">
      <label for="backup-file">${texts.backupFile}</label>
      <input id="backup-file" name="file" type="file" required />
    </div>
    ${passphraseField("restore-passphrase")}
    <div class="field line">
      <label for="restore-credentials">${texts.restoreCredentials}</label>
      <input
        id="restore-credentials"
        name="credentials"
        type="checkbox"
        role="switch"
        value="yes"
      />
    </div>
    <div class="actions">
      ${parts.formAction.confirmButton("restore", texts.checkAndRestore, () => restore(parts, planned))}
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

function make(event: SubmitEvent, { api, formAction }: SettingsDependencies): void {
  event.preventDefault();
  const passphrase = formValue(event.currentTarget, "passphrase");
  void formAction.save(async () => {
    const file = await download(api, "/backup", passphrase === "" ? {} : { passphrase });
    const link = document.createElement("a");
    link.href = URL.createObjectURL(file);
    link.download = `mantel-${new Date(now()).toISOString().slice(0, 10)}.backup`;
    link.click();
    URL.revokeObjectURL(link.href);
  }, words.value.backupCreated);
}

function restore({ api, formAction }: SettingsDependencies, planned: () => void): void {
  const form = document.querySelector<HTMLFormElement>("#restore");
  const file = form?.querySelector<HTMLInputElement>("#backup-file")?.files?.[0];
  if (!form?.reportValidity() || !file) return;
  const passphrase = formValue(form, "passphrase");
  const credentials = formValue(form, "credentials") !== "";
  const texts = words.value;
  void formAction.save(
    async () => {
      const request = { backup: await base64Of(file), credentials };
      const opened = passphrase === "" ? request : { ...request, passphrase };
      await api.post("/restore", opened, 60_000);
      planned();
    },
    credentials
      ? texts.restoredAtRestart
      : `${texts.restoredAtRestart} ${texts.credentialsNotRestored}`,
  );
}

async function base64Of(file: File): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}
