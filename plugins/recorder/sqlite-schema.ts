/** The version of the tables, in the header of the file. */
export const VERSION = 1;

/** Creates the tables of an empty file. */
export const SCHEMA = `
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
  PRAGMA user_version = ${VERSION};
`;
