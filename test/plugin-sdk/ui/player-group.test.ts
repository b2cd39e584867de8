import assert from "node:assert/strict";
import { test } from "node:test";
import type { Device } from "@mantel/plugin-sdk/device";
import { companionsOf, playersFor } from "@mantel/plugin-sdk/ui/player-group";
import { deviceOf } from "../../helpers/device.ts";

const VALUES = ["Living room", "Kitchen", "Bath"];
const TEXT = { type: "text", readOnly: true } as const;

function player(groupName: string, group: string | null = groupName, more: Partial<Device> = {}) {
  return deviceOf({
    id: `demo:media-player:${VALUES.indexOf(groupName) + 1}`,
    kind: "media-player",
    name: `${groupName} speaker`,
    capabilities: { groupName: TEXT, group: { type: "choice", values: [...VALUES] } },
    state: { groupName, group },
    ...more,
  });
}

/** Each companion as "name, pressed, target: group". */
const told = (device: Device, players: readonly Device[]) =>
  companionsOf(device, players).map(
    ({ player: { name }, isIn, target, command }) =>
      `${name}, ${isIn}, ${target.name}: ${JSON.stringify(command)}`,
  );

const LIVING = player("Living room");
const KITCHEN = player("Kitchen", "Living room");
const BATH = player("Bath");

test("a leader lets another player join, and one that follows it leave", () => {
  assert.deepEqual(told(LIVING, [LIVING, KITCHEN, BATH]), [
    'Kitchen speaker, true, Kitchen speaker: {"group":"Kitchen"}',
    'Bath speaker, false, Bath speaker: {"group":"Living room"}',
  ]);
});

test("a follower lets others join its leader, and leaves it itself", () => {
  const bath = player("Bath", "Living room");

  assert.deepEqual(told(KITCHEN, [LIVING, KITCHEN, bath, BATH]), [
    'Living room speaker, true, Kitchen speaker: {"group":"Kitchen"}',
    'Bath speaker, true, Bath speaker: {"group":"Bath"}',
    'Bath speaker, false, Bath speaker: {"group":"Living room"}',
  ]);
});

test("a requested group counts before it is confirmed", () => {
  const asked = player("Bath", "Bath", { pending: { group: "Living room" } });

  assert.deepEqual(told(LIVING, [asked]), ['Bath speaker, true, Bath speaker: {"group":"Bath"}']);
});

test("a player whose leader is unknown lets others join itself", () => {
  assert.deepEqual(told(player("Kitchen", null), [BATH]), [
    'Bath speaker, false, Bath speaker: {"group":"Kitchen"}',
  ]);
});

for (const [who, other] of [
  ["of another bridge", player("Bath", "Bath", { bridge: "other" })],
  [
    "that cannot join this one",
    player("Bath", "Bath", {
      capabilities: { groupName: TEXT, group: { type: "choice", values: ["Bath", "Attic"] } },
    }),
  ],
  [
    "whose group is read-only",
    player("Bath", "Bath", {
      capabilities: {
        groupName: TEXT,
        group: { type: "choice", values: [...VALUES], readOnly: true },
      },
    }),
  ],
  ["whose name is unknown", player("Bath", "Bath", { state: { groupName: null, group: null } })],
  ["without groups", deviceOf({ id: "demo:media-player:9", kind: "media-player" })],
] as const) {
  test(`a player ${who} is not offered`, () => {
    assert.deepEqual(told(LIVING, [other]), []);
    assert.deepEqual(told(other, []), []);
  });
}

test("the players of the home are only read for a device that can play with others", () => {
  const asked: unknown[] = [];
  const devices = (query: unknown) => (asked.push(query), { value: [KITCHEN] });
  const context = { devices } as unknown as Parameters<typeof playersFor>[1];

  assert.deepEqual(playersFor(deviceOf({}), context), []);
  assert.deepEqual(playersFor(LIVING, context), [KITCHEN]);
  assert.deepEqual(asked, [{ kind: "media-player" }]);
});
