import { html, nothing, render } from "lit";

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
  render(
    html`<main class="welcome">
      <h1>Mantel</h1>
      ${refused
        ? html`<p role="alert">This token is not valid any more. It may have ended or been revoked.</p>`
        : nothing}
      <p>
        Open the link that Mantel printed when it started, or paste it here.
        <code>npm run token -- --scope control</code> makes a new token.
      </p>
      <form @submit=${submit}>
        <label>
          Link or token
          <input name="token" type="password" autocomplete="off" spellcheck="false" autofocus required />
        </label>
        <button>Open the dashboard</button>
      </form>
    </main>`,
    root,
  );
}
