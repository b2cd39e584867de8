import { syncBuiltinESMExports } from "node:module";
import os from "node:os";
import workerThreads, { type WorkerOptions } from "node:worker_threads";
import { Hosts } from "../hosts.ts";
import type { PrepareRequest } from "../protocol.ts";
import { closeUndeclared } from "./close-undeclared.ts";
import { type ConnectionLost, guardNetwork } from "./network.ts";
import { PermissionErrors } from "./permission-errors.ts";
import { apply, construct, defineProperty, freeze, toNumber } from "./primordials.ts";
import type { NetworkLink } from "./proxied-connections.ts";

/** Updates for the installed guard. */
export interface Guard {
  /** Allows the hosts in the plugin's options that the manifest declares. */
  learnFromConfig(config: unknown): void;
  /** Allows the hosts in a service's answer if the manifest declares the service. */
  learnFromService(service: string, answer: unknown): void;
  readonly connectionLost: ConnectionLost;
  /** The sentence of the last denied permission, except for files. */
  lastDenial(): string | undefined;
}

/**
 * Enforces the manifest's permissions in this process. Runs before any code of the plugin. Each error names the
 * manifest line to add. Node's permission model, enabled by the host, denies files, child processes, threads and
 * addons. This guard denies hosts, ports, signals and the gaps that Node leaves open. It also works when a plugin
 * replaces built-in methods, but not against code that obtains an internal handle of Node: only the kernel's
 * sandbox stops that.
 *
 * @param report receives each kind of error once
 */
export function guard(
  request: PrepareRequest,
  report: (sentence: string) => void,
  link: NetworkLink,
): Guard {
  const { permissions, network } = request;
  const permissionErrors = new PermissionErrors(request, report);
  const hosts = new Hosts(permissions.hosts ?? []);
  permissionErrors.explainNodes();
  const mayListen = permissions.listen ?? false;
  const connectionLost = guardNetwork({ network, hosts, mayListen, permissionErrors, link });
  closeUndeclared(permissions, permissionErrors);
  if (!permissions.nativeAddons) guardAddons(permissionErrors);
  if (!permissions.childProcesses) guardProcesses(permissionErrors);
  if (permissions.workerThreads) guardThreads(permissionErrors);
  syncBuiltinESMExports();
  return freeze({
    learnFromConfig: (config: unknown) => hosts.learnFromConfig(config),
    learnFromService: (service: string, answer: unknown) => hosts.learnFromService(service, answer),
    connectionLost,
    lastDenial: () => permissionErrors.last,
  });
}

/** Node's own error for addons does not name the file. */
function guardAddons(permissionErrors: PermissionErrors): void {
  put(process, "dlopen", (_module: object, file: string) => {
    throw permissionErrors.addon(file);
  });
}

/** Denies signals to other processes and changes of their priority. The own process and its group are allowed. */
function guardProcesses(permissionErrors: PermissionErrors): void {
  const { pid: self } = process;
  const requireOwn = (target: unknown): number => {
    const pid = toNumber(target); // converted once, because an object may convert differently each time
    if (pid !== self && pid !== -self && pid !== 0) throw permissionErrors.process(pid);
    return pid;
  };
  for (const name of ["kill", "_kill"] as const) {
    const send = Reflect.get(process, name) as (...args: unknown[]) => unknown;
    put(process, name, (pid: unknown, signal: unknown) =>
      apply(send, process, [requireOwn(pid), signal]),
    );
  }
  const { setPriority } = os;
  put(os, "setPriority", (pid: number, priority?: number) => {
    if (priority === undefined) return setPriority(pid); // the only argument is this process's priority
    setPriority(requireOwn(pid), priority);
  });
}

/** Denies thread options that would lift permissions. By default Node passes the process's permissions on. */
function guardThreads(permissionErrors: PermissionErrors): void {
  const { SHARE_ENV, Worker } = workerThreads;
  const guarded: typeof Worker = new Proxy(Worker, {
    construct(_, [file, given]: [string, WorkerOptions?], type): object {
      const options = { ...given }; // a copy, because a getter may return another value next time
      if (options.execArgv !== undefined) throw permissionErrors.thread("execArgv");
      if (options.env === SHARE_ENV) throw permissionErrors.thread("env");
      return construct(Worker, [file, options], type === guarded ? Worker : type);
    },
  });
  put(Worker.prototype, "constructor", guarded);
  put(workerThreads, "Worker", guarded);
}

/** Replaces a function of Node permanently. */
function put(owner: object, name: string, value: object): void {
  defineProperty(owner, name, { value: freeze(value), writable: false, configurable: false });
}
