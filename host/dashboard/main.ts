import { computed, signal } from "@preact/signals-core";
import { Api } from "./api.ts";
import "./icon.ts";
import { keepRenewed } from "./renewal.ts";
import { Session } from "./session.ts";
import { followSettings } from "./settings-way.ts";
import { mountShell } from "./shell.ts";
import {
  claimsOf,
  forgetToken,
  keepToken,
  scopesOf,
  storedToken,
  takeRefusal,
  takeTokenFromAddress,
  type TokenClaims,
} from "./token.ts";
import { WidgetLoader } from "./widget-loader.ts";
import { speakRemembered } from "./words/page.ts";

speakRemembered();
addEventListener("hashchange", () => {
  if (takeTokenFromAddress() || pairingInAddress() !== undefined) location.reload();
});
document.addEventListener("DOMContentLoaded", () => {
  const root = document.querySelector<HTMLElement>("#mantel");
  if (root) void open(root);
});

async function open(root: HTMLElement): Promise<void> {
  const token = storedToken();
  const api = new Api(storedToken, (reason) => {
    forgetToken(reason);
    location.reload();
  });
  await api.discover();
  if (token === undefined) return showNewScreen(root, api);
  const claims = claimsOf(token);
  const code = pairingInAddress();
  if (code !== undefined) return showApproval(root, api, { code, scopes: scopesOf(claims) });
  start(root, api, claims);
}

/** The code in an address such as `/#pair=BDFG-HJKL`, empty when it is to be typed. */
function pairingInAddress(): string | undefined {
  return /^#pair(?:=(.*))?$/.exec(location.hash)?.slice(1).join("");
}

async function showNewScreen(root: HTMLElement, api: Api): Promise<void> {
  const { mountNewScreen } = await import("./pairing/new-screen.ts");
  mountNewScreen(root, { api, refusal: takeRefusal(), onToken: startWith });
}

async function showApproval(
  root: HTMLElement,
  api: Api,
  options: { readonly code: string; readonly scopes: readonly string[] },
): Promise<void> {
  const { mountApproval } = await import("./pairing/approval.ts");
  mountApproval(root, { api, ...options });
}

function start(root: HTMLElement, api: Api, claims: TokenClaims): void {
  if (claims.display) keepRenewed(api);
  const mayEdit = scopesOf(claims).includes("edit");
  const session = new Session(api, {
    ...{ mayEdit, name: claims.name, isPaired: claims.display },
    announce: announcer(),
  });
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
  followSettings(root, { api, store });
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
