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
`,
];
