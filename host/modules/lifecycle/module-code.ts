import { MantelError } from "@mantel/plugin-sdk/errors";
import type { ModuleFault } from "../../api/module.ts";
import type { ApiPaths } from "../../routes/api-paths.ts";
import type { ServiceCall } from "../../services/registry.ts";
import { ProvidedServices } from "../calls/provided-services.ts";
import type { Consents } from "../consent/consents.ts";
import { configuredLimits } from "../manifest/limits.ts";
import type { PluginPackage } from "../manifest/manifest.ts";
import { networkOf } from "../process/network/network-of.ts";
import { confinementOf } from "../process/sandbox/confinement.ts";
import type { Kernel } from "../process/sandbox/kernel.ts";
import type { ModuleLog } from "../state/logs.ts";
import type { HandoverResult } from "../state/reload-result.ts";
import { ModuleStatus } from "../state/status.ts";
import { ModuleVersions } from "../versions/module-versions.ts";
import type { VersionStore } from "../versions/version-store.ts";
import { type Build, isReplaceableBy, type Version } from "../versions/version.ts";
import { ModuleConsent } from "./module-consent.ts";
import { Server, type ServerDependencies } from "./server.ts";
import { Widget, type WidgetAssets } from "./widget.ts";

export interface ModuleCodeDependencies extends ServerDependencies {
  readonly apiPaths: ApiPaths;
  readonly assets: WidgetAssets;
  readonly consents: Consents;
  readonly kernel: Kernel;
  readonly log: ModuleLog;
  readonly versionStore: VersionStore;
  /** True for a plugin of the repository that runs from its own folder there. */
  readonly isShipped: (plugin: PluginPackage) => boolean;
}

/** The callbacks to the module. */
interface CodeOwner {
  /** Called after each change of the view. */
  readonly changed: () => void;
  /** Called when this code of the widget, or none, is served from now on. */
  readonly onServed: (hash: string | undefined) => void;
  /** Called when new code crashed on probation and the build before it works again. */
  readonly onRollback: (previous: Build, fault: ModuleFault) => void;
  /** Runs `work` while nothing else changes the module. */
  readonly enqueue: (work: () => Promise<void>) => void;
}

/** The code of one module: its versions, both sides of the running one, and what it provides. */
export interface ModuleCode {
  readonly status: ModuleStatus;
  readonly versions: ModuleVersions;
  readonly consent: ModuleConsent;
  readonly provided: ProvidedServices;
  readonly widget: Widget;
  /** Absent for a plugin that is only a widget. */
  readonly server: Server | undefined;
}

export function createModuleCode(
  plugin: PluginPackage,
  parts: ModuleCodeDependencies,
  { changed, onServed, onRollback, enqueue }: CodeOwner,
): ModuleCode {
  const { id } = plugin;
  const { config, inspect, kernel, log } = parts;
  const status = new ModuleStatus(plugin, {
    changed,
    widget: () => widget.view,
    limitsOf: (which) => configuredLimits(config.current, which),
    confinementOf: ({ manifest }) =>
      confinementOf(manifest, {
        kernelReason: kernel.reason,
        isDebugged: (inspect.get(id) ?? config.current.modules[id]?.inspect) !== undefined,
        network: networkOf(manifest.permissions ?? {}),
      }),
  });
  const versions = new ModuleVersions(plugin, { ...parts, id, status, store: parts.versionStore });
  const consent = new ModuleConsent({ id, status, log, versions, consents: parts.consents });
  const confirm = () => consent.confirm();
  const server =
    plugin.manifest.server === undefined
      ? undefined
      : new Server({ id, status, log, versions, confirm, onRollback, enqueue }, parts);
  const provider = {
    id,
    definitions: () => server?.process.services.values() ?? [],
    callService: (call: ServiceCall) =>
      server?.process.callService(call) ?? Promise.reject(withoutServer(id)),
  };
  const provided = new ProvidedServices(provider, parts);
  const widget = new Widget(id, { ...parts, onServed });
  return { status, versions, consent, provided, widget, server };
}

/** The error for a call to a module that is only a widget. */
export function withoutServer(id: string): MantelError {
  return new MantelError("module_down", `${id} has no server side`);
}

/**
 * Starts the version on disk. If that does not start or was rolled back, starts the last good version.
 * Returns the error of the version on disk if the last good version had to start because of it.
 */
export async function startOnDisk(code: ModuleCode): Promise<unknown> {
  const { versions, provided, widget, server } = code;
  const plugin = versions.onDisk;
  provided.claim(plugin);
  await versions.readHistory();
  const last = await versions.lastGood();
  const wasRolledBack = await isRolledBack(code, plugin);
  const widgetPlugin = wasRolledBack && last ? last.plugin : plugin;
  const widgetFailure = await widget.start(widgetPlugin, wasRolledBack);
  const failure = (await server?.start(plugin, wasRolledBack)) ?? widgetFailure;
  recordRunning(code, versions.server?.plugin ?? plugin);
  versions.replaced(last, versions.running(widget.bundle));
  versions.hasPendingVersion = failure !== undefined || versions.isRolledBack;
  return failure;
}

/** Starts the last good version, because the one on disk waits for consent. @throws MantelError `consent_needed` */
export async function startLastGood(code: ModuleCode): Promise<undefined> {
  const { versions, consent, provided, widget, server } = code;
  const last = await versions.lastGood();
  if (!last || !isReplaceableBy(versions.plugin, last.plugin)) throw consent.error;
  provided.claim(last.plugin);
  await versions.readHistory();
  if (last.widget) await widget.start(last.plugin, true);
  if (last.server) await server?.startLastGood(last.server);
  recordRunning(code, last.plugin);
  versions.hasPendingVersion = true;
}

/** Rolls back to this version. @throws MantelError `reload_failed`; the running one continues */
export async function returnTo(
  code: ModuleCode,
  { plugin, server: build, widget: bundle }: Version,
): Promise<HandoverResult | undefined> {
  const { status, versions, provided, widget, server } = code;
  const before = versions.running(widget.bundle);
  const work = () => build && server?.rollBack(build);
  const swap = await provided.during(plugin, versions.plugin, work);
  widget.serve(plugin, bundle);
  recordRunning(code, plugin);
  status.widgetChanged(plugin, build === undefined);
  versions.hasPendingVersion = true;
  versions.rolledBack(before);
  return swap;
}

/** True if someone rolled back the version on disk, and it has not changed since. */
export async function isRolledBack(
  { versions, widget, server }: ModuleCode,
  plugin: PluginPackage,
): Promise<boolean> {
  if (!versions.isRolledBack) return false;
  try {
    const build = await server?.compile(plugin);
    const bundle = await widget.build(plugin);
    return versions.wasRolledBack({ plugin, server: build, widget: bundle });
  } catch {
    return false; // the version on disk has changed, and is invalid
  }
}

/** Records that this plugin runs, and withdraws what only the one before provided. */
export function recordRunning({ versions, provided }: ModuleCode, plugin: PluginPackage): void {
  const before = versions.plugin;
  if (before !== plugin) provided.replace(before, plugin);
  versions.plugin = plugin;
}
