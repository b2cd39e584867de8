import { effect } from "@preact/signals-core";
import { html, render } from "lit";
import type { ApiError, SignedIn } from "../api.ts";
import { words } from "../i18n/pairing.ts";
import { faultText } from "./refusal-text.ts";

/** Time for which an idle display shows the notice. */
const SHOWN_MS = 30_000;

/** Shows a notice over the dashboard: the link was not valid, and the session is unchanged. */
export function showLinkNotice(root: HTMLElement, { name }: SignedIn, fault: ApiError): void {
  const notice = document.createElement("div");
  root.after(notice);
  const end = effect(() => {
    const texts = words.value;
    render(
      html`<div class="banner" role="alert">
        <span>${faultText(fault)} ${texts.stillSignedIn(name)}</span>
        <button class="action" @click=${() => close()}>${texts.close}</button>
      </div>`,
      notice,
    );
  });
  const close = (): void => {
    end();
    notice.remove();
  };
  setTimeout(close, SHOWN_MS);
}
