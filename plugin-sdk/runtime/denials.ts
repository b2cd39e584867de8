import { relative, resolve } from "node:path";
import { HOST_FOLDERS } from "../permissions.ts";
import type { PrepareRequest } from "../protocol.ts";

/** What Node says of an access that its permission model has refused. */
interface NodeDenial extends Error {
  readonly code?: string;
  readonly permission?: string;
  readonly resource?: unknown;
}

/** A plugin that tries one thing after the other fills no log. */
const MOST_REPORTED = 20;

/** Makes the errors for what a plugin may not do: each names the plugin, the thing, and the line to add. */
export class Denials {
  readonly #id: string;
  readonly #dataFolder: string;
  readonly #report: (sentence: string) => void;
  readonly #reported = new Set<string>();

  constructor({ id, dataFolder }: PrepareRequest, report: (sentence: string) => void) {
    this.#id = id;
    this.#dataFolder = dataFolder;
    this.#report = report;
  }

  /** @param line what would permit it among the hosts of the manifest */
  host(host: string, line: string): Error {
    return this.#denial("Net", host, this.#undeclared(host, `"${line}"`, "hosts"));
  }

  /** @param on such as `port 80`, or the path of a socket */
  listening(on: string): Error {
    return this.#denial("Net", on, this.#undeclared(`listening on ${on}`, '"listen": true'));
  }

  addon(file: string): Error {
    const sentence = this.#undeclared(`the native addon ${file}`, '"nativeAddons": true');
    return this.#denial("Addons", file, sentence);
  }

  process(pid: number): Error {
    const sentence = this.#undeclared(`the process ${pid}`, '"childProcesses": true');
    return this.#denial("ChildProcess", String(pid), sentence);
  }

  /**
   * Gives Node's own refusals our sentence. Node makes them all in one place and sets what was reached
   * for last, as the property `resource`, so a setter that errors inherit sees each of them; to wrap
   * the two hundred functions that may be refused would be more, and would slow them down.
   */
  explainNodes(): void {
    const explain = (error: NodeDenial) => this.#explain(error);
    // oxlint-disable-next-line eslint/no-extend-native -- see above; this process runs one plugin
    Object.defineProperty(Error.prototype, "resource", {
      configurable: true,
      set(this: NodeDenial, value: unknown) {
        const property = { value, configurable: true, enumerable: true, writable: true };
        Object.defineProperty(this, "resource", property);
        if (this.code === "ERR_ACCESS_DENIED") explain(this);
      },
    });
  }

  #explain(error: NodeDenial): void {
    const sentence = this.#sentenceFor(error.permission, String(error.resource));
    if (sentence === undefined) return;
    this.#tell(sentence);
    const { stack, message } = error;
    error.message = sentence;
    if (stack !== undefined) error.stack = stack.replace(message, () => sentence); // it repeats it
  }

  #sentenceFor(permission: string | undefined, resource: string): string | undefined {
    switch (permission) {
      case "FileSystemRead":
        return this.#file(resolve(resource), "read");
      case "FileSystemWrite":
        return this.#file(resolve(resource), "write");
      case "ChildProcess": // Node 20 does not say which
        return this.#undeclared(resource || "another program", '"childProcesses": true');
      case "WorkerThreads":
        return this.#undeclared("a worker thread", '"workerThreads": true');
      default:
        return undefined; // such as the inspector, which nothing in a manifest opens
    }
  }

  #file(path: string, access: "read" | "write"): string {
    const [folder = "", ...below] = relative(this.#dataFolder, path).split("/");
    const isOutside = folder === "..";
    const isOfHost = below.length === 0 || HOST_FOLDERS.includes(folder);
    if (isOutside && access === "read") return this.#undeclared(path, `"${path}"`, "folders");
    if (!isOutside && !isOfHost) return this.#undeclared(path, `"${folder}"`, "folders");
    return `${this.#id} reaches for ${path}, which no plugin may ${access}: keep files in the working folder, or add a name to "mantel.permissions.folders" in its package.json and use the path that ctx.folder gives`;
  }

  #undeclared(what: string, line: string, list?: string): string {
    const key = ["mantel", "permissions", ...(list === undefined ? [] : [list])].join(".");
    return `${this.#id} reaches for ${what}, which its manifest does not declare: add ${line} to "${key}" in its package.json`;
  }

  #denial(permission: string, resource: string, sentence: string): Error {
    this.#tell(sentence);
    const error = new Error(sentence);
    // The code comes last: the setter of `resource` takes an error that has it for one of Node's.
    return Object.assign(error, { permission, resource, code: "ERR_ACCESS_DENIED" });
  }

  #tell(sentence: string): void {
    if (this.#reported.has(sentence) || this.#reported.size >= MOST_REPORTED) return;
    this.#reported.add(sentence);
    this.#report(sentence);
  }
}
