import { MantelError } from "@mantel/plugin-sdk/errors";
import type { ShownStep } from "@mantel/plugin-sdk/protocol";
import { Nullable } from "@mantel/plugin-sdk/schema";
import { Type, type Static } from "typebox";
import { optionSchema } from "../config/option-schema.ts";
import { below } from "../devices/capability.ts";
import { check, faultsOf, invalid, withDefaults } from "../validate.ts";

/** How long a setup may take, people included. */
export const SETUP_MS = 600_000;
const FORM_BYTES = 32_768;

const STATES = ["working", "asking", "done", "failed", "cancelled"] as const;

/** A setup as whoever follows it sees it. */
export const SetupView = Type.Object({
  /** `done`: what it found is stored. `failed` and `cancelled`: nothing is. */
  state: Type.Enum([...STATES]),
  /** The number of the step that is shown; an answer names it. */
  step: Type.Integer({ minimum: 0 }),
  title: Type.String(),
  text: Nullable(Type.String()),
  /** Percent, when the plugin knows. */
  progress: Nullable(Type.Number()),
  /** JSON Schema of the answer that is waited for. Fields that are `writeOnly` are secrets. */
  form: Nullable(Type.Record(Type.String(), Type.Unknown())),
  /** Why it failed, for people. */
  error: Nullable(Type.String()),
  /** When it is given up at the latest. */
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

/** What one setup shows and asks. The process behind it is somebody else's. */
export class Setup {
  readonly #pass: (answer: { step: number; answer: unknown }) => Promise<void>;
  #view: SetupView = {
    ...{ state: "working", step: 0, title: "Starting" },
    ...{ text: null, progress: null, form: null, error: null },
    endsAt: new Date(Date.now() + SETUP_MS).toISOString(),
  };

  /** `pass` gives an answer that fits to the plugin. */
  constructor(pass: Setup["answer"]) {
    this.#pass = pass;
  }

  get view(): SetupView {
    return this.#view;
  }

  get isUnderWay(): boolean {
    return this.#view.state === "working" || this.#view.state === "asking";
  }

  /** Shows what the plugin's process sent. @throws MantelError `invalid` when it is no step */
  show(sent: ShownStep): void {
    if (!this.isUnderWay) return;
    const { step, title, text = null, progress = null, form } = check(Step, sent, "the step");
    const schema = formOf(form);
    const state = schema ? "asking" : "working";
    const shown = { state, step, title, text, progress, form: schema ?? null } as const;
    this.#view = { ...this.#view, ...shown };
  }

  /** @throws MantelError `invalid` with every fault, or when this step does not ask */
  async answer({ step, answer }: { step: number; answer: unknown }): Promise<void> {
    const { state, form, step: shown } = this.#view;
    if (state !== "asking" || !form || step !== shown) {
      const detail = `is ${step}, which waits for no answer`;
      throw invalid("the answer", [{ pointer: "/step", detail }]);
    }
    const given = withDefaults(form, answer);
    const faults = faultsOf(form, given);
    if (faults.length > 0) throw invalid("the answer", below("answer", faults));
    this.#view = { ...this.#view, state: "working", form: null };
    await this.#pass({ step, answer: given });
  }

  /** Ends it; what has ended stays as it ended. */
  end(state: "done" | "failed" | "cancelled", error: string | null = null): void {
    if (this.isUnderWay) this.#view = { ...this.#view, state, error, form: null };
  }
}

/** The form of a step, known to be one that a browser can show and the host can check. */
function formOf(form: unknown): SetupView["form"] | undefined {
  const schema = optionSchema(form) as SetupView["form"] | undefined;
  if (!schema) return undefined;
  if (schema["type"] !== "object") throw new MantelError("invalid", "a form is an object schema");
  if (JSON.stringify(schema).length <= FORM_BYTES) return schema;
  throw new MantelError("invalid", `a form has at most ${FORM_BYTES} bytes of JSON Schema`);
}
