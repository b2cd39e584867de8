import type { DeviceState } from "@mantel/plugin-sdk";
import type { WorldDraft } from "./draft.ts";

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

/** The players after some seconds. Those that follow another play what it plays. */
export function players(draft: WorldDraft, seconds: number): void {
  const ids = [...PLAYERS.values()];
  const leaders = ids.filter((id) => leaderOf(draft, id) === id);
  for (const id of leaders) draft.set(id, advanced(draft.state(id), seconds));
  for (const id of ids.filter((each) => !leaders.includes(each))) {
    const { playback, title, artist, elapsed, duration } = draft.state(leaderOf(draft, id));
    draft.set(id, { playback, title, artist, elapsed, duration } as DeviceState);
  }
}

/** A follower has a volume of its own; its leader does the rest. */
export function applyPlayerCommand(
  draft: WorldDraft,
  id: string,
  { group, volume, muted, next, previous, ...rest }: DeviceState,
): void {
  if (typeof group === "string") follow(draft, id, group);
  const own = Object.entries({ volume, muted }).filter(([, value]) => value !== undefined);
  draft.set(id, Object.fromEntries(own) as DeviceState);
  const leader = leaderOf(draft, id);
  if (next === true) draft.set(leader, skipped(draft.state(leader), "next"));
  if (previous === true) draft.set(leader, skipped(draft.state(leader), "previous"));
  draft.set(leader, rest);
}

/** Lets a player follow another one, together with its own followers, or leave the group that it follows. */
function follow(draft: WorldDraft, id: string, name: string): void {
  const { groupName, group } = draft.state(id);
  if (name === group) return;
  if (name === groupName) return draft.set(id, { group: name, playback: "stopped" });
  const moved = [...PLAYERS.values()].filter((each) => leaderOf(draft, each) === id);
  for (const each of [...moved, id, PLAYERS.get(name) ?? id]) draft.set(each, { group: name });
}

const leaderOf = (draft: WorldDraft, id: string): string =>
  PLAYERS.get(String(draft.state(id)["group"])) ?? id;

function advanced(player: DeviceState, seconds: number): DeviceState {
  if (player["playback"] !== "playing") return player;
  const elapsed = Number(player["elapsed"]) + seconds;
  return elapsed < Number(player["duration"]) ? { ...player, elapsed } : skipped(player, "next");
}

/** A player at the start of another track. */
function skipped(player: DeviceState, to: "next" | "previous"): DeviceState {
  const now = TRACKS.findIndex(({ title }) => title === player["title"]);
  const step = to === "next" ? 1 : -1;
  return { ...player, ...TRACKS.at((now + step) % TRACKS.length), elapsed: 0 };
}
