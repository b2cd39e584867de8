import type { DeviceState } from "@mantel/plugin-sdk";
import type { WorldDraft } from "./draft.ts";
import { PLAYERS, TRACKS } from "./players.ts";

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

function leaderOf(draft: WorldDraft, id: string): string {
  const { group } = draft.state(id);
  return (typeof group === "string" ? PLAYERS.get(group) : undefined) ?? id;
}

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
