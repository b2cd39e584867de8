import type { Client, ClientConfig } from "pg";
import { StorageUnusable } from "./storage.ts";

const CONNECT_MS = 5_000;
const QUERY_MS = 60_000;

export type PostgresRow = Readonly<Record<string, unknown>>;

/** A connection to PostgreSQL with at most one open transaction. */
export class PostgresClient {
  readonly #client: Client;
  #lost: Error | undefined;
  #inTransaction = false;

  /** @throws StorageUnusable if the server cannot be reached */
  static async connect(config: ClientConfig): Promise<PostgresClient> {
    // On demand, because pg makes Node load all of fetch, which takes more time and memory than the rest of the recorder.
    const { Client: PgClient } = await import("pg");
    const times = { connectionTimeoutMillis: CONNECT_MS, query_timeout: QUERY_MS };
    const client = new PostgresClient(new PgClient({ ...times, ...config }));
    try {
      await client.#client.connect();
    } catch (error) {
      await client.end();
      throw toStorageError(error);
    }
    return client;
  }

  private constructor(client: Client) {
    this.#client = client;
    client.on("error", (error) => (this.#lost = error));
  }

  /** Runs one statement. @throws StorageUnusable for faults of the server or the network; others as they are */
  async all(sql: string, values: readonly unknown[] = []): Promise<PostgresRow[]> {
    if (this.#lost) throw toStorageError(this.#lost);
    try {
      return (await this.#client.query<PostgresRow>(sql, [...values])).rows;
    } catch (error) {
      throw toStorageError(error);
    }
  }

  /** Runs several statements without values. @throws as `all` */
  async script(sql: string): Promise<void> {
    await this.#client.query(sql).catch((error: unknown) => {
      throw toStorageError(error);
    });
  }

  /** Begins a transaction, if none is open. */
  async begin(): Promise<void> {
    if (this.#inTransaction) return;
    await this.all("BEGIN");
    this.#inTransaction = true;
  }

  /** Ends the open transaction, if there is one. */
  async commit(): Promise<void> {
    if (!this.#inTransaction) return;
    await this.all("COMMIT");
    this.#inTransaction = false;
  }

  async rollback(): Promise<void> {
    if (!this.#inTransaction) return;
    this.#inTransaction = false;
    await this.#client.query("ROLLBACK").catch(() => undefined); // the connection is lost
  }

  async end(): Promise<void> {
    await this.#client.end().catch(() => undefined); // it was never connected, or is lost
  }
}

/** Faults of SQL stay as they are; everything else is the server's or the network's. */
function toStorageError(error: unknown): unknown {
  if (error instanceof StorageUnusable) return error;
  const { code = "", message } = error as { readonly code?: string; readonly message: string };
  const isFaultOfQuery = /^(22|23|42)/.test(code);
  if (isFaultOfQuery) return error;
  return new StorageUnusable(`PostgreSQL cannot be used: ${message}`, { cause: error });
}
