import { computed, signal } from "@preact/signals-core";
import { Api } from "./api.ts";
import "./icon.ts";
import { Session } from "./session.ts";
import { mountShell } from "./shell.ts";
import { showRememberedTheme } from "./theme.ts";
import {
  forgetToken,
  keepToken,
  mayEdit,
  storedToken,
  takeRefusal,
  takeTokenFromAddress,
} from "./token.ts";
import { mountWelcome } from "./welcome.ts";
import { WidgetLoader } from "./widget-loader.ts";
import { speakRemembered } from "./words/page.ts";

// The script stands in the head: theme and language are set and the token gone before anything is drawn.
showRememberedTheme();
speakRemembered();
takeTokenFromAddress();
addEventListener("hashchange", () => {
  if (takeTokenFromAddress()) location.reload();
});
document.addEventListener("DOMContentLoaded", () => {
  const root = document.querySelector<HTMLElement>("#mantel");
  const token = storedToken();
  if (!root) return;
  if (token === undefined) mountWelcome(root, takeRefusal(), startWith);
  else void start(root, token);
});

async function start(root: HTMLElement, token: string): Promise<void> {
  const api = new Api(token, () => {
    forgetToken();
    location.reload();
  });
  await api.discover();
  const session = new Session(api, { mayEdit: mayEdit(token), announce: announcer() });
  const { store, surroundings, theme } = session;
  const seen = signal(!document.hidden);
  document.addEventListener("visibilitychange", () => (seen.value = !document.hidden));
  mountShell(root, session, {
    store,
    surroundings,
    awake: computed(() => seen.value && theme.theme.value !== "night"),
    loader: new WidgetLoader(),
    reloadModule: (id) => session.reloadModule(id),
  });
}

/** Nothing of a visit stays when the token changes, so the page starts anew. */
function startWith(pasted: string): void {
  keepToken(pasted);
  location.reload();
}

function announcer(): (text: string) => void {
  const voice = document.createElement("div");
  voice.className = "unseen";
  voice.setAttribute("aria-live", "polite");
  document.body.append(voice);
  return (text) => (voice.textContent = text);
}
