import { html, nothing, render, type TemplateResult } from "lit";
import { words } from "./words/pairing.ts";

/** The screen without a valid token: takes the printed link, or the token alone. */
export function mountWelcome(
  root: HTMLElement,
  refused: boolean,
  onToken: (pasted: string) => void,
): void {
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const pasted = new FormData(event.currentTarget as HTMLFormElement).get("token");
    if (typeof pasted === "string" && pasted.trim() !== "") onToken(pasted);
  };
  const refusal = html`<p role="alert">${words.value.refused}</p>`;
  render(
    html`<main class="welcome">
      <h1>Mantel</h1>
      ${refused ? refusal : nothing}
      <p>
        ${words.value.openLink}
        <code>npm run token -- --scope control</code> ${words.value.newToken}
      </p>
      <form @submit=${submit}>${fields()}</form>
    </main>`,
    root,
  );
}

function fields(): TemplateResult {
  return html`<label>
      ${words.value.linkOrToken}
      <input
        name="token"
        type="password"
        autocomplete="off"
        spellcheck="false"
        autofocus
        required
      />
    </label>
    <button>${words.value.openDashboard}</button>`;
}
