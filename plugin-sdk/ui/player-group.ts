import type { CommandBody, Device, DeviceState } from "../device.ts";
import { canSet } from "./appearance.ts";

/** A player that can play the same music as another one. */
export interface Companion {
  readonly player: Device;
  /** True if it does now, or was told to. */
  readonly isIn: boolean;
  /** The player to which `command` goes that changes this. */
  readonly target: Device;
  readonly command: CommandBody;
}

/** The part of a widget's context that finds devices. */
interface Finder {
  devices(query: { kind: string }): { readonly value: readonly Device[] };
}

/** The players of the home for `companionsOf`; none for a device that plays alone. */
export function playersFor({ capabilities }: Device, finder: Finder): readonly Device[] {
  return capabilities.group ? finder.devices({ kind: "media-player" }).value : [];
}

/**
 * The players of the same bridge that can play what a player plays. The leader of a group cannot leave it; its button
 * makes the player itself leave.
 */
export function companionsOf(device: Device, players: readonly Device[]): Companion[] {
  const { groupName, group: followed } = stateOf(device);
  if (typeof groupName !== "string" || !canSet(device, "group")) return [];
  const group = typeof followed === "string" ? followed : groupName;
  return players
    .filter((player) => player.id !== device.id && player.bridge === device.bridge)
    .filter((player) => canJoin(player, groupName))
    .flatMap((player) => {
      const { groupName: name, group: playersGroup } = stateOf(player);
      if (typeof name !== "string") return [];
      const isIn = playersGroup === group;
      if (name === group) return [{ player, isIn, target: device, command: { group: groupName } }];
      return [{ player, isIn, target: player, command: { group: isIn ? name : group } }];
    });
}

function canJoin(player: Device, name: string): boolean {
  const { group } = player.capabilities;
  return group?.type === "choice" && group.values.includes(name) && canSet(player, "group");
}

const stateOf = ({ state, pending }: Device): DeviceState => ({ ...state, ...pending });
