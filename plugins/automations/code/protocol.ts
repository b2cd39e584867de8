import type { Run, StepRequest, StepResult } from "../engine/automation.ts";
import type { Condition, Mode, Trigger } from "../engine/document.ts";

/** A device or scene that code finds by its name. */
export interface NamedThing {
  readonly id: string;
  /** The kind of a device; `scene` for a scene. */
  readonly kind: string;
  readonly name: string;
}

/** An automation as its file defines it. */
export interface Definition {
  readonly name: string;
  readonly mode: Mode;
  readonly enabled: boolean;
  readonly triggers: readonly Trigger[];
  readonly conditions: readonly Condition[];
}

/** One version of a file. Its number is unique in the life of the plugin's process. */
export interface Version {
  readonly number: number;
  readonly file: string;
  readonly code: string;
  readonly map: string;
  /** The devices that names meant when they were first used, by kind and name. */
  readonly names: Readonly<Record<string, string>>;
}

/** The place of an error in the author's file. */
export interface CodeFault {
  readonly message: string;
  readonly line?: number;
}

export interface Loaded {
  readonly definitions: readonly Definition[];
  readonly names: Readonly<Record<string, string>>;
  /** The first values of variables by their names. */
  readonly variables: Readonly<Record<string, unknown>>;
  /** Sentences, such as about a name that no device has. */
  readonly warnings: readonly string[];
}

export type ToThread =
  | { readonly kind: "home"; readonly things: readonly NamedThing[] }
  | { readonly kind: "load"; readonly version: Version }
  | { readonly kind: "forget"; readonly version: number }
  | {
      readonly kind: "run";
      readonly version: number;
      /** The place of the automation in its file. */
      readonly index: number;
      readonly call: number;
      readonly run: Pick<Run, "id" | "startedAt" | "trigger">;
    }
  | {
      readonly kind: "result";
      readonly call: number;
      readonly step: number;
      readonly result: StepResult;
    }
  | { readonly kind: "cancel"; readonly call: number }
  | { readonly kind: "ping"; readonly ping: number };

export type FromThread =
  | ({ readonly kind: "loaded"; readonly version: number } & Loaded)
  | ({ readonly kind: "failed"; readonly version: number } & CodeFault)
  | {
      readonly kind: "step";
      readonly call: number;
      readonly step: number;
      /** The place in the file, with a number if it is passed again; unique in the run. */
      readonly at: string;
      readonly request: StepRequest;
    }
  | { readonly kind: "ended"; readonly call: number; readonly fault?: CodeFault }
  /** Code of a version failed outside of its runs. */
  | ({ readonly kind: "crashed"; readonly version: number } & CodeFault)
  | {
      readonly kind: "printed";
      readonly version: number;
      readonly level: "info" | "warn" | "error";
      readonly text: string;
    }
  | { readonly kind: "pong"; readonly ping: number };
