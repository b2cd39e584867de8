/** The statements that bring a file to each version of its tables, from 1. The version is in the header of the file. */
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE device (id TEXT PRIMARY KEY, name TEXT NOT NULL, room TEXT, kind TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE series (id INTEGER PRIMARY KEY, device TEXT NOT NULL, field TEXT NOT NULL, unit TEXT,
    is_counter INTEGER NOT NULL, carry_value REAL, carry_known REAL,
    closed_hour INTEGER NOT NULL DEFAULT -1, UNIQUE (device, field));
  CREATE TABLE alive (id INTEGER PRIMARY KEY, at INTEGER NOT NULL);
  CREATE TABLE recent (id INTEGER PRIMARY KEY, hour INTEGER NOT NULL, data BLOB NOT NULL);
  CREATE TABLE curve (id INTEGER PRIMARY KEY, data BLOB NOT NULL);
  CREATE TABLE five (id INTEGER PRIMARY KEY, data BLOB NOT NULL);
  CREATE TABLE hourly (id INTEGER PRIMARY KEY, min REAL, mean REAL, max REAL, sum REAL NOT NULL,
    known_ms INTEGER NOT NULL, last REAL);
  CREATE TABLE cause (id INTEGER PRIMARY KEY, json TEXT NOT NULL UNIQUE, keys TEXT NOT NULL);
  CREATE TABLE entry (id INTEGER PRIMARY KEY, at INTEGER NOT NULL, kind TEXT NOT NULL, device TEXT, what TEXT NOT NULL,
    before_value TEXT, after_value TEXT, cause INTEGER NOT NULL);
  CREATE INDEX entry_at ON entry (at, id);
  CREATE INDEX entry_device ON entry (device, at, id);
  CREATE INDEX entry_cause ON entry (cause, at, id);
  CREATE INDEX entry_reachable ON entry (device, id) WHERE kind IN ('availability', 'removed');
`,
  `
  CREATE TABLE run (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, automation TEXT NOT NULL, name TEXT NOT NULL,
    at INTEGER NOT NULL, ended_at INTEGER NOT NULL, result TEXT NOT NULL, error TEXT, cause INTEGER NOT NULL,
    trace BLOB NOT NULL);
  CREATE INDEX run_at ON run (at, number);
  CREATE INDEX run_automation ON run (automation, at, number, result);
  ALTER TABLE entry ADD COLUMN times TEXT;
  ALTER TABLE entry ADD COLUMN run TEXT;
  CREATE UNIQUE INDEX entry_run ON entry (run) WHERE run IS NOT NULL;
  UPDATE entry SET kind = 'run', what = trim(after_value, '"'), after_value = NULL
    WHERE kind = 'record' AND what = 'automation.run' AND after_value IS NOT NULL;
`,
];
