import assert from "node:assert/strict";
import { test } from "node:test";
import { applyCommand, tick } from "../../../plugins/demo-home/simulate.ts";
import { openWorld, type World } from "../../../plugins/demo-home/world.ts";

const HOUR = 3_600;

function after(world: World, seconds: number, step = 10): World {
  let now = world;
  for (let passed = 0; passed < seconds; passed += step) now = tick(now, step);
  return now;
}

const value = (world: World, id: string, field: string) => Number(world.devices[id]?.[field]);

test("the same seed gives the same day, and another seed another", () => {
  const one = after(openWorld(7), HOUR);
  const same = after(openWorld(7), HOUR);
  const other = after(openWorld(8), HOUR);

  assert.deepEqual(one, same);
  assert.notDeepEqual(one.devices["garden-weather"], other.devices["garden-weather"]);
});

test("a simulation step does not modify the previous world", () => {
  const world = openWorld(1);
  const before = structuredClone(world);

  applyCommand(tick(world, 60), "sofa-lamp", { on: false });

  assert.deepEqual(world, before);
});

test("heating brings the room to its target and holds it there", () => {
  const warm = after(openWorld(1), 2 * HOUR);
  const held = after(warm, 6 * HOUR);

  for (const world of [warm, held]) {
    assert.ok(Math.abs(value(world, "heating", "temperature") - 20.5) < 0.2);
  }
  assert.equal(
    value(held, "upstairs-climate", "temperature"),
    value(held, "heating", "temperature"),
  );
});

test("an unheated room cools towards the outdoor temperature", () => {
  const cold = after(applyCommand(openWorld(1), "heating", { mode: "off" }), 12 * HOUR);

  const temperature = value(cold, "heating", "temperature");
  assert.ok(temperature > 11 && temperature < 15, `it is ${temperature}`);
  assert.equal(cold.devices["heating"]?.["action"], "off");
});

test("simulated values stay plausible for a week", () => {
  const world = after(openWorld(3), 7 * 24 * HOUR, 60);

  const expected = [
    ["living-climate", "temperature", 20, 23],
    ["kitchen-climate", "humidity", 39, 63],
    ["garden-weather", "temperature", 1, 13],
    ["garden-weather", "pressure", 994, 1024],
    ["garden-weather", "humidity", 68, 100],
  ] as const;
  for (const [id, field, from, to] of expected) {
    const now = value(world, id, field);
    assert.ok(now >= from && now <= to, `${id}: ${field} is ${now}`);
  }
});

test("blinds travel for seconds and stop where they were sent", () => {
  const sent = applyCommand(openWorld(1), "blinds", { position: 100 });

  const under = tick(tick(sent, 1), 1);
  const there = after(under, 30, 1);

  assert.deepEqual(sent.devices["blinds"], { position: 40, action: "opening" });
  assert.deepEqual(under.devices["blinds"], { position: 50, action: "opening" });
  assert.deepEqual(there.devices["blinds"], { position: 100, action: "stopped" });
});

test("blinds open, close and stop on the way", () => {
  const opening = applyCommand(openWorld(1), "blinds", { open: true });
  const stopped = applyCommand(tick(opening, 2), "blinds", { stop: true });
  const closed = after(applyCommand(stopped, "blinds", { close: true }), 30, 1);

  assert.deepEqual(opening.devices["blinds"], { position: 40, action: "opening" });
  assert.deepEqual(after(stopped, 30, 1).devices["blinds"], { position: 50, action: "stopped" });
  assert.deepEqual(closed.devices["blinds"], { position: 0, action: "stopped" });
});

test("the energy meter follows lamps and plugs", () => {
  const world = tick(openWorld(1), 1);
  const power = value(world, "energy", "power");

  const darker = applyCommand(world, "island", { on: false });
  const brewing = applyCommand(darker, "coffee", { on: true });

  assert.ok(power > 1_100 && power < 1_300, `the home takes ${power} W`);
  assert.ok(Math.abs(power - value(darker, "energy", "power") - 18 * 0.85) < 0.001);
  assert.ok(
    Math.abs(value(brewing, "energy", "power") - value(darker, "energy", "power") - 1_350) < 0.001,
  );
  const used = value(after(brewing, HOUR), "energy", "energy") - value(brewing, "energy", "energy");
  assert.ok(used > 0.3 && used < 1.5, `an hour took ${used} kWh`);
});

test("the dishwasher finishes, turns itself off and starts again", () => {
  const done = after(openWorld(1), 25 * 60);
  const again = tick(applyCommand(done, "dishwasher", { on: true }), 60);

  assert.deepEqual(done.devices["dishwasher"], { on: false, power: 0 });
  assert.deepEqual(done.devices["dishwasher/extra"], { remaining: 0, progress: 100 });
  assert.equal(Math.round(value(again, "dishwasher/extra", "remaining")), 89);
});

test("the hallway's light follows motion until it is set by a command", () => {
  let world = openWorld(1);
  const seen = new Set<string>();
  for (let n = 0; n < 600; n++) {
    world = tick(world, 5);
    const { "hallway-motion": sensor, hallway: light } = world.devices;
    seen.add(JSON.stringify([sensor?.["motion"], light?.["on"]]));
  }

  const byHand = applyCommand(world, "hallway", { on: true, brightness: 5 });

  assert.deepEqual([...seen].toSorted(), ["[false,false]", "[true,true]"]);
  assert.equal(after(byHand, HOUR).devices["hallway"]?.["on"], true);
  assert.equal(byHand.devices["hallway/extra"]?.["mode"], "manual");
});

test("the speaker continues with the next song, skips in both directions, and stops when paused", () => {
  const next = after(openWorld(1), 140, 1).devices["speaker"];
  const back = applyCommand(openWorld(1), "speaker", { previous: true }).devices["speaker"];
  const paused = after(applyCommand(openWorld(1), "speaker", { playback: "paused" }), 60).devices[
    "speaker"
  ];

  assert.deepEqual([next?.["title"], next?.["elapsed"]], ["Paper Boats", 8]);
  assert.deepEqual([back?.["title"], back?.["elapsed"]], ["Northbound", 0]);
  assert.equal(paused?.["elapsed"], 82);
});

test("a player that joins another plays its music at its own volume, and stops when it leaves", () => {
  const playerOf = (world: World, id: string) => world.devices[id];
  const joined = applyCommand(openWorld(1), "bedroom-speaker", { group: "Speaker", volume: 10 });
  const later = tick(joined, 10);
  const skipped = applyCommand(later, "bedroom-speaker", { next: true });
  const left = tick(applyCommand(skipped, "bedroom-speaker", { group: "Bedroom speaker" }), 5);

  const {
    volume: own,
    muted: _muted,
    groupName: _name,
    ...heard
  } = playerOf(later, "bedroom-speaker") ?? {};
  const { volume, muted: _silent, groupName: _other, ...played } = playerOf(later, "speaker") ?? {};
  assert.deepEqual([own, volume], [10, 35]);
  assert.deepEqual(heard, played);
  assert.deepEqual([heard["group"], heard["elapsed"]], ["Speaker", 92]);
  assert.equal(playerOf(skipped, "speaker")?.["title"], "Paper Boats");
  assert.deepEqual(
    ["group", "playback"].map((field) => playerOf(left, "bedroom-speaker")?.[field]),
    ["Bedroom speaker", "stopped"],
  );
  assert.deepEqual(
    ["group", "playback", "elapsed"].map((field) => playerOf(left, "speaker")?.[field]),
    ["Speaker", "playing", 5],
  );
});

test("a player that joins its own follower makes it the leader, and a leader stays one when asked to", () => {
  const joined = applyCommand(openWorld(1), "bedroom-speaker", { group: "Speaker" });
  const still = applyCommand(joined, "speaker", { group: "Speaker" });
  const turned = applyCommand(still, "speaker", { group: "Bedroom speaker" });
  const groups = ({ devices }: World) =>
    ["speaker", "bedroom-speaker"].map((id) => devices[id]?.["group"]);

  assert.deepEqual(groups(still), ["Speaker", "Speaker"]);
  assert.deepEqual(groups(turned), ["Bedroom speaker", "Bedroom speaker"]);
  assert.equal(turned.devices["bedroom-speaker"]?.["playback"], "playing");
});

test("a fan runs at the speed it is set to, and speed 0 stops it and keeps the speed", () => {
  const runs = applyCommand(openWorld(1), "extractor", { speed: 80 });
  const stands = applyCommand(runs, "extractor", { speed: 0 });

  assert.deepEqual(runs.devices["extractor"], { on: true, speed: 80 });
  assert.deepEqual(stands.devices["extractor"], { on: false, speed: 80 });
});

test("the ceiling fan has six speeds, and its light is switched alone", () => {
  const slower = applyCommand(openWorld(1), "ceiling-fan", { speed: 16 });
  const lit = applyCommand(slower, "ceiling-fan/light", { on: true, brightness: 40 });

  assert.equal(value(slower, "ceiling-fan", "speed"), 100 / 6);
  assert.deepEqual(lit.devices["ceiling-fan"], slower.devices["ceiling-fan"]);
  assert.deepEqual(lit.devices["ceiling-fan/light"], {
    on: true,
    brightness: 40,
    colorTemperature: 2700,
  });
});

test("the alarm arms after a while, and is disarmed by its code only", () => {
  const arming = applyCommand(openWorld(1), "alarm", { mode: "away" });
  const armed = after(arming, 300);

  assert.deepEqual(arming.devices["alarm"], { mode: "away", status: "arming" });
  assert.deepEqual(armed.devices["alarm"], { mode: "away", status: "armed" });
  for (const command of [{ mode: "disarmed" }, { mode: "disarmed", code: "0000" }]) {
    assert.throws(() => applyCommand(armed, "alarm", command), { code: "invalid" });
  }
  const disarmed = applyCommand(armed, "alarm", { mode: "disarmed", code: "1234" });
  assert.deepEqual(disarmed.devices["alarm"], { mode: "disarmed", status: "disarmed" });
});

test("the robot cleans, waits, returns and charges", () => {
  const actionOf = (world: World) => world.devices["robot"]?.["action"];
  const cleaning = applyCommand(openWorld(1), "robot", { start: true, fanSpeed: "strong" });
  const used = tick(cleaning, 60);
  const paused = applyCommand(used, "robot", { pause: true });
  const home = after(applyCommand(paused, "robot", { dock: true }), 600);

  assert.equal(actionOf(cleaning), "cleaning");
  assert.equal(cleaning.devices["robot"]?.["fanSpeed"], "strong");
  assert.equal(value(used, "robot", "battery"), 95);
  assert.equal(actionOf(after(paused, HOUR)), "paused");
  assert.ok(["docked", "cleaning"].some((action) => action === actionOf(home)));
  assert.equal(actionOf(applyCommand(openWorld(1), "robot", { dock: true })), "docked");
});

test("the humidifier reaches its target and holds it, and stops when it is off", () => {
  const held = after(openWorld(1), 3 * HOUR);
  const off = tick(applyCommand(held, "humidifier", { on: false }), 60);

  assert.ok(Math.abs(value(held, "humidifier", "humidity") - 45) < 2);
  assert.equal(off.devices["humidifier"]?.["action"], "off");
});

test("water flows now and then, and not through a closed valve", () => {
  const world = after(openWorld(1), 6 * HOUR);
  const closed = applyCommand(world, "water", { on: false });
  const later = after(closed, 6 * HOUR);

  assert.ok(value(world, "water", "water") > 318.402);
  assert.equal(value(later, "water", "water"), value(closed, "water", "water"));
  assert.equal(value(later, "water", "flow"), 0);
});

test("values of an earlier version that no device has any more are dropped", () => {
  const world = openWorld(1);
  const left = {
    ...world,
    devices: { ...world.devices, blinds: { position: 5, moving: "stopped" } },
  };

  assert.deepEqual(openWorld(1, left).devices["blinds"], { position: 5, action: "stopped" });
});
