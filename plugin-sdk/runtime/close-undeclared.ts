import inspector from "node:inspector";
import inspectorPromises from "node:inspector/promises";
import module from "node:module";
import v8 from "node:v8";
import type { Permissions } from "../permissions.ts";
import type { PermissionErrors } from "./permission-errors.ts";
import { apply, defineProperty, freeze } from "./primordials.ts";

/** Forbidden functions and classes of one object, with advice for plugin authors. */
interface Closing {
  readonly owner: object | undefined;
  /** The owner's name in source code. */
  readonly called: string;
  readonly names: readonly string[];
  readonly advice: string;
}

const DEBUGGING = 'start Mantel with "npm run dev -- --inspect <id>" to debug a plugin';
const USER = "a plugin's process cannot change its user";
const INTERNALS = "use Node's documented modules";
const WRITING = "it writes files by itself; use ctx.log and ctx.storage";
const LOADING = "import the module, so that the host bundles it";

const FOR_EVERY_PLUGIN: readonly Closing[] = [
  {
    owner: process,
    called: "process",
    advice: DEBUGGING,
    names: [
      ...["_debugProcess", "_debugEnd"],
      ...["_startProfilerIdleNotifier", "_stopProfilerIdleNotifier"],
    ],
  },
  ...[inspector, inspectorPromises].map((owner) => ({
    owner,
    called: "inspector",
    advice: DEBUGGING,
    names: ["Session", "open", "close", "waitForDebugger"],
  })),
  {
    owner: process,
    called: "process",
    advice: USER,
    names: ["setuid", "seteuid", "setgid", "setegid", "setgroups", "initgroups"],
  },
  {
    owner: process,
    called: "process",
    advice: INTERNALS,
    names: ["binding", "_linkedBinding"],
  },
  {
    owner: v8,
    called: "v8",
    advice: WRITING,
    names: ["setFlagsFromString", "setHeapSnapshotNearHeapLimit"],
  },
  {
    owner: builtin("trace_events"),
    called: "trace_events",
    advice: WRITING,
    names: ["createTracing"],
  },
  {
    owner: module,
    called: "module",
    advice: LOADING,
    names: ["register", "registerHooks"],
  },
];

/**
 * Replaces the functions of Node that no plugin may use, or that this plugin has not declared, with functions that
 * throw. Every import of a Node module gives the same object, so replacing them there is enough. Node's permission
 * model itself denies child processes (also of `cluster` and `test`), WASI and `process.loadEnvFile` of other files.
 */
export function closeUndeclared(
  permissions: Permissions,
  permissionErrors: PermissionErrors,
): void {
  for (const closing of FOR_EVERY_PLUGIN) {
    close(closing, (what) => permissionErrors.closed(what, closing.advice));
  }
  closeReport(permissionErrors);
  if (!permissions.sqlite) closeSqlite(permissionErrors);
  if (!permissions.childProcesses) {
    close({ owner: process, called: "process", names: ["execve"] }, (what) =>
      permissionErrors.program(what),
    );
  }
}

/** Reports the missing permission also where the host starts Node without the SQLite module. */
function closeSqlite(permissionErrors: PermissionErrors): void {
  const names = ["DatabaseSync", "StatementSync", "Session", "backup"];
  close({ owner: builtin("sqlite"), called: "sqlite", names }, () => permissionErrors.sqlite());
  const load = Reflect.get(module, "_load") as (...args: unknown[]) => unknown;
  const guarded = (name: unknown, ...rest: unknown[]): unknown => {
    if (name === "node:sqlite") throw permissionErrors.sqlite();
    return apply(load, module, [name, ...rest]);
  };
  Reflect.set(module, "_load", guarded);
}

function close(
  { owner, called, names }: Omit<Closing, "advice">,
  permissionError: (what: string) => Error,
): void {
  for (const name of names) {
    if (owner === undefined || !(name in owner)) continue; // this Node does not have it
    // Not an arrow function, because classes are called with `new`.
    const refuse = function refuse(): never {
      throw permissionError(`${called}.${name}`);
    };
    defineProperty(owner, name, { value: freeze(refuse), writable: false, configurable: false });
  }
}

/**
 * Keeps `process.report.getReport`, with which packages detect the C library: it writes no file. They first set
 * `excludeNetwork`, which is always true here: a report never looks up host names.
 */
function closeReport(permissionErrors: PermissionErrors): void {
  const { report } = process;
  if (report === undefined) return;
  Reflect.set(report, "excludeNetwork", true);
  const getReport = report.getReport.bind(report);
  const writeReport = (): never => {
    throw permissionErrors.closed("process.report.writeReport", WRITING);
  };
  const value = freeze({
    getReport: freeze(getReport),
    writeReport: freeze(writeReport),
    get excludeNetwork() {
      return true;
    },
    set excludeNetwork(_) {}, // without a setter an assignment would throw
  });
  defineProperty(process, "report", { value, writable: false, configurable: false });
}

/** Finds a Node module that not every version of Node has. */
function builtin(name: string): object | undefined {
  return process.getBuiltinModule(`node:${name}`);
}
