import type { TObject } from "typebox";
import { DisposeScope } from "../dispose.ts";
import { MantelError } from "../errors.ts";
import type { Plugin } from "../plugin.ts";
import type { PluginApi, TrialRequest } from "../protocol.ts";
import {
  type SetupContext,
  type SetupStep,
  type Trial,
  type TrialContext,
  TRIALS,
} from "../trial.ts";
import { createDiscover } from "./discover.ts";
import type { Guard } from "./guard.ts";
import type { HostLink } from "./host-link.ts";
import { createLog } from "./log.ts";
import { createCall } from "./services.ts";

interface Loaded {
  readonly id: string;
  readonly code: Plugin;
  readonly guard: Guard;
}

/** The trials that a plugin implements. */
export function trialsOf(plugin: Plugin): Trial[] {
  return TRIALS.filter((name) => plugin[name] !== undefined);
}

/** Runs one trial of a plugin, `test` or `setup`. The process runs nothing else and ends with the trial. */
export class TrialRunner {
  readonly #plugin: Loaded;
  readonly #host: HostLink;
  readonly #scope = new DisposeScope();
  readonly #ended = new AbortController();
  #step = 0;
  /** Resolves the question of the current step; `undefined` when the step has no form. */
  #answered: ((answer: unknown) => void) | undefined;

  constructor(plugin: Loaded, host: HostLink) {
    this.#plugin = plugin;
    this.#host = host;
  }

  test(request: TrialRequest): Promise<string> {
    return this.#run(async ({ test }) => String(await test?.(this.#context(request))));
  }

  setup(request: TrialRequest): Promise<unknown> {
    return this.#run(({ setup }) => setup?.(this.#setupContext(request)));
  }

  /** @throws MantelError `invalid` if that step is not waiting for an answer */
  answer({ step, answer }: Parameters<PluginApi["answer"]>[0]): void {
    const answered = this.#answered;
    if (!answered || step !== this.#step) {
      throw new MantelError("invalid", `step ${step} of the setup is not waiting for an answer`);
    }
    this.#answered = undefined;
    this.#plugin.guard.learnFromConfig(answer);
    answered(answer);
  }

  async #run<T>(work: (code: Plugin) => T): Promise<Awaited<T>> {
    try {
      return await work(this.#plugin.code);
    } finally {
      this.#ended.abort();
      await this.#scope.dispose(); // closes connections properly before the process ends
    }
  }

  #context({ config, home, uses }: TrialRequest): TrialContext<unknown> {
    const { id, guard } = this.#plugin;
    guard.learnFromConfig(config);
    return {
      id,
      config,
      home,
      log: createLog(this.#host),
      signal: this.#ended.signal,
      onDispose: this.#scope.onDispose,
      call: createCall(id, uses, this.#host),
      discover: createDiscover(this.#host),
    };
  }

  #setupContext(request: TrialRequest): SetupContext<unknown> {
    const context = this.#context(request) as TrialContext<Partial<unknown>>;
    return {
      ...context,
      show: (step) => this.#show(step),
      ask: (step) => this.#ask(step) as never,
    };
  }

  #ask(step: SetupStep & { readonly form: TObject }): Promise<unknown> {
    return new Promise((resolve) => {
      this.#show(step);
      this.#answered = resolve;
    });
  }

  #show(step: SetupStep & { readonly form?: TObject }): void {
    this.#answered = undefined;
    this.#host.notify("showStep", { ...step, step: ++this.#step });
  }
}
