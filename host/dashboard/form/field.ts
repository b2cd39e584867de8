import type { NamedThing } from "@mantel/plugin-sdk/widget-settings";
import type { FieldSchema } from "./schema.ts";

/** Choices for the formats `device` and `room`, and for those of `NamedThing`. */
export interface FormChoices {
  readonly devices: readonly {
    readonly id: string;
    readonly name: string;
    readonly kind: string;
  }[];
  readonly rooms: readonly string[];
  /** Values with their names in the language of the page, by format. A format without them has a text input. */
  readonly named?: Readonly<
    Record<NamedThing, readonly (readonly [value: string, name: string])[]>
  >;
}

export interface FormRequest {
  /** The schema of an object: one input for each property. */
  readonly schema: FieldSchema;
  readonly values: Readonly<Record<string, unknown>>;
  readonly offers: FormChoices;
  /** Faults reported by the host, by JSON pointer (RFC 6901) into the values. */
  readonly faults?: ReadonlyMap<string, string>;
  /** Prefix of the input ids. Two forms on one page need different prefixes. */
  readonly id: string;
  /**
   * Called with all values after each change. Invalid values are included, and the form shows the
   * fault: the caller decides what to do. An absent value stands for the default.
   */
  readonly onChange: (values: Readonly<Record<string, unknown>>) => void;
}

/** One input, the location of its value and the function that changes it. */
export interface Field {
  readonly key: string;
  readonly schema: FieldSchema;
  readonly value: unknown;
  /** The JSON pointer of the value. */
  readonly pointer: string;
  readonly request: FormRequest;
  readonly set: (value: unknown) => void;
}

/** The JSON pointer of the value under a key. */
export function pointerTo(pointer: string, key: string): string {
  return `${pointer}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** The id of a field's input in the page. */
export function idOf({ request, pointer }: Field): string {
  return `${request.id}${pointer.replaceAll("/", "-")}`;
}
