import { migrated, type Versions } from "@mantel/plugin-sdk/document-version";
import { parseJsonText } from "@mantel/plugin-sdk/json-text";
import type { TSchema } from "typebox";
import { KeyFile } from "../auth/keys.ts";
import { USES_MIGRATIONS, UsesFile } from "../auth/last-use.ts";
import { FeedFile } from "../calendar/feed-addresses.ts";
import { ChannelsFile } from "../channels/kept.ts";
import { parseDocument } from "../config/document.ts";
import { moveCredentialsFromUrl } from "../config/environment.ts";
import { KeyTable } from "../config/keys.ts";
import { DeviceIdsFile } from "../devices/device-ids.ts";
import { OverridesFile } from "../devices/overrides.ts";
import { ReadingsFile } from "../devices/sensor-history.ts";
import { JsonShape } from "../json-shape.ts";
import { StoredLayout } from "../layout/history.ts";
import { parseLayout } from "../layout/parse.ts";
import { ConsentsFile } from "../modules/consent/consents.ts";
import { LOCK_FILE, LockFile } from "../packages/lock.ts";
import { ScenesFile } from "../scenes/schema.ts";
import { SchedulesFile } from "../schedule/scheduler.ts";
import { check } from "../validate.ts";
import { requireWithinLimits } from "./limits.ts";

/**
 * Enough for twenty thousand devices of several bridges; a list of empty values in 32 MiB would take 1 GiB of
 * memory.
 */
const LIMITS = { maxDepth: 64, maxParts: 1_000_000 };

interface Kind extends Partial<Versions> {
  /** @throws MantelError `invalid` */
  readonly parse: (value: unknown, name: string) => unknown;
}

const keys = new KeyTable();
const config: Kind = {
  version: 0,
  parse: (value) => parseDocument(moveCredentialsFromUrl(value), keys),
};
const by = (schema: TSchema): Kind["parse"] => {
  return (value, name) => check(schema, value, name);
};

/** The parsers of the documents' owners. */
const KINDS: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  ["layout.json", { parse: parseLayout }],
  ["config.json", config],
  ["secrets.json", config],
  ["scenes.json", { parse: by(ScenesFile) }],
  ["devices.json", { parse: by(DeviceIdsFile) }],
  ["scene-numbers.json", { parse: by(DeviceIdsFile) }],
  ["device-wishes.json", { parse: by(OverridesFile) }],
  ["readings.json", { parse: by(ReadingsFile) }],
  ["channels.json", { parse: by(ChannelsFile) }],
  ["schedules.json", { parse: by(SchedulesFile) }],
  ["calendar-feeds.json", { parse: by(FeedFile) }],
  ["consents.json", { parse: by(ConsentsFile) }],
  [LOCK_FILE, { parse: by(LockFile) }],
  ["keys.json", { version: 0, parse: by(KeyFile) }],
  ["token-use.json", { migrations: USES_MIGRATIONS, parse: by(UsesFile) }],
]);
const LAYOUT_REVISION: Kind = { version: 0, parse: by(StoredLayout) };
/** For a document without a kind, only its JSON and its version are checked. */
const UNKNOWN: Kind = { parse: (value) => value };

/**
 * Checks each document of the host by the schema it is read with. Files in folders belong to
 * plugins and users, except for the history of the layout.
 *
 * @throws MantelError `invalid` for a damaged one, or one of a newer Mantel
 */
export function assertDocuments(files: ReadonlyMap<string, Buffer>): void {
  for (const [path, bytes] of files) {
    const kind = kindOf(path);
    if (kind) assertDocument(kind, path, bytes);
  }
}

function kindOf(path: string): Kind | undefined {
  if (/^layout-history\/\d{1,15}\.json$/.test(path)) return LAYOUT_REVISION;
  return /^[^/]+\.json$/.test(path) ? (KINDS.get(path) ?? UNKNOWN) : undefined;
}

function assertDocument(
  { version = 1, migrations = {}, parse }: Kind,
  path: string,
  bytes: Buffer,
): void {
  requireWithinLimits(new JsonShape().add(bytes), LIMITS, path);
  const value = parseJsonText(bytes.toString(), path);
  parse(migrated(value, { version, migrations }, path), path);
}
