import { MantelError } from "@mantel/plugin-sdk/errors";
import type { HostApi } from "@mantel/plugin-sdk/protocol";
import { type Handlers, NotBegun } from "@mantel/plugin-sdk/rpc";
import type { Trial } from "@mantel/plugin-sdk/trial";
import { type Static, Type } from "typebox";
import { optionSchema } from "../../config/option-schema.ts";
import type { ConfigStore } from "../../config/store.ts";
import { Heartbeat } from "../process/heartbeat.ts";
import type { PluginProcess } from "../process/plugin-process.ts";
import type { Build } from "../versions/version.ts";
import { type LoadedProcess, type ProcessLoader, homeAndServicesOf } from "./process-loader.ts";
import { SetupFlow, SETUP_MS, type SetupView } from "./setup-flow.ts";

const TEST_MS = 15_000;
const LOAD_MS = 10_000;
const ANSWER_MS = 2_000;
const DETAIL_LENGTH = 500;

/** The result of a test of options. */
export const TestResult = Type.Object({
  ok: Type.Boolean(),
  /** User-facing: the result or, if the test failed, the reason. */
  detail: Type.String(),
  durationMs: Type.Number(),
});
export type TestResult = Static<typeof TestResult>;

interface TrialsDependencies {
  readonly id: string;
  readonly config: ConfigStore;
  readonly loader: ProcessLoader;
  /** The build that runs, or ran last. */
  readonly build: () => Build | undefined;
}

interface UnderWay {
  readonly cancelled: AbortController;
  readonly ended: Promise<unknown>;
}

/**
 * Runs trials of one module's code in separate processes, which are confined like the module's and
 * publish nothing: `test` tries options without storing them, `setup` guides the user to options that
 * are then stored. The running process is not affected.
 */
export class TrialRuns {
  readonly #parts: TrialsDependencies;
  /** At most one of each kind. */
  readonly #underWay = new Map<Trial, UnderWay>();
  #setup: SetupFlow | undefined;

  constructor(parts: TrialsDependencies) {
    this.#parts = parts;
  }

  /**
   * Tries the options that the module would have after a merge patch of its section. Secrets that the
   * patch leaves out are taken from the stored options.
   *
   * @throws MantelError `invalid` if they do not fit; `module_busy`, `module_down`, `reload_failed`
   */
  test(patch: unknown): Promise<TestResult> {
    this.#assertPossible("test");
    return this.#inProcess("test", async (opened) => {
      const { id, config } = this.#parts;
      const options = config.optionsAfter(id, optionSchema(opened.loaded.options), patch);
      const startedAt = performance.now();
      const outcome = await this.#ask(opened, options);
      return { ...outcome, durationMs: Math.round(performance.now() - startedAt) };
    });
  }

  /**
   * Begins a setup. Its view shows its progress and its failures. @throws MantelError `module_busy`, `module_down`
   */
  beginSetup(): SetupView {
    this.#assertPossible("setup");
    let process: PluginProcess | undefined;
    const setup = new SetupFlow(async (answer) => process?.peer.call("answer", answer, ANSWER_MS));
    this.#setup = setup;
    const led = this.#inProcess(
      "setup",
      (opened) => {
        process = opened.generation;
        return this.#lead(setup, opened);
      },
      { showStep: (step) => this.#show(setup, step) },
    );
    led.then(
      () => setup.end("done"),
      (error: Error) => setup.end("failed", error.message.slice(0, DETAIL_LENGTH)),
    );
    return setup.view;
  }

  /** The running setup, or the last one. @throws MantelError `not_found` */
  get setup(): SetupView {
    return this.#known().view;
  }

  /** @throws MantelError `invalid` with every fault, or if that step expects no answer; `not_found` */
  async answerSetup(answer: { step: number; answer: unknown }): Promise<SetupView> {
    const setup = this.#known();
    await setup.answer(answer);
    return setup.view;
  }

  /** Cancels a running setup; its changes on the device or service remain. @throws MantelError `not_found` */
  async cancelSetup(): Promise<SetupView> {
    const setup = this.#known();
    setup.end("cancelled");
    await this.#cancel("setup");
    return setup.view;
  }

  /** Cancels all running trials. */
  async close(): Promise<void> {
    this.#setup?.end("cancelled");
    await Promise.all([this.#cancel("test"), this.#cancel("setup")]);
  }

  #known(): SetupFlow {
    if (this.#setup) return this.#setup;
    throw new MantelError("not_found", `no setup of ${this.#parts.id} has begun`);
  }

  #assertPossible(trial: Trial): void {
    const { id, build } = this.#parts;
    if (this.#underWay.has(trial)) {
      throw new MantelError("module_busy", `a ${trial} of ${id} is already running; end it first`);
    }
    if (build()) return;
    throw new MantelError("module_down", `the code of ${id} was never loaded; enable it first`);
  }

  /** Runs `work` with a new process that has the module's code; ends the process afterwards. */
  async #inProcess<T>(
    trial: Trial,
    work: (opened: LoadedProcess) => Promise<T>,
    api: Partial<Handlers<HostApi>> = {},
  ): Promise<T> {
    const cancelled = new AbortController();
    const ended = this.#open(trial, api).then((opened) => within(opened, work, cancelled.signal));
    this.#underWay.set(trial, { cancelled, ended: ended.catch(() => undefined) });
    try {
      return await ended;
    } finally {
      this.#underWay.delete(trial);
    }
  }

  async #open(trial: Trial, api: Partial<Handlers<HostApi>>): Promise<LoadedProcess> {
    const { id, loader, build } = this.#parts;
    const current = build();
    if (!current) throw new MantelError("module_down", `the code of ${id} is gone`);
    const opened = await loader.open(current, { deadlineMs: LOAD_MS, api, isTrial: true });
    const { trials } = opened.loaded as { trials: unknown }; // untrusted: from another process
    if (Array.isArray(trials) && trials.includes(trial)) return opened;
    await opened.generation.terminate();
    throw new MantelError("invalid", `${id} has no ${trial}`);
  }

  async #ask(opened: LoadedProcess, config: unknown): Promise<Pick<TestResult, "ok" | "detail">> {
    const { generation, build } = opened;
    const request = { config, ...homeAndServicesOf(build.plugin, this.#parts.config) };
    try {
      const found = await generation.peer.call("test", request, TEST_MS);
      return { ok: true, detail: String(found).slice(0, DETAIL_LENGTH) };
    } catch (error) {
      const { message } = await this.#explain(error, opened);
      return { ok: false, detail: message.slice(0, DETAIL_LENGTH) };
    }
  }

  async #lead(setup: SetupFlow, opened: LoadedProcess): Promise<void> {
    const { id, config } = this.#parts;
    const { generation, build, loaded } = opened;
    const { options } = config.optionsFor(id, optionSchema(loaded.options));
    const request = { config: options, ...homeAndServicesOf(build.plugin, config) };
    const patch = await generation.peer.call("setup", request, SETUP_MS).catch(async (error) => {
      throw await this.#explain(error, opened);
    });
    if (setup.isUnderWay) await config.patch({ [id]: patch }, { admin: true });
  }

  /** Shows a step. An invalid step ends the setup: its followers would wait for nothing. */
  #show(setup: SetupFlow, step: Parameters<HostApi["showStep"]>[0]): void {
    try {
      setup.show(step);
    } catch (error) {
      setup.end("failed", (error as Error).message);
      void this.#cancel("setup");
    }
  }

  async #cancel(trial: Trial): Promise<void> {
    const underWay = this.#underWay.get(trial);
    underWay?.cancelled.abort();
    await underWay?.ended;
  }

  /**
   * Turns a failure into an error that an author or user can act on; a plugin's own expected failure is one
   * already.
   */
  async #explain(error: unknown, opened: LoadedProcess): Promise<Error> {
    const isItsOwn = error instanceof MantelError && !(error instanceof NotBegun);
    if (isItsOwn && error.code !== "outcome_unknown") return error;
    return this.#parts.loader.explain(error, opened);
  }
}

async function within<T>(
  opened: LoadedProcess,
  work: (opened: LoadedProcess) => Promise<T>,
  cancelled: AbortSignal,
): Promise<T> {
  const { generation } = opened;
  const end = () => void generation.end("the trial was cancelled");
  const health = new Heartbeat(generation, () => undefined);
  try {
    cancelled.addEventListener("abort", end);
    if (cancelled.aborted) end();
    return await work(opened);
  } finally {
    health.stop();
    await generation.terminate();
  }
}
