import { faultsBelow } from "@mantel/plugin-sdk/capability";
import { withDefaults } from "@mantel/plugin-sdk/defaults";
import { MantelError } from "@mantel/plugin-sdk/errors";
import type { ShownStep } from "@mantel/plugin-sdk/protocol";
import { Nullable } from "@mantel/plugin-sdk/schema";
import { Type, type Static } from "typebox";
import { optionSchema } from "../../config/option-schema.ts";
import { check, faultsOf, invalid } from "../../validate.ts";

/** The deadline of a setup, including the time users need. */
export const SETUP_MS = 600_000;
const FORM_BYTES = 32_768;

const STATES = ["working", "asking", "done", "failed", "cancelled"] as const;

/** A setup as its followers see it. */
export const SetupView = Type.Object({
  /** `done`: the found options are stored. `failed` and `cancelled`: nothing is stored. */
  state: Type.Enum([...STATES]),
  /** The number of the current step; an answer names it. */
  step: Type.Integer({ minimum: 0 }),
  title: Type.String(),
  text: Nullable(Type.String()),
  /** Percent, if the plugin knows it. */
  progress: Nullable(Type.Number()),
  /** JSON Schema of the expected answer. Fields that are `writeOnly` are secrets. */
  form: Nullable(Type.Record(Type.String(), Type.Unknown())),
  /** The user-facing reason for its failure. */
  error: Nullable(Type.String()),
  /** The deadline, after which it is cancelled. */
  endsAt: Type.String({ format: "date-time" }),
});
export type SetupView = Static<typeof SetupView>;

/** A step as a plugin's process sends it. */
const Step = Type.Object({
  step: Type.Integer({ minimum: 1 }),
  title: Type.String({ minLength: 1, maxLength: 200 }),
  text: Type.Optional(Type.String({ maxLength: 2_000 })),
  progress: Type.Optional(Type.Number({ minimum: 0, maximum: 100 })),
  form: Type.Optional(Type.Unknown()),
});

/** The state of one setup: its steps and answers. It does not own the process. */
export class SetupFlow {
  readonly #pass: (answer: { step: number; answer: unknown }) => Promise<void>;
  #view: SetupView = {
    state: "working",
    step: 0,
    title: "Starting",
    text: null,
    progress: null,
    form: null,
    error: null,
    endsAt: new Date(Date.now() + SETUP_MS).toISOString(),
  };

  /** `pass` sends a valid answer to the plugin. */
  constructor(pass: SetupFlow["answer"]) {
    this.#pass = pass;
  }

  get view(): SetupView {
    return this.#view;
  }

  get isUnderWay(): boolean {
    return this.#view.state === "working" || this.#view.state === "asking";
  }

  /** Shows a step from the plugin's process. @throws MantelError `invalid` for an invalid step */
  show(sent: ShownStep): void {
    if (!this.isUnderWay) return;
    const { step, title, text = null, progress = null, form } = check(Step, sent, "the step");
    const schema = formOf(form);
    const state = schema ? "asking" : "working";
    const shown = { state, step, title, text, progress, form: schema ?? null } as const;
    this.#view = { ...this.#view, ...shown };
  }

  /** @throws MantelError `invalid` with every fault, or if this step expects no answer */
  async answer({ step, answer }: { step: number; answer: unknown }): Promise<void> {
    const { state, form, step: shown } = this.#view;
    if (state !== "asking" || !form || step !== shown) {
      const detail = `is ${step}, which expects no answer`;
      throw invalid("the answer", [{ pointer: "/step", detail }]);
    }
    const given = withDefaults(form, answer);
    const faults = faultsOf(form, given);
    if (faults.length > 0) throw invalid("the answer", faultsBelow("answer", faults));
    this.#view = { ...this.#view, state: "working", form: null };
    await this.#pass({ step, answer: given });
  }

  /** Ends the setup; its first end state stays. */
  end(state: "done" | "failed" | "cancelled", error: string | null = null): void {
    if (this.isUnderWay) this.#view = { ...this.#view, state, error, form: null };
  }
}

/** Checks that the form of a step can be shown by a browser and checked by the host. */
function formOf(form: unknown): SetupView["form"] | undefined {
  const schema = optionSchema(form) as SetupView["form"] | undefined;
  if (!schema) return undefined;
  if (schema["type"] !== "object")
    throw new MantelError("invalid", "a form must be an object schema");
  if (JSON.stringify(schema).length <= FORM_BYTES) return schema;
  throw new MantelError("invalid", `a form may have at most ${FORM_BYTES} bytes of JSON Schema`);
}
