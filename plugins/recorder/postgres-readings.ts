import type { PostgresClient } from "./postgres-client.ts";
import { HOUR_MS } from "./statistics.ts";

const DAY_MS = 24 * HOUR_MS;

/** The days into which the rows of reports are cut, so that old ones are dropped without a trace. */
export interface Days {
  /** Makes room for reports of these instants. */
  prepare(instants: readonly number[]): Promise<void>;
  /** Drops the days that ended before an instant. */
  dropBefore(at: number): Promise<void>;
  /** Called when a transaction was rolled back, in which days may have been made. */
  forget(): void;
}

/** The days of the table `mantel.reading`: chunks of TimescaleDB, or partitions of PostgreSQL. */
export async function findDays(client: PostgresClient): Promise<Days> {
  const [table] = await client.all(
    "SELECT relkind FROM pg_class WHERE oid = 'mantel.reading'::regclass",
  );
  return table?.["relkind"] === "p" ? new PartitionedDays(client) : hypertableDays(client);
}

/** True if TimescaleDB is there for the database. */
export async function hasTimescale(client: PostgresClient): Promise<boolean> {
  const has = async (sql: string): Promise<boolean> => (await client.all(sql)).length > 0;
  if (await has("SELECT FROM pg_extension WHERE extname = 'timescaledb'")) return true;
  // A server that has not loaded it ends the connection of those who create it.
  const isLoaded = "SELECT WHERE current_setting('shared_preload_libraries') LIKE '%timescaledb%'";
  if (!(await has(isLoaded))) return false;
  try {
    await client.all("CREATE EXTENSION timescaledb");
    return true;
  } catch {
    return false; // the user may not create it
  }
}

/** Makes the empty table `mantel.reading` a hypertable with a chunk for each day, where TimescaleDB is there. */
export async function createHypertable(client: PostgresClient): Promise<void> {
  await client.all(
    "SELECT create_hypertable('mantel.reading', 'at', chunk_time_interval => INTERVAL '1 day')",
  );
}

function hypertableDays(client: PostgresClient): Days {
  return {
    prepare: () => Promise.resolve(), // TimescaleDB makes its chunks
    forget: () => undefined,
    async dropBefore(at) {
      const values = [new Date(at).toISOString()];
      await client.all("SELECT drop_chunks('mantel.reading', $1::timestamptz)", values);
    },
  };
}

/** A partition of the table of reports. */
interface Partition {
  readonly name: string;
  /** Epoch milliseconds; -Infinity for the reports from before there were days. */
  readonly from: number;
  readonly to: number;
}

/** Partitions of a day in UTC, such as `reading_20261120`. `reading_until_20261120` has all reports before that day. */
class PartitionedDays implements Days {
  readonly #client: PostgresClient;
  /** The days that have a partition, in epoch milliseconds. */
  readonly #known = new Set<number>();

  constructor(client: PostgresClient) {
    this.#client = client;
  }

  async prepare(instants: readonly number[]): Promise<void> {
    const days = new Set(instants.map((at) => Math.floor(at / DAY_MS) * DAY_MS));
    const missing = [...days].filter((day) => !this.#known.has(day));
    if (missing.length === 0) return;
    const partitions = await this.#read();
    for (const day of missing) {
      const isThere = partitions.some(({ from, to }) => from <= day && day < to);
      if (!isThere) await this.#create(day);
      this.#known.add(day);
    }
  }

  async #create(day: number): Promise<void> {
    const [from, to] = [day, day + DAY_MS].map((at) => new Date(at).toISOString());
    const name = `reading_${from?.slice(0, 10).replaceAll("-", "")}`;
    await this.#client.all(
      `CREATE TABLE mantel.${name} PARTITION OF mantel.reading FOR VALUES FROM ('${from}') TO ('${to}')`,
    );
  }

  async dropBefore(at: number): Promise<void> {
    const old = (await this.#read()).filter(({ to }) => to <= at);
    if (old.length > 0) this.#known.clear();
    for (const { name } of old) await this.#client.all(`DROP TABLE mantel.${name}`);
  }

  forget(): void {
    this.#known.clear();
  }

  async #read(): Promise<Partition[]> {
    const rows = await this.#client.all(
      `SELECT relname AS name FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
        WHERE inhparent = 'mantel.reading'::regclass`,
    );
    return rows.map(({ name }) => partitionOf(String(name)));
  }
}

function partitionOf(name: string): Partition {
  const [, until, year, month, day] = /^reading_(until_)?(\d{4})(\d\d)(\d\d)$/.exec(name) ?? [];
  const at = Date.UTC(Number(year), Number(month) - 1, Number(day));
  return until === undefined
    ? { name, from: at, to: at + DAY_MS }
    : { name, from: -Infinity, to: at };
}
