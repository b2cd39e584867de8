import type { PostgresClient } from "./postgres-client.ts";
import { createHypertable, hasTimescale } from "./postgres-readings.ts";
import { StorageUnusable } from "./storage.ts";

/** The statements that bring a database to each version of its tables, from 1. The version is in `mantel.version`. */
export const MIGRATIONS: readonly string[] = [
  `
  CREATE SCHEMA IF NOT EXISTS mantel;
  CREATE TABLE mantel.version (version int NOT NULL);
  INSERT INTO mantel.version VALUES (1);
  CREATE TABLE mantel.device (id text PRIMARY KEY, name text NOT NULL, room text, kind text NOT NULL);
  CREATE TABLE mantel.series (id int PRIMARY KEY, device text NOT NULL, field text NOT NULL, unit text,
    is_counter boolean NOT NULL, carry_value float8, carry_known float8, closed_hour int NOT NULL DEFAULT -1,
    UNIQUE (device, field));
  CREATE TABLE mantel.alive (id int PRIMARY KEY, at bigint NOT NULL);
  CREATE TABLE mantel.reading (series int NOT NULL, at timestamptz NOT NULL, value float8);
  CREATE INDEX reading_series ON mantel.reading (series, at);
  CREATE TABLE mantel.five_minutes (series int NOT NULL, at timestamptz NOT NULL, min float8, mean float8, max float8,
    sum float8 NOT NULL, known_ms float8 NOT NULL, PRIMARY KEY (series, at));
  CREATE TABLE mantel.hourly (series int NOT NULL, hour int NOT NULL, at timestamptz NOT NULL, min float8, mean float8,
    max float8, sum float8 NOT NULL, known_ms float8 NOT NULL, last float8, PRIMARY KEY (series, hour));
  CREATE TABLE mantel.cause (id serial PRIMARY KEY, hash text NOT NULL UNIQUE, json text NOT NULL, keys text NOT NULL);
  CREATE TABLE mantel.entry (id bigserial PRIMARY KEY, at bigint NOT NULL, kind text NOT NULL, device text,
    what text NOT NULL, before_value text, after_value text, cause int NOT NULL);
  CREATE INDEX entry_at ON mantel.entry (at, id);
  CREATE INDEX entry_device ON mantel.entry (device, at, id);
  CREATE INDEX entry_cause ON mantel.entry (cause, at, id);
  CREATE INDEX entry_reachable ON mantel.entry (device, id) WHERE kind IN ('availability', 'removed');
`,
  `
  CREATE TABLE mantel.run (number bigserial PRIMARY KEY, id text NOT NULL UNIQUE, automation text NOT NULL,
    name text NOT NULL, at bigint NOT NULL, ended_at bigint NOT NULL, result text NOT NULL, error text,
    cause int NOT NULL, trace text NOT NULL);
  CREATE INDEX run_at ON mantel.run (at, number);
  CREATE INDEX run_automation ON mantel.run (automation, at, number, result);
  ALTER TABLE mantel.entry ADD COLUMN times text;
  ALTER TABLE mantel.entry ADD COLUMN run text;
  CREATE UNIQUE INDEX entry_run ON mantel.entry (run) WHERE run IS NOT NULL;
  UPDATE mantel.entry SET kind = 'run', what = trim(after_value, '"'), after_value = NULL
    WHERE kind = 'record' AND what = 'automation.run' AND after_value IS NOT NULL;
  DO $$
  DECLARE tomorrow date := (now() AT TIME ZONE 'UTC')::date + 1;
  DECLARE last timestamptz := tomorrow || 'T00:00:00Z';
  DECLARE name text := 'reading_until_' || to_char(tomorrow, 'YYYYMMDD');
  BEGIN
    -- a table of TimescaleDB has its days already
    IF EXISTS (SELECT FROM pg_extension WHERE extname = 'timescaledb') THEN RETURN; END IF;
    EXECUTE format('ALTER TABLE mantel.reading RENAME TO %I', name);
    ALTER INDEX mantel.reading_series RENAME TO reading_until_series;
    CREATE TABLE mantel.reading (series int NOT NULL, at timestamptz NOT NULL, value float8) PARTITION BY RANGE (at);
    CREATE INDEX reading_series ON mantel.reading (series, at);
    IF EXISTS (SELECT FROM mantel.series) THEN
      EXECUTE format('DELETE FROM mantel.%I WHERE at >= %L', name, last);
      EXECUTE format('ALTER TABLE mantel.reading ATTACH PARTITION mantel.%I FOR VALUES FROM (MINVALUE) TO (%L)',
        name, last);
    ELSE
      EXECUTE format('DROP TABLE mantel.%I', name);
    END IF;
  END $$;
`,
];

/** Brings the tables to the present version. @throws StorageUnusable if a newer Mantel has written them */
export async function prepare(client: PostgresClient): Promise<void> {
  const version = await versionOf(client);
  if (version > MIGRATIONS.length) {
    throw new StorageUnusable(
      "the history was written by a newer version of Mantel; update Mantel, or use another database",
    );
  }
  if (version < MIGRATIONS.length) {
    const isHypertable = version === 0 && (await hasTimescale(client));
    await client.begin();
    for (const statements of MIGRATIONS.slice(version)) await client.script(statements);
    await client.all("UPDATE mantel.version SET version = $1", [MIGRATIONS.length]);
    if (isHypertable) await createHypertable(client);
    await client.commit();
  }
  await client.all("SET search_path TO mantel, public");
}

/** The version of the tables; 0 if there are none. */
async function versionOf(client: PostgresClient): Promise<number> {
  const [found] = await client.all("SELECT to_regclass('mantel.version') AS name");
  if (found?.["name"] === null) return 0;
  const [row] = await client.all("SELECT version FROM mantel.version");
  return Number(row?.["version"]);
}
