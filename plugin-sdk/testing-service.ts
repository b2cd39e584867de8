import type { TSchema } from "typebox";
import { Errors } from "typebox/schema";
import { type ErrorCode, MantelError } from "./errors.ts";
import { type ProvidedService, type ServiceDefinition, serviceKey } from "./service.ts";

/** Calls one of these fakes of services, with the checks of the host. */
export async function callFake(
  fakes: readonly ProvidedService[],
  name: string,
  input: unknown,
): Promise<unknown> {
  const fake = fakes.find(({ definition }) => serviceKey(definition) === name);
  if (fake) return checkedCall(fake.definition, input, () => fake.handler(input as never));
  throw new MantelError(
    "service_unavailable",
    `no plugin provides ${name}; pass a fake under "services"`,
  );
}

/** Runs a call of a service between checks of its input and its answer. */
export async function checkedCall(
  definition: ServiceDefinition,
  input: unknown,
  work: () => unknown,
): Promise<unknown> {
  const key = serviceKey(definition);
  requireFit(definition.input, input, { code: "invalid", what: `the input of ${key}` });
  const answer = structuredClone(await work());
  const { output } = definition;
  if (output)
    requireFit(output, answer, { code: "service_unavailable", what: `the answer of ${key}` });
  return output ? answer : undefined;
}

function requireFit(
  schema: TSchema,
  value: unknown,
  { code, what }: { readonly code: ErrorCode; readonly what: string },
): void {
  const [fits, [fault]] = Errors(schema, value);
  if (fits) return;
  const { instancePath = "", message = "does not fit" } = fault ?? {};
  throw new MantelError(
    code,
    `${what} is invalid: ${instancePath || "the whole value"} ${message}`,
  );
}
