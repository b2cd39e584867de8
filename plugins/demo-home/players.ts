export const SPEAKER = "speaker";
export const BEDROOM_SPEAKER = "bedroom-speaker";

/** The players that can play together, by their names. */
export const PLAYERS: ReadonlyMap<string, string> = new Map([
  ["Speaker", SPEAKER],
  ["Bedroom speaker", BEDROOM_SPEAKER],
]);

interface Track {
  readonly title: string;
  readonly artist: string;
  /** Its length in seconds. */
  readonly duration: number;
}

/** Tracks that the players play in a loop. */
export const TRACKS = [
  { title: "Slow Light", artist: "Nils Arden", duration: 214 },
  { title: "Paper Boats", artist: "Mira Holt", duration: 187 },
  { title: "Northbound", artist: "The Larks", duration: 251 },
] as const satisfies readonly Track[];
