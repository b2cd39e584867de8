import type { TObject } from "typebox";
import { Errors } from "typebox/schema";
import { withDefaults } from "./defaults.ts";
import type { DiscoveryRequest } from "./discovery.ts";
import { MantelError } from "./errors.ts";
import { type Declared, requireSearch } from "./manifest-rights.ts";
import type { Plugin } from "./plugin.ts";
import type { HostApi, LogRecord, ServiceRequest, ShownStep, TrialRequest } from "./protocol.ts";
import type { HostLink } from "./runtime/host-link.ts";
import { TrialRunner } from "./runtime/trial-runner.ts";
import { type ProvidedService, serviceKey } from "./service.ts";
import { declaredIn } from "./testing-manifest.ts";
import { answerSearch, type FakeNetwork } from "./testing-network.ts";
import { callFake } from "./testing-service.ts";

/** The options of `testOptions` and `setUp`. */
export interface TrialTestOptions {
  /** The options that the user has entered. Defaults are filled in. */
  readonly config?: unknown;
  /** The manifest, as for `startPlugin`. */
  readonly manifest?: URL | object;
  /** Fakes of the services that the plugin calls, each as `provide(definition, handler)`. */
  readonly services?: readonly ProvidedService[];
  /** The network behind `ctx.discover`; absent means one without devices. */
  readonly network?: FakeNetwork;
}

/** The options of `setUp`. */
export interface SetUpOptions extends TrialTestOptions {
  /**
   * The user's answer to each step with a form, in order; a function gets the step. Defaults of the form are filled in.
   */
  readonly answers?: readonly (object | ((step: ShownStep) => object))[];
}

/** A finished setup. */
export interface SetUpResult {
  /** The options that the setup changes. */
  readonly options: unknown;
  /** All shown steps. */
  readonly steps: readonly ShownStep[];
  readonly logs: readonly LogRecord[];
}

/**
 * The plugin's options with the defaults of its schema, as the host passes them to it.
 * @throws MantelError `invalid`, if they do not fit the schema
 */
export function completeOptions(plugin: Plugin, config: unknown = {}): unknown {
  return plugin.options ? fitting(plugin.options, config, "the config") : config;
}

/**
 * Runs the plugin's `test` with these options, as the settings do, and resolves with its sentence.
 * @throws MantelError `invalid` for wrong options, and the plugin's own error
 */
export async function testOptions(
  plugin: Plugin,
  { config, services = [], network, manifest }: TrialTestOptions = {},
): Promise<string> {
  const declared = declaredIn(manifest);
  const runner = new TrialRunner(loaded(plugin), new TrialHost(services, { network, declared }));
  return runner.test(requestOf(completeOptions(plugin, config), services, declared));
}

/**
 * Runs the plugin's `setup` with the answers of a user.
 * @throws MantelError `invalid` for an answer that does not fit its form, and without one
 */
export async function setUp(
  plugin: Plugin,
  { config = {}, services = [], network, answers = [], manifest }: SetUpOptions = {},
): Promise<SetUpResult> {
  const declared = declaredIn(manifest);
  const host = new TrialHost(services, { network, declared });
  const runner = new TrialRunner(loaded(plugin), host);
  const left = [...answers];
  const failed = new Promise<never>((_resolve, reject) => {
    host.onForm = (step, form) => {
      try {
        if (left.length === 0) throw new MantelError("invalid", `"${step.title}" has no answer`);
        const next = left.shift();
        const given = typeof next === "function" ? next(step) : next;
        const answer = fitting(form, given, `the answer to "${step.title}"`);
        runner.answer({ step: step.step, answer });
      } catch (error) {
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    };
  });
  const done = runner.setup(requestOf(config, services, declared));
  const options = await Promise.race([done, failed]);
  return { options, steps: host.steps, logs: host.logs };
}

function loaded(plugin: Plugin) {
  const nothing = () => undefined;
  const guard = {
    learnFromConfig: nothing,
    learnFromService: nothing,
    connectionLost: nothing,
    lastDenial: nothing,
  };
  return { id: "test", code: plugin, guard };
}

function requestOf(
  config: unknown,
  services: readonly ProvidedService[],
  declared: Declared | undefined,
): TrialRequest {
  const home = { locale: "en-GB", timeZone: "Europe/Berlin", pollSeconds: 30 };
  const given = services.map(({ definition }) => serviceKey(definition));
  return { config, home, uses: declared ? (declared.manifest.uses ?? []) : given };
}

function fitting(schema: TObject, value: unknown, what: string): unknown {
  const complete = withDefaults(schema, value);
  const [fits, faults] = Errors(schema, complete);
  if (fits) return complete;
  const errors = faults.map(({ instancePath, message }) => ({
    pointer: instancePath,
    detail: message,
  }));
  const [{ pointer, detail } = { pointer: "", detail: "does not fit" }] = errors;
  const place = pointer || "the whole value";
  throw new MantelError("invalid", `${what} is invalid: ${place} ${detail}`, { errors });
}

/** The host as trials see it: steps, the log and services. */
class TrialHost implements HostLink {
  readonly steps: ShownStep[] = [];
  readonly logs: LogRecord[] = [];
  readonly #services: readonly ProvidedService[];
  readonly #network: FakeNetwork;
  readonly #declared: Declared | undefined;
  onForm: (step: ShownStep, form: TObject) => void = () => undefined;

  constructor(
    services: readonly ProvidedService[],
    {
      network = {},
      declared,
    }: { network?: FakeNetwork | undefined; declared: Declared | undefined },
  ) {
    this.#services = services;
    this.#network = network;
    this.#declared = declared;
  }

  async call<M extends keyof HostApi>(
    method: M,
    input: Parameters<HostApi[M]>[0],
  ): Promise<Awaited<ReturnType<HostApi[M]>>> {
    if (method === "discoverMdns" || method === "discoverSsdp") {
      if (this.#declared) requireSearch(this.#declared);
      return answerSearch(this.#network, method, input as DiscoveryRequest) as never;
    }
    if (method !== "callService") throw new MantelError("invalid", `a trial cannot ${method}`);
    const { name, input: given } = input as ServiceRequest;
    return (await callFake(this.#services, name, given)) as never;
  }

  notify<M extends keyof HostApi>(method: M, input: Parameters<HostApi[M]>[0]): void {
    if (method === "log") this.logs.push(input as LogRecord);
    if (method !== "showStep") return;
    const step = input as ShownStep;
    this.steps.push(step);
    const { form } = step;
    // The plugin waits for the answer from the next turn on.
    if (form) queueMicrotask(() => this.onForm(step, form as TObject));
  }
}
