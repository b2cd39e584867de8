import { hasFeature } from "./attributes.ts";
import type { Entity } from "./entities.ts";

/** The players that can play together, by entity id: of each the names under which they join each other. */
export type PlayerGroups = ReadonlyMap<string, ReadonlyMap<string, string>>;

export const NO_GROUPS: PlayerGroups = new Map();

/** A player that can play together with others of its platform. */
export interface GroupingPlayer {
  readonly entityId: string;
  readonly name: string;
  /** The integration that it comes from, such as `sonos`; empty if it is unknown. */
  readonly platform: string;
}

const GROUPING = 524_288;
/** Each of them has the names of all, so their number counts twice. */
const MOST_PLAYERS = 100;

/** True for a player that can play together with others. */
export function canGroup({ domain, attributes }: Pick<Entity, "domain" | "attributes">): boolean {
  return domain === "media_player" && hasFeature(attributes, GROUPING);
}

/**
 * The groups that players can form: Home Assistant only joins those of one platform. Names are unique among all, also
 * if two players have the same name. A player that has no other to join has no names.
 */
export function playerGroups(players: readonly GroupingPlayer[]): PlayerGroups {
  const names = uniqueNames(players.toSorted(byEntityId));
  const platforms = new Map<string, Map<string, string>>();
  const groups = new Map<string, ReadonlyMap<string, string>>();
  for (const { player, name } of names) {
    const platform = platforms.get(player.platform) ?? new Map<string, string>();
    platforms.set(player.platform, platform);
    const isListed = platform.size < MOST_PLAYERS;
    if (isListed) platform.set(player.entityId, name);
    groups.set(player.entityId, isListed ? platform : NO_NAMES);
  }
  return new Map(
    [...groups].map(([id, platform]) => [id, platform.size > 1 ? platform : NO_NAMES]),
  );
}

const NO_NAMES: ReadonlyMap<string, string> = new Map();

const byEntityId = (one: GroupingPlayer, other: GroupingPlayer): number =>
  one.entityId < other.entityId ? -1 : 1;

/** The first of several players with one name keeps it; the others get a number, which no other player has. */
function uniqueNames(players: readonly GroupingPlayer[]) {
  const real = new Set(players.map(({ name }) => name));
  const taken = new Set<string>();
  return players.map((player) => {
    let { name } = player;
    for (let count = 2; taken.has(name); count++) {
      const numbered = `${player.name} ${count}`;
      if (!real.has(numbered)) name = numbered;
    }
    taken.add(name);
    return { player, name };
  });
}
