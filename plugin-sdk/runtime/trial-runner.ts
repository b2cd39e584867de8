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
import type { Guard } from "./guard.ts";
import type { HostLink } from "./host-link.ts";
import { createLog } from "./log.ts";
import { createCall } from "./runner.ts";

interface Loaded {
  readonly id: string;
  readonly code: Plugin;
  readonly guard: Guard;
}

/** The trials that a plugin has. */
export function trialsOf(plugin: Plugin): Trial[] {
  return TRIALS.filter((name) => plugin[name] !== undefined);
}

/** Runs one trial of a plugin: `test` or `setup`. The process has no other work and ends with it. */
export class TrialRunner {
  readonly #plugin: Loaded;
  readonly #host: HostLink;
  readonly #scope = new DisposeScope();
  readonly #ended = new AbortController();
  #step = 0;
  /** Takes the answer to the step that was shown last, when that one asks. */
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

  /** @throws MantelError `invalid` when that step does not ask, or does not any more */
  answer({ step, answer }: Parameters<PluginApi["answer"]>[0]): void {
    const answered = this.#answered;
    if (!answered || step !== this.#step) {
      throw new MantelError("invalid", `step ${step} of the setup waits for no answer`);
    }
    this.#answered = undefined;
    this.#plugin.guard.configured(answer);
    answered(answer);
  }

  async #run<T>(work: (code: Plugin) => T): Promise<Awaited<T>> {
    try {
      return await work(this.#plugin.code);
    } finally {
      this.#ended.abort();
      await this.#scope.dispose(); // the process ends anyway; this is for the other side
    }
  }

  #context({ config, house, uses }: TrialRequest): TrialContext<unknown> {
    const { id, guard } = this.#plugin;
    guard.configured(config);
    return {
      ...{ id, config, house },
      log: createLog(this.#host),
      signal: this.#ended.signal,
      onDispose: this.#scope.onDispose,
      call: createCall(id, uses, this.#host),
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
