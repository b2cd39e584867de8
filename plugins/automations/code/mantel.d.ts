// The module "mantel" of automations as code. Mantel writes this file; `home.d.ts` has the names of this home.
declare module "mantel" {
  /** Milliseconds. */
  export type Duration = number;
  export function seconds(count: number): Duration;
  export function minutes(count: number): Duration;
  export function hours(count: number): Duration;
  export function days(count: number): Duration;

  /** Starts an automation. Made by devices, `at`, `sun` and so on. */
  export interface Trigger {
    readonly kind: "trigger";
  }
  /** Checked when a trigger fires. */
  export interface Condition {
    readonly kind: "condition";
  }
  export type Weekday = "mon" | "tue" | "wed" | "thu" | "fri" | "sat" | "sun";
  /** `once`: a time that passed while Mantel did not run is made up for. Without it, it is left out. */
  export interface Missed {
    readonly missed?: "skip" | "once";
  }
  /** While the automation runs, a trigger is ignored (`single`), begins again, waits, or runs beside it. */
  export type Mode = "single" | "restart" | "queued" | "parallel";

  export interface Automation {
    /** All conditions must be met. */
    if(...conditions: Condition[]): Automation;
    /** The name in lists and logs. Without it, the name of the file. */
    named(name: string): Automation;
    mode(mode: Mode): Automation;
    /** Switches it off. */
    disabled(): Automation;
    /**
     * The actions. After a restart or a crash the function runs again from the beginning: steps that ended return their
     * recorded results at once. So everything that takes time or may differ goes through `run` and devices.
     */
    then(actions: (run: Run) => unknown): void;
  }
  /** Begins an automation. Any of the triggers starts it. */
  export function when(...triggers: Trigger[]): Automation;

  export interface Run {
    readonly id: string;
    /** Epoch milliseconds at which it began. */
    readonly startedAt: number;
    readonly trigger: TriggerEvent;
    /** A value in the body of a webhook, such as `run.body("who", "name")`. Its type is not checked. */
    body<T>(...path: readonly (string | number)[]): T;
    /** Waits, also through a restart. With `atMost` a random time between both. */
    wait(time: Duration, atMost?: Duration): Promise<void>;
    /** Waits for a trigger. False if it did not fire in this time. */
    waitFor(trigger: Trigger, timeout: Duration): Promise<boolean>;
    /** True if all conditions are met now. */
    check(...conditions: Condition[]): Promise<boolean>;
    /** Records a value, such as a random number. After a restart, the result is the recorded value. */
    value<T>(compute: () => T | Promise<T>): Promise<T>;
    /** Shows a message. False if that failed. */
    notify(
      message: string,
      options?: { readonly to?: string | readonly string[] },
    ): Promise<boolean>;
  }
  /** The event that started a run. */
  export interface TriggerEvent {
    /** The place among the triggers; -1 for a run by hand. */
    readonly index: number;
    readonly type: string;
    readonly at: number;
    readonly device?: string;
    readonly field?: string;
    readonly from?: unknown;
    readonly to?: unknown;
    readonly event?: string;
    readonly data?: unknown;
    readonly topic?: string;
    readonly payload?: string;
    /** The body of a webhook: JSON or a form as data, or else text. */
    readonly body?: unknown;
    readonly title?: string;
  }

  /**
   * A value that all automations of the file share. It lasts from one run to the next, and through saves, restarts and
   * crashes. Outside of a function it can be used in conditions.
   */
  export interface Variable<T> {
    readonly name: string;
    get(): Promise<T>;
    set(value: T): Promise<void>;
    /** Computes the value from the present one, and returns it. It may be called again if another run changes it. */
    update(compute: (value: T) => T | Promise<T>): Promise<T>;
    is(value: T): Condition;
    isAbove(limit: number): Condition;
    isBelow(limit: number): Condition;
    isKnown(): Condition;
  }
  /** A variable of plain data, which begins with a value. */
  export function variable(name: string, initial: number): Variable<number>;
  export function variable(name: string, initial: boolean): Variable<boolean>;
  export function variable(name: string, initial: string): Variable<string>;
  export function variable<T>(name: string, initial: T): Variable<T>;

  /** The devices of the home by kind and name. */
  export interface HomeDevices {}
  export interface HomeScenes {}
  type Fields = Readonly<Record<string, unknown>>;
  type Known<Kind extends string> = Kind extends keyof HomeDevices ? HomeDevices[Kind] : {};
  /** The names of a kind; any text before Mantel has written `home.d.ts`. */
  type NameOf<Kind extends string> = [keyof HomeDevices] extends [never]
    ? string
    : keyof Known<Kind> & string;
  type FieldsOf<Kind extends string, Name> = Name extends keyof Known<Kind>
    ? Known<Kind>[Name] extends { fields: infer F }
      ? F
      : Fields
    : Fields;
  type EventsOf<Kind extends string, Name> = Name extends keyof Known<Kind>
    ? Known<Kind>[Name] extends { events: infer E extends string }
      ? E
      : string
    : string;
  type Field<F> = keyof F & string;

  /** With `for`, the value must stay for that time. */
  interface Staying {
    readonly for?: Duration;
  }
  /** With `for`, the fields get their previous values back after that time. The run does not wait for it. */
  interface Lasting {
    readonly for?: Duration;
  }

  /** Commands resolve with false if the device refused them; the run continues. */
  export interface Device<F = Fields, E extends string = string> {
    readonly id: string;
    readonly name: string;
    changes<K extends Field<F>>(field: K, options?: Staying & { from?: F[K]; to?: F[K] }): Trigger;
    becomes<K extends Field<F>>(field: K, value: F[K], options?: Staying): Trigger;
    /** The value crosses the limit; it must fall by `hysteresis` below it before it can cross it again. */
    risesAbove(
      field: Field<F>,
      limit: number,
      options?: Staying & { hysteresis?: number },
    ): Trigger;
    fallsBelow(
      field: Field<F>,
      limit: number,
      options?: Staying & { hysteresis?: number },
    ): Trigger;
    /** The value enters the span between the limits. */
    crosses(
      field: Field<F>,
      limits: Staying & { above?: number; below?: number; hysteresis?: number },
    ): Trigger;
    /** A momentary event, such as the gesture of a button. */
    emits(event: E): Trigger;
    becomesUnavailable(options?: Staying): Trigger;
    becomesAvailable(options?: Staying): Trigger;
    is<K extends Field<F>>(field: K, value: F[K]): Condition;
    isAbove(field: Field<F>, limit: number): Condition;
    isBelow(field: Field<F>, limit: number): Condition;
    /** Met while the value is known. */
    isKnown(field: Field<F>): Condition;
    /** The present value, recorded in the run. */
    read<K extends Field<F>>(field: K): Promise<F[K] | undefined>;
    set(command: { readonly [K in Field<F>]?: F[K] }, options?: Lasting): Promise<boolean>;
    /** Changes a number evenly during a time. It ends early if the device is switched off. */
    ramp(field: Field<F>, to: number, time: Duration): Promise<boolean>;
  }
  export interface Switchable<F = Fields, E extends string = string> extends Device<F, E> {
    on(
      options?: Lasting & { readonly [K in Exclude<Field<F>, "on" | "for">]?: F[K] },
    ): Promise<boolean>;
    off(options?: Lasting): Promise<boolean>;
    turnsOn(options?: Staying): Trigger;
    turnsOff(options?: Staying): Trigger;
    readonly isOn: Condition;
    readonly isOff: Condition;
  }
  export interface BinarySensor<F = Fields, E extends string = string> extends Device<F, E> {
    opens(options?: Staying): Trigger;
    closes(options?: Staying): Trigger;
    readonly isOpen: Condition;
    readonly isClosed: Condition;
    detectsMotion(options?: Staying): Trigger;
    motionEnds(options?: Staying): Trigger;
    readonly seesMotion: Condition;
  }
  export interface Button<F = Fields, E extends string = string> extends Device<F, E> {
    /** A gesture of the button, such as `single`, `double` or `hold`. */
    gesture(name: E): Trigger;
  }
  export interface Cover<F = Fields, E extends string = string> extends Device<F, E> {
    open(): Promise<boolean>;
    close(): Promise<boolean>;
    stop(): Promise<boolean>;
    /** 0 is closed, 100 is open. */
    moveTo(position: number): Promise<boolean>;
  }
  export interface Thermostat<F = Fields, E extends string = string> extends Switchable<F, E> {
    /** Sets the temperature to reach, in °C. */
    heatTo(celsius: number, options?: Lasting): Promise<boolean>;
  }
  export interface Lock<F = Fields, E extends string = string> extends Device<F, E> {
    lock(): Promise<boolean>;
    unlock(): Promise<boolean>;
  }
  export interface Tracker<F = Fields, E extends string = string> extends Device<F, E> {
    arrives(): Trigger;
    leaves(): Trigger;
    readonly isHome: Condition;
    readonly isAway: Condition;
  }
  export interface Scene {
    readonly id: string;
    activate(): Promise<boolean>;
  }

  type Finds<
    Kind extends string,
    D extends
      | "device"
      | "switchable"
      | "binary"
      | "button"
      | "cover"
      | "thermostat"
      | "lock"
      | "tracker",
  > = <N extends NameOf<Kind>>(
    name: N,
  ) => {
    device: Device<FieldsOf<Kind, N>, EventsOf<Kind, N>>;
    switchable: Switchable<FieldsOf<Kind, N>, EventsOf<Kind, N>>;
    binary: BinarySensor<FieldsOf<Kind, N>, EventsOf<Kind, N>>;
    button: Button<FieldsOf<Kind, N>, EventsOf<Kind, N>>;
    cover: Cover<FieldsOf<Kind, N>, EventsOf<Kind, N>>;
    thermostat: Thermostat<FieldsOf<Kind, N>, EventsOf<Kind, N>>;
    lock: Lock<FieldsOf<Kind, N>, EventsOf<Kind, N>>;
    tracker: Tracker<FieldsOf<Kind, N>, EventsOf<Kind, N>>;
  }[D];

  /** The devices of the home by their names. A device that is renamed later is still found. */
  export const home: {
    readonly light: Finds<"light", "switchable">;
    readonly switch: Finds<"switch", "switchable">;
    readonly plug: Finds<"plug", "switchable">;
    readonly fan: Finds<"fan", "switchable">;
    readonly mediaPlayer: Finds<"media-player", "switchable">;
    readonly humidifier: Finds<"humidifier", "switchable">;
    readonly dehumidifier: Finds<"dehumidifier", "switchable">;
    readonly airConditioner: Finds<"air-conditioner", "thermostat">;
    readonly waterHeater: Finds<"water-heater", "thermostat">;
    readonly thermostat: Finds<"thermostat", "thermostat">;
    readonly group: Finds<"group", "switchable">;
    readonly siren: Finds<"siren", "switchable">;
    readonly sensor: Finds<"sensor", "device">;
    readonly binarySensor: Finds<"binary-sensor", "binary">;
    readonly button: Finds<"button", "button">;
    readonly doorbell: Finds<"doorbell", "button">;
    readonly cover: Finds<"cover", "cover">;
    readonly valve: Finds<"valve", "cover">;
    readonly lock: Finds<"lock", "lock">;
    readonly vacuum: Finds<"vacuum", "device">;
    readonly lawnMower: Finds<"lawn-mower", "device">;
    readonly alarm: Finds<"alarm", "device">;
    readonly camera: Finds<"camera", "device">;
    readonly tracker: Finds<"tracker", "tracker">;
    readonly weatherStation: Finds<"weather-station", "device">;
    readonly update: Finds<"update", "device">;
    /** A device of any kind by its id, such as `hue:light:3`. */
    device(id: string): Switchable & BinarySensor & Button;
    scene(
      name: [keyof HomeScenes] extends [never] ? string : Extract<keyof HomeScenes, string>,
    ): Scene;
  };

  /** A time of day such as `07:30`. */
  export function at(
    time: string,
    options?: Missed & { readonly days?: readonly Weekday[] },
  ): Trigger;
  /** The times of a cron expression with five fields, or six with seconds. */
  export function cron(expression: string, options?: Missed): Trigger;
  /** With `offset` below 0, so long before. */
  export const sun: {
    rises(options?: Missed & { readonly offset?: Duration }): Trigger;
    sets(options?: Missed & { readonly offset?: Duration }): Trigger;
    readonly isUp: Condition;
    readonly isDown: Condition;
  };
  /** A calendar by its id; `*` for all. `match` is a part of the title. `reminds` is at the alarms of events. */
  export function calendar(id: string): {
    starts(options?: Missed & { readonly match?: string; readonly offset?: Duration }): Trigger;
    ends(options?: Missed & { readonly match?: string; readonly offset?: Duration }): Trigger;
    reminds(options?: Missed & { readonly match?: string; readonly offset?: Duration }): Trigger;
    /** Met during an event. */
    isBusy(options?: { readonly match?: string }): Condition;
  };
  /** The first person comes home, or the last one leaves. */
  export const presence: { arrives(): Trigger; leaves(): Trigger };
  export const somebodyHome: Condition;
  export const nobodyHome: Condition;
  /** A message with this topic, or a filter with `+` and `#`. */
  export function mqtt(topic: string, payload?: string): Trigger;
  /** A request to the secret path of webhooks, followed by this name. */
  export function webhook(name: string): Trigger;
  /** The start of Mantel. */
  export function start(): Trigger;
  /** A span of the day, also across midnight. */
  export function between(after: string, before: string, days?: readonly Weekday[]): Condition;
  export function all(...conditions: Condition[]): Condition;
  export function any(...conditions: Condition[]): Condition;
  export function none(...conditions: Condition[]): Condition;
}

// The test kit of automations: `npm run test-automations` runs `automations/*.test.ts`.
declare module "mantel/testing" {
  type Value = boolean | number | string | { readonly hue: number; readonly saturation: number };
  type State = Readonly<Record<string, Value>>;
  export interface SimulatedDevice {
    /** Made from kind and name if absent. Documents name devices by their ids. */
    readonly id?: string;
    readonly kind: string;
    readonly name: string;
    readonly available?: boolean;
    readonly state: State;
    readonly parts?: readonly { readonly id: string; readonly state: State }[];
    readonly extra?: { readonly state: State };
  }
  /** Something that happens so many milliseconds after the start. Devices are named by name or id. */
  export type Happening = { readonly after: number } & (
    | { readonly device: string; readonly state: State }
    | { readonly device: string; readonly event: string }
    | { readonly webhook: string }
    | { readonly topic: string; readonly payload: string }
    | { readonly start: true }
  );
  export interface SimulatedCalendarEvent {
    readonly calendar: string;
    readonly title: string;
    /** Clock times such as `2026-06-21T21:40`. */
    readonly start: string;
    readonly end: string;
    readonly reminders?: readonly string[];
  }
  export interface Simulation {
    /** The clock time at the start, such as `2026-06-21T21:40`. */
    readonly at: string;
    /** Files such as `hall-light.ts`, beside the test, and documents. */
    readonly automations: readonly (string | object)[];
    readonly devices: readonly SimulatedDevice[];
    readonly happens?: readonly Happening[];
    readonly calendarEvents?: readonly SimulatedCalendarEvent[];
    /** The length in milliseconds; a day if absent. */
    readonly forMs?: number;
    /** IANA time zone; `UTC` if absent. */
    readonly timeZone?: string;
    /** Without it, the home has no sun. */
    readonly coordinates?: { readonly latitude: number; readonly longitude: number };
  }
  export interface SimulatedCommand {
    /** Clock time, such as `2026-06-21T21:40:10`. */
    readonly at: string;
    /** The name of the device, or the id of the scene. */
    readonly device: string;
    /** Empty for a scene. */
    readonly command: object;
    /** The file, or the id of the document. */
    readonly automation: string;
  }
  export interface SimulatedRun {
    readonly automation: string;
    readonly result: "running" | "completed" | "stopped" | "failed" | "cancelled";
    readonly error?: string;
  }
  export interface Simulated {
    readonly commands: readonly SimulatedCommand[];
    /** The texts of notifications. */
    readonly messages: readonly string[];
    readonly runs: readonly SimulatedRun[];
    /** Everything in order. Instants are ISO 8601 in UTC. */
    readonly timeline: readonly { readonly at: string; readonly kind: string }[];
  }
  /**
   * Lets automations run with a virtual clock in a home that is made up. Automations that are switched off run too.
   * Each command is confirmed at once. Rejects for a file that does not load or names a device that is not given.
   */
  export function simulate(simulation: Simulation): Promise<Simulated>;
  /** The function `test` of `node:test`. */
  export function test(title: string, check: () => unknown): void;
  /** Parts of `node:assert/strict`. */
  export const assert: {
    ok(value: unknown, message?: string): void;
    equal(actual: unknown, expected: unknown, message?: string): void;
    deepEqual(actual: unknown, expected: unknown, message?: string): void;
    match(actual: string, expected: RegExp, message?: string): void;
    rejects(promise: Promise<unknown>, expected?: RegExp): Promise<void>;
  };
}
