import { html, nothing, render, type TemplateResult } from "lit";

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
  const refusal = html`<p role="alert">
    This token is not valid any more. It may have ended or been revoked.
  </p>`;
  render(
    html`<main class="welcome">
      <h1>Mantel</h1>
      ${refused ? refusal : nothing}
      <p>
        Open the link that Mantel printed when it started, or paste it here.
        <code>npm run token -- --scope control</code> makes a new token.
      </p>
      <form @submit=${submit}>${fields()}</form>
    </main>`,
    root,
  );
}

function fields(): TemplateResult {
  return html`<label>
      Link or token
      <input
        name="token"
        type="password"
        autocomplete="off"
        spellcheck="false"
        autofocus
        required
      />
    </label>
    <button>Open the dashboard</button>`;
}
