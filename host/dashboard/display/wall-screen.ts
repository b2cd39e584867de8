import { effect, type ReadonlySignal, signal } from "@preact/signals-core";
import type { Page } from "../layout.ts";
import type { Session } from "../session.ts";
import { startKioskMode } from "./kiosk.ts";

/** The page is not changed while someone uses it. */
const REST_MS = 60_000;
const SHIFT_EVERY_MS = 60_000;
/** Steps around a small square, in CSS pixels, so that no edge stays on the same pixels all day. */
const SHIFTS = [
  [0, 0],
  [2, 0],
  [3, 2],
  [2, 4],
  [0, 3],
  [-2, 4],
  [-3, 2],
  [-2, 0],
] as const;

/** Behaviour of a wall-mounted display: active while this screen is a display. */
export function startWallScreen(
  root: HTMLElement,
  session: Session,
  current: ReadonlySignal<Page | undefined>,
): void {
  const { display, isPaired } = session;
  const touchedAt = followTouches();
  startKioskMode(root, session, touchedAt);
  effect(() => turnPages(session, current, touchedAt));
  effect(() => (isPaired || display.value ? stayAwake() : undefined));
  shiftPixels();
}

/** Time of the last touch or key press, as `performance.now`. */
function followTouches(): ReadonlySignal<number> {
  const touchedAt = signal(performance.now());
  for (const type of ["pointerdown", "keydown", "mantel-touch"]) {
    addEventListener(type, () => (touchedAt.value = performance.now()), {
      passive: true,
      capture: true,
    });
  }
  return touchedAt;
}

function turnPages(
  { display, shown }: Session,
  current: ReadonlySignal<Page | undefined>,
  touchedAt: ReadonlySignal<number>,
): (() => void) | undefined {
  const seconds = display.value?.rotateSeconds ?? 0;
  if (seconds === 0) return undefined;
  const turning = setInterval(() => {
    if (performance.now() - touchedAt.peek() < REST_MS) return;
    const all = shown.peek()?.pages ?? [];
    const next = all[(all.findIndex((page) => page === current.peek()) + 1) % all.length];
    if (next) location.replace(`#${next.id}`);
  }, seconds * 1000);
  return () => clearInterval(turning);
}

/** Moves the whole picture slightly every minute to prevent burn-in. */
function shiftPixels(): void {
  const { style } = document.documentElement;
  let step = 0;
  setInterval(() => {
    const [x, y] = SHIFTS[++step % SHIFTS.length] ?? [0, 0];
    style.setProperty("--shift-x", `${x}px`);
    style.setProperty("--shift-y", `${y}px`);
  }, SHIFT_EVERY_MS);
}

/**
 * Keeps the screen on with a wake lock. Browsers grant it only to secure pages, and end it whenever
 * the page is hidden.
 */
function stayAwake(): (() => void) | undefined {
  if (!("wakeLock" in navigator)) return undefined;
  let wakeLock: WakeLockSentinel | undefined;
  const stopping = new AbortController();
  const ask = async (): Promise<void> => {
    if (document.hidden) return;
    try {
      wakeLock = await navigator.wakeLock.request("screen");
      if (stopping.signal.aborted) await wakeLock.release();
    } catch (error) {
      console.warn("could not keep the screen on", error); // a battery that is low, for example
    }
  };
  document.addEventListener("visibilitychange", () => void ask(), { signal: stopping.signal });
  void ask();
  return () => {
    stopping.abort();
    void wakeLock?.release();
  };
}
