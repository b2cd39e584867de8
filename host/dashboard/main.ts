import { computed, signal } from "@preact/signals-core";
import { Api, type ApiError, type SignedIn } from "./api.ts";
import { useLanguagePacks, useRememberedLocale } from "./i18n/page.ts";
import { MantelIcon } from "./icons/mantel-icon.ts";
import { isLinkInAddress, takeLinkToken } from "./link.ts";
import { Session } from "./session.ts";
import { mountShell } from "./shell.ts";
import { signInOnLoad, refusalOf } from "./sign-in.ts";
import {
  forgetRefused,
  onChangeInOtherTab,
  type Refusal,
  scopesOf,
  takeRefusal,
} from "./signed-in.ts";
import type { WidgetErrors } from "./widget-errors.ts";
import { WidgetLoader } from "./widget-loader.ts";

customElements.define("mantel-icon", MantelIcon);
useRememberedLocale();
/** The current sign-in. Leaving the page during it would waste a one-time link. */
let opening: Promise<void> = Promise.resolve();
const openAgain = (): void => void opening.finally(() => location.reload());
addEventListener("hashchange", () => {
  if (isLinkInAddress() || pairingInAddress() !== undefined) openAgain();
});
onChangeInOtherTab(openAgain);
document.addEventListener("DOMContentLoaded", () => {
  const root = document.querySelector<HTMLElement>("#mantel");
  if (root) opening = open(root);
});

async function open(root: HTMLElement): Promise<void> {
  const api = new Api((reason) => {
    forgetRefused(reason);
    location.reload();
  });
  await api.discover();
  const link = takeLinkToken();
  const { who, fault } = await signInOnLoad(api, link);
  await useLanguagePacks(async (tag) => {
    const packs = await import("./i18n/packs.ts");
    return packs.loadPack(api, tag, who !== undefined);
  });
  const refusal = takeRefusal() ?? (fault && refusalOf(fault));
  if (!who) return showNewScreen(root, api, refusal);
  if (link !== undefined && fault?.code === "signed_in") {
    return showReplacement(root, { api, who, link });
  }
  const code = pairingInAddress();
  if (code !== undefined) return showApproval(root, api, { code, scopes: scopesOf(who) });
  start(root, api, who);
  if (link !== undefined && fault) await showLinkNotice(root, who, fault);
}

/** The code in an address such as `/#pair=BDFG-HJKL`; empty if the user must type it. */
function pairingInAddress(): string | undefined {
  return /^#pair(?:=(.*))?$/.exec(location.hash)?.slice(1).join("");
}

async function showNewScreen(
  root: HTMLElement,
  api: Api,
  refusal: Refusal | undefined,
): Promise<void> {
  const { mountNewScreen } = await import("./pairing/new-screen.ts");
  mountNewScreen(root, { api, refusal });
}

async function showReplacement(
  root: HTMLElement,
  options: { readonly api: Api; readonly who: SignedIn; readonly link: string },
): Promise<void> {
  const { mountReplacement } = await import("./pairing/replace.ts");
  mountReplacement(root, options);
}

async function showLinkNotice(root: HTMLElement, who: SignedIn, fault: ApiError): Promise<void> {
  const notice = await import("./pairing/link-notice.ts");
  notice.showLinkNotice(root, who, fault);
}

async function showApproval(
  root: HTMLElement,
  api: Api,
  options: { readonly code: string; readonly scopes: readonly string[] },
): Promise<void> {
  const { mountApproval } = await import("./pairing/approval.ts");
  mountApproval(root, { api, ...options });
}

function start(root: HTMLElement, api: Api, who: SignedIn): void {
  if (who.display) {
    void import("./session-renewal.ts").then((renewal) => renewal.startSessionRenewal(api));
  }
  const scopes = scopesOf(who);
  const session = new Session(api, {
    mayControl: scopes.includes("control"),
    mayEdit: scopes.includes("edit"),
    mayAdminister: scopes.includes("admin"),
    name: who.name,
    isPaired: who.display,
    announce: announcer(),
  });
  const { store, contexts, theme } = session;
  const seen = signal(!document.hidden);
  document.addEventListener("visibilitychange", () => (seen.value = !document.hidden));
  const errors = followErrors(api);
  mountShell(root, session, {
    store,
    contexts,
    awake: computed(() => seen.value && theme.theme.value !== "night"),
    loader: new WidgetLoader(),
    reportError: (...of) => void errors.then(({ report }) => report(...of)),
    reloadModule: (id) => session.reloadModule(id),
  });
  void import("./soon.ts").then(({ followOverlays }) => followOverlays(root, session));
}

/** Reports errors of widgets from now on. The code for it is loaded after the first paint. */
async function followErrors(api: Api): Promise<WidgetErrors> {
  const { WidgetErrors: Errors } = await import("./soon.ts");
  const errors = new Errors(api);
  errors.follow(window);
  return errors;
}

function announcer(): (text: string) => void {
  const voice = document.createElement("div");
  voice.className = "unseen";
  voice.setAttribute("aria-live", "polite");
  document.body.append(voice);
  return (text) => (voice.textContent = text);
}
