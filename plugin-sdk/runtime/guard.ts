import { syncBuiltinESMExports } from "node:module";
import os from "node:os";
import type { PrepareRequest } from "../protocol.ts";
import { Denials } from "./denials.ts";
import { Hosts } from "./hosts.ts";
import { guardNetwork } from "./network.ts";

/** What is left to tell the guard once it stands. */
export interface Guard {
  /** From now on the plugin also reaches the hosts that people wrote into its options. */
  configured(config: unknown): void;
  /** And those in this answer of a service, when the manifest names it. */
  answered(service: string, answer: unknown): void;
}

/**
 * Keeps this process to what the plugin's manifest declares, before any code of the plugin runs, and
 * makes each refusal name the line to add. Node's permission model, which the host has switched on,
 * refuses files, programs, threads and addons; what is refused here, hosts and ports, code that is
 * determined to can get around.
 *
 * @param report hears each kind of refusal once
 */
export function guard(request: PrepareRequest, report: (sentence: string) => void): Guard {
  const { permissions } = request;
  const denials = new Denials(request, report);
  const hosts = new Hosts(permissions.hosts ?? []);
  denials.explainNodes();
  guardNetwork(hosts, permissions.listen ?? false, denials);
  if (!permissions.nativeAddons) guardAddons(denials);
  if (!permissions.childProcesses) guardProcesses(denials);
  return {
    configured: (config) => hosts.configured(config),
    answered: (service, answer) => hosts.answered(service, answer),
  };
}

/** Node refuses addons by itself, but does not say which. */
function guardAddons(denials: Denials): void {
  process.dlopen = (_module: object, file: string) => {
    throw denials.addon(file);
  };
}

/** Signals to others, and their priority; those to itself, and to the group of what it has started, may pass. */
function guardProcesses(denials: Denials): void {
  const own = [process.pid, -process.pid, 0];
  const requireOwn = (pid: unknown): void => {
    if (!own.includes(Number(pid))) throw denials.process(Number(pid));
  };
  for (const name of ["kill", "_kill", "_debugProcess"]) {
    const send = Reflect.get(process, name) as (...args: unknown[]) => unknown;
    Reflect.set(process, name, (pid: unknown, ...rest: unknown[]) => {
      requireOwn(pid);
      return send.call(process, pid, ...rest);
    });
  }
  const { setPriority } = os;
  os.setPriority = (pid: number, priority?: number) => {
    if (priority === undefined) return setPriority(pid); // of this process
    requireOwn(pid);
    setPriority(pid, priority);
  };
  syncBuiltinESMExports();
}
