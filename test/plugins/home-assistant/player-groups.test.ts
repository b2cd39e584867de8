import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type GroupingPlayer,
  playerGroups,
} from "../../../plugins/home-assistant/player-groups.ts";
import { calls, entity, isConfirmed, view } from "./entity.ts";

const GROUPING = { supported_features: 524_288 };
const player = (object: string, name: string, platform = "sonos"): GroupingPlayer => ({
  entityId: `media_player.${object}`,
  name,
  platform,
});

/** `media_player.x` of `entity`, beside two others. */
const THREE = playerGroups([player("x", "Kitchen"), player("y", "Bath"), player("z", "Attic")]);
const playing = (members?: unknown) =>
  entity("media_player", "playing", { ...GROUPING, group_members: members });
const groupOf = (members?: unknown) => view(playing(members), "°C", THREE).state["group"];

test("a player can join the others, in the order of their ids", () => {
  const { capabilities, state } = view(playing(), "°C", THREE);

  assert.deepEqual(capabilities["groupName"], { type: "text", readOnly: true });
  assert.deepEqual(capabilities["group"], {
    type: "choice",
    values: ["Kitchen", "Bath", "Attic"],
  });
  assert.equal(state["groupName"], "Kitchen");
});

for (const [name, members, group] of [
  ["no members", undefined, "Kitchen"],
  ["null as its members", null, "Kitchen"],
  ["an empty list of members", [], "Kitchen"],
  ["itself alone", ["media_player.x"], "Kitchen"],
  ["itself first", ["media_player.x", "media_player.y"], "Kitchen"],
  ["another one first", ["media_player.y", "media_player.x"], "Bath"],
  ["a leader that is not shown", ["media_player.hidden", "media_player.x"], null],
] as const) {
  test(`a player with ${name} plays the music of ${group ?? "an unknown one"}`, () => {
    assert.equal(groupOf(members), group);
  });
}

test("a player without the feature, or without another to join, has no group", () => {
  const alone = playerGroups([player("x", "Kitchen"), player("y", "Bath", "cast")]);
  const unable = entity("media_player", "playing", { supported_features: 1 });

  for (const shown of [view(unable, "°C", THREE), view(playing(), "°C", alone), view(playing())]) {
    assert.deepEqual(
      ["group", "groupName"].map((field) => [shown.capabilities[field], shown.state[field]]),
      [
        [undefined, undefined],
        [undefined, undefined],
      ],
    );
  }
});

const join = (members: string[]) => ["media_player.join", { group_members: members }];

test("a player joins another by a call to that one, leaves by a call to itself, and stays by none", () => {
  const follower = playing(["media_player.y", "media_player.x"]);
  const leader = playing(["media_player.x", "media_player.y"]);
  const made = (of: typeof follower, group: string, more = {}) =>
    calls(of, { group, ...more }, "°C", THREE);

  assert.deepEqual(made(playing(), "Bath"), [join(["media_player.x"])]);
  assert.deepEqual(made(follower, "Attic"), [join(["media_player.x"])]);
  assert.deepEqual(made(follower, "Kitchen"), [["media_player.unjoin"]]);
  assert.deepEqual(made(follower, "Bath"), []);
  assert.deepEqual(made(leader, "Kitchen"), []);
  assert.deepEqual(made(playing(), "Kitchen"), []);
  assert.deepEqual(made(playing(), "Bath", { playback: "playing" }), [
    join(["media_player.x"]),
    ["media_player.media_play"],
  ]);
});

test("a player has joined another when it reports so, and not when Home Assistant has answered", () => {
  const now = playing(["media_player.y", "media_player.x"]);
  const isJoined = (to: typeof now) =>
    isConfirmed({ group: "Bath" }, playing(), to, { groups: THREE });

  assert.equal(isJoined(playing()), false);
  assert.equal(isJoined(playing(["media_player.z", "media_player.x"])), false);
  assert.equal(isJoined(now), true);
});

test("names are unique in all of Home Assistant, and a number is never the name of another", () => {
  const groups = playerGroups([
    player("d", "Kitchen 2"),
    player("c", "Kitchen", "cast"),
    player("b", "Kitchen"),
    player("a", "Kitchen"),
    player("e", "Kitchen", "cast"),
  ]);
  const named = (object: string) => [...(groups.get(`media_player.${object}`)?.values() ?? [])];

  assert.deepEqual(named("a"), ["Kitchen", "Kitchen 3", "Kitchen 2"]);
  assert.deepEqual(named("c"), ["Kitchen 4", "Kitchen 5"]);
  assert.equal(groups.get("media_player.b"), groups.get("media_player.d"));
});

test("of very many players a hundred can join each other", () => {
  const many = Array.from({ length: 150 }, (_, at) => player(String(1_000 + at), `Room ${at}`));
  const groups = playerGroups(many);
  const sizes = new Set([...groups.values()].map(({ size }) => size));

  assert.equal(groups.size, 150);
  assert.deepEqual([...sizes], [100, 0]);
});
