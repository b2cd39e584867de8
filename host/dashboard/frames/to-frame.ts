import type { Device } from "@mantel/plugin-sdk/device";
import type { Needs } from "@mantel/plugin-sdk/needs";
import type { CommandResult, TileSize } from "@mantel/plugin-sdk/widget";
import type { HandedOverState } from "../handed-over-state.ts";
import type { UiSettings } from "../store.ts";
import type { Theme } from "../theme.ts";

/** Translations by English text. */
export interface FrameTexts {
  readonly vocabulary: Readonly<Record<string, string>>;
  /** Those of the widget's own texts. */
  readonly own: Readonly<Record<string, string>>;
}

/** The context of a framed widget. An update contains only the changed fields. */
export interface FrameState {
  readonly theme: Theme;
  readonly online: boolean;
  /** BCP 47. */
  readonly locale: string;
  readonly language: string;
  /** The texts of the language pack for the widget; `null` if there is no pack. */
  readonly texts: FrameTexts | null;
  readonly direction: string;
  readonly timeZone: string;
  /** Milliseconds by which the clock of the screen is ahead of the home's; 0 if it is right. */
  readonly aheadMs: number;
  readonly units: UiSettings["units"];
  /** The window of the dashboard, in CSS pixels, which media queries of widgets refer to. */
  readonly viewport: { readonly width: number; readonly height: number };
  readonly config: Readonly<Record<string, unknown>>;
  readonly size: TileSize;
  readonly visible: boolean;
  /** Minimum height of a tile that follows its content; `null` for one that fills its cells. */
  readonly flow: string | null;
}

/** A font of the dashboard; a frame has no network to load it. */
export interface FrameFont {
  readonly family: string;
  readonly weight: string;
  readonly unicodeRange: string;
  readonly data: ArrayBuffer;
}

/** The answer to `read`: a document, or the error. */
export type ReadAnswer =
  | { readonly type: string; readonly body: ArrayBuffer }
  | { readonly error: string };

/** The answer to a call of a service: its result, or the error. */
export type ServiceAnswer =
  | { readonly result: unknown }
  | { readonly error: { readonly code: string; readonly message: string } };

/** Messages from the dashboard to a frame, sent by structured clone. */
export type ToFrame =
  | { readonly kind: "fonts"; readonly fonts: readonly FrameFont[] }
  | {
      readonly kind: "mount";
      readonly instance: string;
      readonly module: string;
      readonly hash: string;
      readonly code: string;
      readonly needs: Needs;
      readonly state: FrameState;
      readonly devices: readonly Device[];
      readonly channels: Readonly<Record<string, unknown>>;
      readonly icons: Readonly<Record<string, string>>;
      /**
       * The state of the previous code if it ran in the page. Another frame sends it through a
       * port.
       */
      readonly handedOver: HandedOverState | undefined;
    }
  | { readonly kind: "describe"; readonly code: string }
  | { readonly kind: "change"; readonly change: Partial<FrameState> }
  | { readonly kind: "devices"; readonly all: readonly Device[] }
  | { readonly kind: "device"; readonly device: Device }
  | { readonly kind: "channel"; readonly name: string; readonly value: unknown }
  | { readonly kind: "icon"; readonly name: string; readonly path: string }
  | {
      readonly kind: "answer";
      readonly call: number;
      readonly answer: CommandResult | ReadAnswer | ServiceAnswer;
    }
  | { readonly kind: "handOver" }
  | { readonly kind: "ping" };
