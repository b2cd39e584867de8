import type { Static, TObject } from "typebox";
import type { PluginContext } from "./context.ts";

/** What of a plugin may be tried out in a process of its own, beside the one that works. */
export const TRIALS = ["test", "setup"] as const;
export type Trial = (typeof TRIALS)[number];

/** A plugin's context without anything that reaches the house: a trial changes nothing in it. */
export type TrialContext<Options> = Pick<
  PluginContext<Options, never>,
  "id" | "config" | "house" | "log" | "signal" | "onDispose" | "call"
>;

/** What a setup shows to whoever follows it on the settings page. */
export interface SetupStep {
  /** At most 200 characters. */
  readonly title: string;
  /** What to do now, or what is going on; at most 2,000 characters. */
  readonly text?: string;
  /** Percent; absent when nobody knows how long it takes. */
  readonly progress?: number;
}

export interface SetupContext<Options> extends TrialContext<Partial<Options>> {
  /** Shows a step in place of the one before, and goes on. */
  show(step: SetupStep): void;
  /**
   * Shows a step with a form, and resolves with the answer, which fits `form`: an object schema, whose
   * choices are unions of literals with a `title` each and whose secrets are `writeOnly`. An answer to a
   * field that is named like an option opens the hosts that the manifest names as `config:<option>`.
   */
  ask<Form extends TObject>(step: SetupStep & { readonly form: Form }): Promise<Static<Form>>;
}

/** What a setup changes in the plugin's options; `null` puts one back to its default. */
export type OptionsPatch<Options> = { readonly [Key in keyof Options]?: Options[Key] | null };
