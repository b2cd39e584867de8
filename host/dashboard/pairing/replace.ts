import { effect, signal } from "@preact/signals-core";
import { html, nothing, render } from "lit";
import { type Api, ApiError, type SignedIn } from "../api.ts";
import { words } from "../i18n/pairing.ts";
import { signIn } from "../sign-in.ts";
import { titles } from "../title.ts";
import { faultText } from "./refusal-text.ts";
import { addStyles } from "./styles.ts";

interface Options {
  readonly api: Api;
  /** The signed-in identity. */
  readonly who: SignedIn;
  /** The token of the link, which the host has validated. */
  readonly link: string;
}

/** The page that asks before a link replaces the signed-in identity. */
export function mountReplacement(root: HTMLElement, { api, who, link }: Options): void {
  addStyles();
  const next = claimsOf(link);
  const fault = signal<ApiError | undefined>(undefined);
  const replace = (): void => {
    signIn(api, link, { replace: true }).then(
      () => location.reload(),
      (error: unknown) => {
        if (!(error instanceof ApiError)) throw error;
        fault.value = error;
      },
    );
  };
  effect(() => {
    const texts = words.value;
    titles.page.value = texts.signInInstead;
    render(
      html`<main class="welcome">
        <header>
          <h1>${texts.signInInstead}</h1>
          ${fault.value ? html`<p role="alert">${faultText(fault.value)}</p>` : nothing}
        </header>
        <p>${texts.signedInAs(who.name, who.scope.join(", "))}</p>
        <p>${texts.linkBelongsTo(next.name, next.scope.join(", "))}</p>
        <form @submit=${(event: SubmitEvent) => event.preventDefault()}>
          <button class="action" type="button" @click=${() => location.reload()}>
            ${texts.staySignedInAs(who.name)}
          </button>
          <button class="action quiet" type="button" @click=${replace}>
            ${texts.signInAs(next.name)}
          </button>
        </form>
      </main>`,
      root,
    );
  });
}

/** The claims of a token. The host has verified it, and verifies it again. */
function claimsOf(token: string): Pick<SignedIn, "name" | "scope"> {
  const [, claims = ""] = token.split(".");
  const base64 = claims.replaceAll("-", "+").replaceAll("_", "/");
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const { sub, scope } = JSON.parse(new TextDecoder().decode(bytes)) as {
    sub: string;
    scope: readonly string[];
  };
  return { name: sub, scope };
}
