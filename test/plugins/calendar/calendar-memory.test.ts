import assert from "node:assert/strict";
import { test } from "node:test";
import type { Agenda } from "../../../plugins/calendar/agenda.ts";
import { CalendarMemory } from "../../../plugins/calendar/calendar-memory.ts";

const AT = "2026-11-20T08:00:00.000Z";

/** An agenda with two sources, of which the second is private, and what it was told. */
function agendaOf() {
  const told: { confirmed: [string, string][]; private: string[] } = { confirmed: [], private: [] };
  const source = (id: string, isPrivate: boolean, fetchedAt?: Date) => ({
    id,
    isPrivate,
    fetchedAt,
    wasConfirmed: (at: Date) => told.confirmed.push([id, at.toISOString()]),
  });
  const sources = [source("family", false, new Date(AT)), source("work", true)];
  const agenda = { sources, wasPrivate: (ids: string[]) => (told.private = ids) };
  return { told, agenda: agenda as unknown as Agenda };
}

function storageOf(values: Record<string, unknown> = {}) {
  const used: string[] = [];
  const storage = {
    get: async (key: string) => {
      used.push(`get ${key}`);
      return values[key];
    },
    set: async (key: string, value: unknown) => {
      used.push(`set ${key}`);
      values[key] = value;
    },
  };
  return { used, values, storage: storage as never };
}

test("confirmations and private sources are stored, and recalled by the next start", async () => {
  const { storage, values } = storageOf();
  const first = new CalendarMemory(storage);
  const { agenda, told } = agendaOf();
  await first.recall(agenda, undefined);
  await first.keepPrivate(agenda);
  await first.keepConfirmations(agenda);

  await new CalendarMemory(storage).recall(agenda, undefined);

  assert.deepEqual(values, { private: ["work"], confirmations: { family: AT } });
  assert.deepEqual(told, { confirmed: [["family", AT]], private: ["work"] });
});

test("a reload hands them over, and neither generation touches the storage", async () => {
  const { storage, used } = storageOf({ private: ["work"], confirmations: {} });
  const old = new CalendarMemory(storage);
  await old.recall(agendaOf().agenda, undefined);
  used.length = 0;

  const { agenda } = agendaOf();
  const state = old.handOver(agenda);
  await old.keepConfirmations(agenda);
  const next = new CalendarMemory(storage);
  const { agenda: nextAgenda, told } = agendaOf();
  await next.recall(nextAgenda, state);
  await next.keepPrivate(nextAgenda);

  assert.deepEqual(state, { confirmations: { family: AT }, private: ["work"] });
  assert.deepEqual(told, { confirmed: [["family", AT]], private: ["work"] });
  assert.deepEqual(used, []);
});

test("damaged stored facts count as none", async () => {
  const { storage } = storageOf({ private: "work", confirmations: { family: "no time" } });
  const { agenda, told } = agendaOf();

  await new CalendarMemory(storage).recall(agenda, undefined);

  assert.deepEqual(told, { confirmed: [], private: [] });
});
