import { type Static, Type } from "@mantel/plugin-sdk";

const Days = Type.Integer({ minimum: 1, maximum: 3_650 });

export const Options = Type.Object({
  url: Type.Optional(
    Type.String({
      title: "PostgreSQL",
      description: "postgres://user@host/database; absent means a file of this machine",
      pattern: "^postgres(ql)?://[^ ]+$",
      maxLength: 1_000,
    }),
  ),
  password: Type.Optional(
    Type.String({ title: "Password of PostgreSQL", writeOnly: true, maxLength: 1_000 }),
  ),
  rawDays: Type.Integer({
    title: "Days in which each report is kept",
    description: "statistics of five minutes and hours are kept for ever",
    minimum: 1,
    maximum: 3_650,
    default: 10,
  }),
  logbookDays: Type.Integer({
    title: "Days of the logbook",
    minimum: 1,
    maximum: 3_650,
    default: 90,
  }),
  maxMiB: Type.Optional(
    Type.Integer({
      title: "Size in MiB above which the oldest reports are deleted",
      description: "2,048 for a file if absent, of at most 4,096; no limit for PostgreSQL",
      minimum: 16,
      maximum: 1_048_576,
    }),
  ),
  devices: Type.Optional(
    Type.Record(
      Type.String({ maxLength: 150 }),
      Type.Object({ rawDays: Type.Optional(Days), record: Type.Optional(Type.Boolean()) }),
      { title: "Exceptions by device id" },
    ),
  ),
});
export type Options = Static<typeof Options>;
