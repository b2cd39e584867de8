import { effect } from "@preact/signals-core";
import { ofTab } from "../page-storage.ts";
import type { Session } from "../session.ts";
import { visitNote } from "../signed-in.ts";
import { saveHome, showSavedHome } from "./saved-home.ts";

/** A host that is off does not refuse connections. */
const PATIENCE_MS = 2_000;
const FIRST_SAVE_MS = 5_000;
const SAVE_EVERY_MS = 5 * 60_000;
const WORKER = "/service-worker.js";
const RELOADED = "mantel.reloaded-for";
/** The build and its files, with which the service worker's script begins. */
const BUILD = /^const MANTEL_BUILD={"id":"(\w+)","files":\[([^\]]*)\]}/;

type Followed = Pick<Session, "store" | "channels" | "contexts" | "link" | "api">;

/**
 * Saves the home from time to time and when the connection ends, and shows the saved home when the page starts without
 * the host. A page that may not be from the host checks, once it answers, that it has its code.
 */
export function followHome(session: Followed): void {
  const { store, link } = session;
  const visit = visitNote();
  if (visit === null) return;
  let hasBeenLive = false;
  let isLive = false;
  let startedAlone = false;
  const save = (): void => {
    if (!hasBeenLive || store.savedAt.peek() !== undefined) return;
    void saveHome(session, visit, session.contexts.shared.now());
  };
  const show = (): void => {
    if (hasBeenLive || startedAlone) return;
    startedAlone = true;
    void showSavedHome(session, visit);
  };
  const becameLive = (): void => {
    if (hasBeenLive) return;
    hasBeenLive = true;
    // a worker that waited too long for the host has answered with the page that it keeps
    if (startedAlone || navigator.serviceWorker?.controller) void reloadIfOutdated();
    setTimeout(() => {
      save();
      void keepFiles(session);
    }, FIRST_SAVE_MS);
  };
  effect(() => {
    const now = link.value;
    const wasLive = isLive;
    isLive = now.state === "live";
    if (isLive) becameLive();
    else if (wasLive) save();
    else if (now.state === "away" && now.retryAt > 0) show();
  });
  setTimeout(show, PATIENCE_MS);
  const saveIfLive = (): void => {
    if (isLive) save();
  };
  setInterval(saveIfLive, SAVE_EVERY_MS);
  addEventListener("pagehide", saveIfLive);
  effect(() => {
    document.documentElement.toggleAttribute("data-saved", store.savedAt.value !== undefined);
  });
  void registerWorker();
}

/** Registers the service worker, which browsers have over HTTPS and on this machine. */
async function registerWorker(): Promise<void> {
  try {
    await navigator.serviceWorker?.register(WORKER, { updateViaCache: "none" });
  } catch (error) {
    console.info("this browser does not keep the dashboard for a start without the host", error);
  }
}

/** Has the worker store the widgets' code and the icons that this page uses. */
async function keepFiles({ store }: Followed): Promise<void> {
  const loaded = performance.getEntriesByType("resource").map(({ name }) => pathOf(name));
  const widgets = store
    .modules()
    .peek()
    .flatMap(({ widget }) => (widget?.url ? [widget.url] : []));
  const registration = await navigator.serviceWorker?.ready;
  registration?.active?.postMessage([...new Set([...loaded, ...widgets])]);
}

/**
 * Loads the page again if the host has other code than this page, at most once for each build. The service worker
 * answers for the page itself, so its own script says which files the host has.
 */
async function reloadIfOutdated(): Promise<void> {
  const answer = await fetch(WORKER, { cache: "no-store" }).catch(() => undefined);
  const [, build, files] = BUILD.exec((await answer?.text()) ?? "") ?? [];
  const own = document.querySelector<HTMLScriptElement>("script[type=module]")?.getAttribute("src");
  if (!build || !files || !own || files.includes(`"${own}"`)) return;
  if (ofTab.get(RELOADED) === build) return;
  ofTab.set(RELOADED, build);
  if (ofTab.get(RELOADED) === build) location.reload(); // otherwise it could load again for ever
}

function pathOf(url: string): string {
  const { origin, pathname } = new URL(url, location.href);
  return origin === location.origin ? pathname : "";
}
