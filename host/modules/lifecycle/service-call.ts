import { MantelError } from "@mantel/plugin-sdk/errors";
import type { ServiceDefinition } from "@mantel/plugin-sdk/service";
import {
  answerFault,
  checkInput,
  errorForCaller,
  type ServiceDefinitions,
} from "../../services/definitions.ts";
import type { ServiceCall } from "../../services/registry.ts";
import type { CallChecks } from "./call-router.ts";
import type { Live } from "./handover.ts";

/** Checks one call of a service by the definition of the code that takes it. */
export class CheckedServiceCall implements CallChecks {
  readonly #id: string;
  readonly #call: ServiceCall;
  readonly #warn: (sentence: string, fault: string) => void;
  #definition: ServiceDefinition | undefined;

  /** `warn` writes to the provider's log. */
  constructor(id: string, call: ServiceCall, warn: (sentence: string, fault: string) => void) {
    this.#id = id;
    this.#call = call;
    this.#warn = warn;
  }

  /** @throws MantelError `service_unavailable` if the code does not provide the service; `invalid` */
  before({ services }: Pick<Live, "services">): void {
    const { key, input } = this.#call;
    this.#definition = services.get(key);
    if (!this.#definition) {
      const sentence = `${this.#id} does not provide ${key}: its start returned no such service`;
      throw new MantelError("service_unavailable", sentence);
    }
    checkInput(this.#definition, input);
  }

  /** Returns the answer for the caller. @throws MantelError `service_unavailable` for a wrong answer */
  after(answer: unknown): unknown {
    if (!this.#definition?.output) return undefined;
    const fault = answerFault(this.#definition, answer);
    if (fault === undefined) return answer;
    const { key } = this.#call;
    this.#warn(`a service gave a wrong answer`, `${key}: ${fault}`);
    const sentence = `${key} of ${this.#id} gave a wrong answer; see the log of ${this.#id}`;
    throw new MantelError("service_unavailable", sentence);
  }

  get isRepeatable(): boolean {
    return this.#definition?.repeatable === true;
  }

  told(error: unknown): unknown {
    return this.#definition ? errorForCaller(this.#definition, error) : error;
  }
}

/** The time limit of a call: the caller's, that of the definition, or that of the module. */
export function deadlineOf(
  { deadlineMs, key }: ServiceCall,
  services: ServiceDefinitions,
  callMs: number,
): number {
  return deadlineMs ?? services.get(key)?.deadlineMs ?? callMs;
}
