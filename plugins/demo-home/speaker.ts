import type { DeviceState } from "@mantel/plugin-sdk";

interface Track {
  readonly title: string;
  readonly artist: string;
  /** Its length in seconds. */
  readonly duration: number;
}

/** Tracks that the speaker plays in a loop. */
export const TRACKS = [
  { title: "Slow Light", artist: "Nils Arden", duration: 214 },
  { title: "Paper Boats", artist: "Mira Holt", duration: 187 },
  { title: "Northbound", artist: "The Larks", duration: 251 },
] as const satisfies readonly Track[];

/** The speaker after some seconds. */
export function advancePlayback(speaker: DeviceState, seconds: number): DeviceState {
  if (speaker["playback"] !== "playing") return speaker;
  const elapsed = Number(speaker["elapsed"]) + seconds;
  return elapsed < Number(speaker["duration"]) ? { ...speaker, elapsed } : skip(speaker, "next");
}

/** The speaker at the start of another track. */
export function skip(speaker: DeviceState, to: "next" | "previous"): DeviceState {
  const now = TRACKS.findIndex(({ title }) => title === speaker["title"]);
  const step = to === "next" ? 1 : -1;
  return { ...speaker, ...TRACKS.at((now + step) % TRACKS.length), elapsed: 0 };
}
