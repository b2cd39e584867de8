import { relative, resolve } from "node:path";
import { HOST_FOLDERS } from "../host-folders.ts";
import type { PrepareRequest } from "../protocol.ts";
import { assign, defineProperty } from "./primordials.ts";

/** Node's error for an access that its permission model denied. */
interface NodeDenial extends Error {
  readonly code?: string;
  readonly permission?: string;
  readonly resource?: unknown;
}

/** Limits the log lines of a plugin that tries many things. */
const MOST_REPORTED = 20;

/** Creates permission errors. Each names the plugin, the denied access and the manifest line to add. */
export class PermissionErrors {
  readonly #id: string;
  readonly #dataFolder: string;
  readonly #report: (sentence: string) => void;
  readonly #reported = new Set<string>();
  /** The last permissionError, except of files: packages look for many files that they do not need. */
  #last: string | undefined;

  constructor({ id, dataFolder }: PrepareRequest, report: (sentence: string) => void) {
    this.#id = id;
    this.#dataFolder = dataFolder;
    this.#report = report;
  }

  /** The sentence of the last permissionError that may be the cause of a failure. */
  get last(): string | undefined {
    return this.#last;
  }

  /** @param line the entry in `permissions.hosts` that would allow the host */
  host(host: string, line: string): Error {
    return this.#permissionError("Net", host, this.#undeclared(host, `"${line}"`, "hosts"));
  }

  /** @param on such as `port 80`, or the path of a socket */
  listening(on: string): Error {
    return this.#permissionError(
      "Net",
      on,
      this.#undeclared(`a listener on ${on}`, '"listen": true'),
    );
  }

  /**
   * Datagrams, which the host does not relay.
   * @param line the entry in `permissions.hosts` that is missing as well
   */
  datagrams(line: string | undefined): Error {
    const also = line === undefined ? "" : `, and "${line}" to "mantel.permissions.hosts"`;
    const sentence = this.#undeclared("datagrams (UDP)", '"openNetwork": "always"');
    const advice = `"network:local" alone allows connections, and ctx.discover to find devices`;
    return this.#permissionError("Net", "datagrams (UDP)", `${sentence}${also}; ${advice}`);
  }

  /** @param what such as `Resolver.setServers`, which the host does not do */
  openNetwork(what: string): Error {
    return this.#permissionError("Net", what, this.#undeclared(what, '"openNetwork": "always"'));
  }

  addon(file: string): Error {
    const sentence = this.#undeclared(`the native addon ${file}`, '"nativeAddons": true');
    return this.#permissionError("Addons", file, sentence);
  }

  process(pid: number): Error {
    const sentence = this.#undeclared(`the process ${pid}`, '"childProcesses": true');
    return this.#permissionError("ChildProcess", String(pid), sentence);
  }

  /** @param on such as `process.execve` */
  program(on: string): Error {
    return this.#permissionError(
      "ChildProcess",
      on,
      this.#undeclared(on, '"childProcesses": true'),
    );
  }

  sqlite(): Error {
    const sentence = this.#undeclared("the module node:sqlite", '"sqlite": true');
    return this.#permissionError("Sqlite", "node:sqlite", sentence);
  }

  thread(option: string): Error {
    const sentence = `permission denied: ${this.#id} uses the option ${option} of a worker thread, which would lift the plugin's permissions; start the thread without it`;
    return this.#permissionError("WorkerThreads", option, sentence);
  }

  /** @param what a function that no manifest can allow */
  closed(what: string, advice: string): Error {
    const sentence = `permission denied: ${this.#id} uses ${what}, which no plugin may use; ${advice}`;
    return this.#permissionError("Closed", what, sentence);
  }

  /**
   * Replaces the message of Node's own permission errors. Node creates them all in one place and sets the property
   * `resource` last, so an inherited setter sees each of them. Wrapping the two hundred functions that can be denied
   * would need more code and slow them down.
   */
  explainNodes(): void {
    const explain = (error: NodeDenial) => this.#explain(error);
    defineProperty(Error.prototype, "resource", {
      set(this: NodeDenial, value: unknown) {
        const property = { value, configurable: true, enumerable: true, writable: true };
        defineProperty(this, "resource", property);
        if (this.code === "ERR_ACCESS_DENIED") explain(this);
      },
    });
  }

  #explain(error: NodeDenial): void {
    const sentence = this.#sentenceFor(error.permission, String(error.resource));
    if (sentence === undefined) return;
    this.#reportOnce(sentence);
    if (error.permission?.startsWith("FileSystem") !== true) this.#last = sentence;
    const { stack, message } = error;
    error.message = sentence;
    if (stack !== undefined) error.stack = stack.replace(message, () => sentence); // the stack repeats the message
  }

  #sentenceFor(permission: string | undefined, resource: string): string | undefined {
    switch (permission) {
      case "FileSystemRead":
        return this.#file(resolve(resource), "read");
      case "FileSystemWrite":
        return this.#file(resolve(resource), "write");
      case "ChildProcess": // Node 20 does not name the program
        return this.#undeclared(resource || "another program", '"childProcesses": true');
      case "WorkerThreads":
        return this.#undeclared("a worker thread", '"workerThreads": true');
      case "WASI":
        return `permission denied: ${this.#id} uses node:wasi, which no plugin may use; load the module with WebAssembly itself`;
      default:
        return undefined;
    }
  }

  #file(path: string, access: "read" | "write"): string {
    const [folder = "", ...below] = relative(this.#dataFolder, path).split("/");
    const isOutside = folder === "..";
    const isOfHost = below.length === 0 || HOST_FOLDERS.includes(folder);
    if (isOutside && access === "read") return this.#undeclared(path, `"${path}"`, "folders");
    if (!isOutside && !isOfHost) return this.#undeclared(path, `"${folder}"`, "folders");
    return `permission denied: ${this.#id} uses ${path}, which no plugin may ${access}; keep files in the working folder, or add a name to "mantel.permissions.folders" in its package.json and use the path from ctx.folder`;
  }

  #undeclared(what: string, line: string, list?: string): string {
    const key = ["mantel", "permissions", ...(list === undefined ? [] : [list])].join(".");
    return `permission denied: ${this.#id} uses ${what}, which its manifest does not declare; add ${line} to "${key}" in its package.json`;
  }

  #permissionError(permission: string, resource: string, sentence: string): Error {
    this.#reportOnce(sentence);
    this.#last = sentence;
    const error = new Error(sentence);
    // `code` is assigned last: the setter of `resource` treats an error with this code as one of Node's.
    return assign(error, { permission, resource, code: "ERR_ACCESS_DENIED" });
  }

  #reportOnce(sentence: string): void {
    if (this.#reported.has(sentence) || this.#reported.size >= MOST_REPORTED) return;
    this.#reported.add(sentence);
    this.#report(sentence);
  }
}
