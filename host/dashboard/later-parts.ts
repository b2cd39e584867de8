import { effect, type ReadonlySignal, signal } from "@preact/signals-core";
import { html, nothing, render } from "lit";
import { addStyles } from "./add-styles.ts";
import type { ConnectionState } from "./connection.ts";
import { followDetailsGestures } from "./details-gestures.ts";
import { startWallScreen } from "./display/wall-screen.ts";
import { editButton } from "./edit-button.ts";
import { headerChips } from "./header-chips.ts";
import { words } from "./i18n/later.ts";
import { icons } from "./icons/icons.ts";
import { startLastParts } from "./last-parts.ts";
import { NightScreen } from "./night.ts";
import { followHome } from "./offline/follow-home.ts";
import { overlayLinks } from "./overlay-route.ts";
import type { Session } from "./session.ts";
import type { HeaderParts } from "./shell.ts";
import { followTouches } from "./touches.ts";
import bannerStyles from "./banner.css";

/** A short interruption ends before anyone would read the banner. */
const BANNER_AFTER_MS = 3_000;

/**
 * Starts everything of the shell that is not needed for the first paint: the banner, night mode, displays, gestures
 * for details, the chips of the header, and its links.
 */
export function startLaterParts(
  start: Parameters<typeof editButton>[0],
  { chips, tools }: HeaderParts,
): void {
  chips.value = headerChips;
  const { root, session, page } = start;
  followTouches(session);
  const { now } = session.contexts.shared;
  const clock = signal(now());
  setInterval(() => (clock.value = now()), 1_000);
  showLink(root, session, clock);
  showNight(root, session, clock);
  startWallScreen(root, session, page);
  followDetailsGestures((target, element) =>
    session.contexts.openDetails(target, element.getBoundingClientRect()),
  );
  void icons().load("wifi-off"); // it cannot be loaded when the banner needs it
  followHome(session);
  void startLastParts(root, session);
  const edit = session.mayEdit ? editButton(start) : nothing;
  tools.value = () => html`${edit}${overlayLinks(session)}`;
}

function showLink(root: HTMLElement, session: Session, clock: ReadonlySignal<number>): void {
  const { link } = session;
  addStyles(bannerStyles);
  const banner = document.createElement("div");
  root.after(banner); // the settings replace the root, not this element
  effect(() => {
    void clock.value; // updated every second
    render(bannerOf(session, link.value, performance.now()), banner);
  });
}

function showNight(
  root: HTMLElement,
  { theme, formats }: Session,
  clock: ReadonlySignal<number>,
): void {
  const night = new NightScreen(root, () => theme.touch());
  effect(() => {
    if (theme.theme.value === "night") night.show(formats.value, clock.value);
    else night.hide();
  });
}

function bannerOf(session: Session, link: ConnectionState, ticks: number): unknown {
  const savedAt = session.store.savedAt.value;
  if (link.state === "live") return nothing;
  if (savedAt === undefined && ticks - link.since < BANNER_AFTER_MS) return nothing;
  const texts = words.value;
  const fmt = session.formats.value;
  const state =
    savedAt === undefined
      ? texts.offlineFor(spanOf(ticks - link.since))
      : texts.savedHome(`${fmt.date(savedAt, "short")} ${fmt.time(savedAt)}`);
  const secondsLeft = Math.ceil((link.retryAt - ticks) / 1000);
  return html`<div class="banner" role="alert">
    <mantel-icon name="mdi:wifi-off"></mantel-icon>
    <span>${state}</span>
    <span>${secondsLeft > 0 ? texts.retryIn(secondsLeft) : texts.retrying}</span>
  </div>`;
}

function spanOf(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return seconds < 100 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}
