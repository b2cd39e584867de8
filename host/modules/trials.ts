import { MantelError } from "@mantel/plugin-sdk/errors";
import type { HostApi } from "@mantel/plugin-sdk/protocol";
import { type Handlers, NotBegun } from "@mantel/plugin-sdk/rpc";
import type { Trial } from "@mantel/plugin-sdk/trial";
import { type Static, Type } from "typebox";
import { optionSchema } from "../config/option-schema.ts";
import type { ConfigStore } from "../config/store.ts";
import type { Build } from "./code/build.ts";
import type { Generation } from "./process/generation.ts";
import { HealthWatch } from "./process/health.ts";
import { type Opened, type Preparation, surroundings } from "./reload/prepare.ts";
import { Setup, SETUP_MS, type SetupView } from "./setup.ts";

const TEST_MS = 15_000;
const LOAD_MS = 10_000;
const ANSWER_MS = 2_000;
const DETAIL_LENGTH = 500;

/** What a test of options has found. */
export const TestResult = Type.Object({
  ok: Type.Boolean(),
  /** What was found or, when that is not what it should be, what is wrong. For people. */
  detail: Type.String(),
  durationMs: Type.Number(),
});
export type TestResult = Static<typeof TestResult>;

interface TrialsParts {
  readonly id: string;
  readonly config: ConfigStore;
  readonly preparation: Preparation;
  /** The code that runs, or ran last. */
  readonly build: () => Build | undefined;
}

interface UnderWay {
  readonly cancelled: AbortController;
  readonly ended: Promise<unknown>;
}

/**
 * Tries out the code of one module in processes of their own, which are confined like the module's and
 * publish nothing: `test` tries options that nobody has stored, `setup` leads a person to options that
 * then are. What runs is not touched.
 */
export class Trials {
  readonly #parts: TrialsParts;
  /** At most one of each kind. */
  readonly #underWay = new Map<Trial, UnderWay>();
  #setup: Setup | undefined;

  constructor(parts: TrialsParts) {
    this.#parts = parts;
  }

  /**
   * Tries the options that the module would have after a merge patch of its section. Secrets that the
   * patch leaves out are those that are stored.
   *
   * @throws MantelError `invalid` when they do not fit; `module_busy`, `module_down`, `reload_failed`
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

  /** Begins a setup. How it goes, its failures included, is in its view. @throws MantelError `module_busy`, `module_down` */
  beginSetup(): SetupView {
    this.#assertPossible("setup");
    let process: Generation | undefined;
    const setup = new Setup(async (answer) => process?.peer.call("answer", answer, ANSWER_MS));
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

  /** The setup under way, or the last one. @throws MantelError `not_found` */
  get setup(): SetupView {
    return this.#known().view;
  }

  /** @throws MantelError `invalid` with every fault, or when that step waits for no answer; `not_found` */
  async answerSetup(answer: { step: number; answer: unknown }): Promise<SetupView> {
    const setup = this.#known();
    await setup.answer(answer);
    return setup.view;
  }

  /** Ends a setup that is under way; what it has done at the other side stays. @throws MantelError `not_found` */
  async cancelSetup(): Promise<SetupView> {
    const setup = this.#known();
    setup.end("cancelled");
    await this.#cancel("setup");
    return setup.view;
  }

  /** Ends all that is under way. */
  async close(): Promise<void> {
    this.#setup?.end("cancelled");
    await Promise.all([this.#cancel("test"), this.#cancel("setup")]);
  }

  #known(): Setup {
    if (this.#setup) return this.#setup;
    throw new MantelError("not_found", `no setup of ${this.#parts.id} has begun`);
  }

  #assertPossible(trial: Trial): void {
    const { id, build } = this.#parts;
    if (this.#underWay.has(trial)) {
      throw new MantelError("module_busy", `a ${trial} of ${id} is under way; end it first`);
    }
    if (build()) return;
    throw new MantelError("module_down", `the code of ${id} was never loaded; enable it first`);
  }

  /** Does `work` with a new process that has the module's code, and that ends with it. */
  async #inProcess<T>(
    trial: Trial,
    work: (opened: Opened) => Promise<T>,
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

  async #open(trial: Trial, api: Partial<Handlers<HostApi>>): Promise<Opened> {
    const { id, preparation, build } = this.#parts;
    const current = build();
    if (!current) throw new MantelError("module_down", `the code of ${id} is gone`);
    const opened = await preparation.open(current, { deadlineMs: LOAD_MS, api });
    const { trials } = opened.loaded as { trials: unknown }; // from another process
    if (Array.isArray(trials) && trials.includes(trial)) return opened;
    await opened.generation.terminate();
    throw new MantelError("invalid", `${id} has no ${trial}`);
  }

  async #ask(opened: Opened, config: unknown): Promise<Pick<TestResult, "ok" | "detail">> {
    const { generation, build } = opened;
    const request = { config, ...surroundings(build.plugin, this.#parts.config) };
    try {
      const found = await generation.peer.call("test", request, TEST_MS);
      return { ok: true, detail: String(found).slice(0, DETAIL_LENGTH) };
    } catch (error) {
      const { message } = await this.#explain(error, opened);
      return { ok: false, detail: message.slice(0, DETAIL_LENGTH) };
    }
  }

  async #lead(setup: Setup, opened: Opened): Promise<void> {
    const { id, config } = this.#parts;
    const { generation, build, loaded } = opened;
    const { options } = config.optionsFor(id, optionSchema(loaded.options));
    const request = { config: options, ...surroundings(build.plugin, config) };
    const patch = await generation.peer.call("setup", request, SETUP_MS).catch(async (error) => {
      throw await this.#explain(error, opened);
    });
    if (setup.isUnderWay) await config.patch({ [id]: patch }, { admin: true });
  }

  /** A step that is none ends the setup: whoever follows it would wait for nothing. */
  #show(setup: Setup, step: Parameters<HostApi["showStep"]>[0]): void {
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

  /** What an author or a person can act on; a plugin's own expected failure is that already. */
  async #explain(error: unknown, opened: Opened): Promise<Error> {
    const isItsOwn = error instanceof MantelError && !(error instanceof NotBegun);
    if (isItsOwn && error.code !== "outcome_unknown") return error;
    return this.#parts.preparation.explain(error, opened);
  }
}

async function within<T>(
  opened: Opened,
  work: (opened: Opened) => Promise<T>,
  cancelled: AbortSignal,
): Promise<T> {
  const { generation } = opened;
  const end = () => void generation.end("the trial was cancelled");
  const health = new HealthWatch(generation, () => undefined);
  try {
    cancelled.addEventListener("abort", end);
    if (cancelled.aborted) end();
    return await work(opened);
  } finally {
    health.stop();
    await generation.terminate();
  }
}
