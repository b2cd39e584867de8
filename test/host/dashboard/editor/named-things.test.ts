import assert from "node:assert/strict";
import { test } from "node:test";
import type { Device } from "@mantel/plugin-sdk/device";
import { signal } from "@preact/signals-core";
import { namedThings } from "../../../../host/dashboard/editor/named-things.ts";

const READING = { type: "number", readOnly: true } as const;

function device(kind: string, capabilities: object, groups: readonly string[] = []): Device {
  return { kind, capabilities, groups } as unknown as Device;
}

const DEVICES = [
  device("sensor", { temperature: READING, carbonDioxide: READING, open: { type: "boolean" } }),
  device("sensor", { temperature: READING }, ["Cellar"]),
  device("media-player", { volume: { type: "number" } }, ["Cellar", "Attic"]),
];

function channels(values: Readonly<Record<string, unknown>>) {
  return { channel: (name: string) => signal(values[name]) };
}

test("measured values, kinds and groups are offered once each, by name", () => {
  const { field, kind, group } = namedThings(DEVICES, channels({}));

  assert.deepEqual(
    { field, kind, group },
    {
      field: [
        ["carbonDioxide", "Carbon dioxide"],
        ["temperature", "Temperature"],
      ],
      kind: [
        ["media-player", "Media player"],
        ["sensor", "Sensor"],
      ],
      group: [
        ["Attic", "Attic"],
        ["Cellar", "Cellar"],
      ],
    },
  );
});

test("scenes and calendars are offered in their order, as soon as they are known", () => {
  const known = channels({
    scenes: [
      { id: "host:scene:movie", name: "Movie" },
      { id: "host:scene:dinner", name: "Dinner" },
    ],
    calendar: { sources: [{ id: "work", name: "Work" }] },
  });

  const { scene, calendar } = namedThings([], known);

  assert.deepEqual(scene, [
    ["host:scene:movie", "Movie"],
    ["host:scene:dinner", "Dinner"],
  ]);
  assert.deepEqual(calendar, [["work", "Work"]]);
  assert.deepEqual(namedThings([], channels({})).scene, []);
});
