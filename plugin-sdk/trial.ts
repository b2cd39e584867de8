import type { TObject } from "typebox";
import type { PluginContext } from "./context.ts";
import type { HomeSettings } from "./home.ts";
import type { ValueOf } from "./schema.ts";

/** The functions of a plugin that run in a separate process, beside the running module. */
export const TRIALS = ["test", "setup"] as const;
export type Trial = (typeof TRIALS)[number];

/** The context of `test`. It lacks devices, scenes and publishing, so a test changes nothing in the home. */
export interface TrialContext<Options> extends Pick<
  PluginContext<Options, never>,
  "id" | "config" | "log" | "signal" | "onDispose" | "call" | "discover"
> {
  readonly home: HomeSettings;
}

/** A step of a setup, shown on the settings page. */
export interface SetupStep {
  /** At most 200 characters. */
  readonly title: string;
  /** Instructions or a status, at most 2,000 characters. */
  readonly text?: string;
  /** Progress in percent; absent when it is unknown. */
  readonly progress?: number;
}

/** The context of `setup`. */
export interface SetupContext<Options> extends TrialContext<Partial<Options>> {
  /** Replaces the shown step and returns immediately. */
  show(step: SetupStep): void;
  /**
   * Shows a step with a form and resolves with the user's answer, validated against `form`. Write a choice as a
   * union of literals with a `title` each; mark secrets with `writeOnly`. If a field has the name of an option, the
   * plugin may connect to the hosts in its answer when the manifest declares `config:<option>`.
   */
  ask<Form extends TObject>(step: SetupStep & { readonly form: Form }): Promise<ValueOf<Form>>;
}

/** The options that a setup changes. `null` resets an option to its default. */
export type OptionsPatch<Options> = { readonly [Key in keyof Options]?: Options[Key] | null };
