import { Api, ApiError } from "../../../../host/dashboard/api.ts";
import type {
  AutomationDocument,
  StoredAutomation,
} from "../../../../host/dashboard/automations/document.ts";

/** The automation that the host has at first. */
export const WELCOME: StoredAutomation = {
  id: "welcome",
  revision: 1,
  name: "Welcome light",
  enabled: true,
  mode: "single",
  triggers: [{ type: "state", device: "demo:binary-sensor:1", field: "contact", to: false }],
  conditions: [],
  actions: [
    { type: "command", device: "demo:light:1", command: { on: true } },
    { type: "blink", times: 3 },
  ],
};

/** The automations of a host as its API gives them: each answer is a copy, and a save needs the revision. */
export class FakeAutomations extends Api {
  readonly stored = new Map<string, StoredAutomation>([[WELCOME.id, WELCOME]]);
  /** The requests that change something. */
  readonly sent: string[] = [];
  /** Milliseconds for which automations were switched off. */
  readonly snoozed = new Map<string, number>();
  /** Files that were added to the sources, by name. */
  readonly files = new Map<string, string>();
  /** The answer to every change. */
  failure: ApiError | undefined;
  traces: readonly unknown[] = [];
  /** The ids of those that are code. One that is not stored is a file that could not be loaded. */
  readonly code = new Set<string>();

  constructor() {
    super(() => undefined);
  }

  override async get<T>(path: string): Promise<T> {
    if (path === "/automations") {
      const broken = [...this.code].filter((id) => !this.stored.has(id));
      const all = [
        ...this.stored.values(),
        ...broken.map((id) => ({ id, name: id, enabled: true, error: `${id}: not loaded` })),
      ];
      const automations = all.map((each) => ({
        ...each,
        kind: this.code.has(each.id) ? "code" : "document",
        lastRun: null,
        ...(this.snoozed.has(each.id) && { enabled: false, offUntil: "2026-11-20T19:31:00Z" }),
      }));
      return structuredClone({ automations }) as T;
    }
    if (path === "/automations/webhooks") return { path: "/hooks/secret" } as T;
    const [, id = "", rest] = /^\/automations\/([^/]+)(\/traces|\/code)?$/.exec(path) ?? [];
    const found = this.stored.get(id);
    if (!found) throw new ApiError(404, { code: "not_found", detail: path });
    if (rest === "/code") return { code: `when(${found.name})` } as T;
    return structuredClone(rest === undefined ? found : { traces: this.traces }) as T;
  }

  override async post<T>(path: string, body?: unknown): Promise<T> {
    this.sent.push(`POST ${path}`);
    if (this.failure) throw this.failure;
    const [, file] = /^\/modules\/automations\/sources\/([\w.-]+)$/.exec(path) ?? [];
    if (file !== undefined) return void this.files.set(file, (body as { code: string }).code) as T;
    const [, id = "", verb] = /^\/automations\/([^/]+)\/(\w+)$/.exec(path) ?? [];
    const found = this.stored.get(id);
    if (path === "/automations")
      return this.put(`new-${this.stored.size}`, body as AutomationDocument) as T;
    if (!found) throw new ApiError(404, { code: "not_found", detail: path });
    const { forMs } = (body ?? {}) as { forMs?: number };
    if (forMs !== undefined) this.snoozed.set(id, forMs);
    else if (verb === "enable" || verb === "disable")
      this.put(id, { ...found, enabled: verb === "enable" });
    return {} as T;
  }

  override async change<T>(
    method: "PUT" | "POST" | "PATCH",
    path: string,
    { body, revision }: { body?: unknown; revision: number },
  ): Promise<T> {
    this.sent.push(`${method} ${path} at ${revision}`);
    if (this.failure) throw this.failure;
    const id = path.slice("/automations/".length);
    const found = this.stored.get(id);
    if (!found) throw new ApiError(404, { code: "not_found", detail: path });
    if (found.revision !== revision) throw new ApiError(412, { code: "revision_stale" });
    return this.put(id, body as AutomationDocument) as T;
  }

  override async delete<T>(path: string): Promise<T> {
    this.sent.push(`DELETE ${path}`);
    if (this.failure) throw this.failure;
    this.stored.delete(path.slice("/automations/".length));
    return undefined as T;
  }

  /** Stores a document, as a save of this or another screen does. */
  put(id: string, content: AutomationDocument): StoredAutomation {
    const revision = (this.stored.get(id)?.revision ?? 0) + 1;
    const stored = { ...structuredClone(content), id, revision };
    this.stored.set(id, stored);
    return structuredClone(stored);
  }
}
