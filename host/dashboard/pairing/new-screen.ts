import { effect } from "@preact/signals-core";
import { html, nothing, render, type TemplateResult } from "lit";
import type { Api } from "../api.ts";
import { words } from "../i18n/pairing.ts";
import { deleteSavedHome } from "../offline/saved-home.ts";
import type { Refusal } from "../signed-in.ts";
import { titles } from "../title.ts";
import { startWith } from "./pasted-token.ts";
import { qrOf } from "./qr.ts";
import { refusalText } from "./refusal-text.ts";
import { addStyles } from "./styles.ts";
import { type PairingState, waitForApproval } from "./wait.ts";

interface Options {
  readonly api: Api;
  /** The reason why the session ended, or why signing in with a link failed. */
  readonly refusal: Refusal | undefined;
}

/**
 * The page of a screen without a valid token: a code to approve, or a field for the printed link.
 */
export function mountNewScreen(root: HTMLElement, { api, refusal }: Options): void {
  const onToken = (pasted: string): void => void startWith(api, pasted);
  addStyles();
  void deleteSavedHome();
  const { state, again } = waitForApproval(api, onToken);
  effect(() => {
    const texts = words.value;
    titles.page.value = texts.pairThisScreen;
    render(
      html`<main class="welcome">
        <header>
          <h1>Mantel</h1>
          ${refusal ? html`<p role="alert">${refusalText(refusal)}</p>` : nothing}
        </header>
        <section class="pair" aria-label=${texts.pairThisScreen}>
          ${pairingView(state.value, again)}
        </section>
        <form @submit=${(event: SubmitEvent) => submit(event, onToken)}>
          <p>${texts.orOpenStartupLink}</p>
          ${fields()}
        </form>
      </main>`,
      root,
    );
  });
}

function pairingView(state: PairingState, again: () => void): TemplateResult {
  const texts = words.value;
  switch (state.step) {
    case "asking":
      return html`<p role="status">${texts.requestingCode}</p>`;
    case "away":
      return html`<p role="status">${texts.hostUnreachable}</p>`;
    case "denied":
      return html`<p role="alert">${texts.screenDenied}</p>
        <button class="action" @click=${again}>${texts.showNewCode}</button>`;
    case "shown":
      return codeView(state);
  }
}

function codeView({ code, link }: { code: string; link: string | undefined }): TemplateResult {
  const texts = words.value;
  const { origin } = new URL(link ?? location.href);
  return html`<div role="status">
      <h2>${texts.pairThisScreen}</h2>
      <p class="code" aria-label=${texts.spelledCode(code)}>${code}</p>
      <p>
        ${link === undefined ? texts.approveHere : texts.howToApprove}
        <span class="address">${origin}/#pair</span>
      </p>
      ${link === undefined ? html`<p>${texts.onlyThisMachine}</p>` : nothing}
    </div>
    ${link === undefined ? nothing : qrOf(link, texts.qrCode)}`;
}

function submit(event: SubmitEvent, onToken: (pasted: string) => void): void {
  event.preventDefault();
  const pasted = new FormData(event.currentTarget as HTMLFormElement).get("token");
  if (typeof pasted === "string" && pasted.trim() !== "") onToken(pasted);
}

function fields(): TemplateResult {
  const texts = words.value;
  return html`<label>
      ${texts.linkOrToken}
      <input name="token" type="password" autocomplete="off" spellcheck="false" required />
    </label>
    <button class="action">${texts.openDashboard}</button>`;
}
