import { constants } from "node:os";
import type { NetworkFailure } from "@mantel/plugin-sdk/protocol";

/** A Node error as data: the one that a process would get if it connected without the host. */
export function failureOf(error: unknown): NetworkFailure {
  const { message, code, errno, syscall, hostname, address, port, errors } = (error ??
    {}) as Partial<NetworkFailure> & { errors?: readonly unknown[] };
  return {
    message: String(message),
    code: typeof code === "string" ? code : "ECONNREFUSED",
    ...(typeof errno === "number" ? { errno } : {}),
    ...(typeof syscall === "string" ? { syscall } : {}),
    ...(typeof hostname === "string" ? { hostname } : {}),
    ...(typeof address === "string" ? { address } : {}),
    ...(typeof port === "number" ? { port } : {}),
    ...(Array.isArray(errors) ? { errors: errors.map(failureOf) } : {}),
  };
}

/** A failure that the host itself reports. @param why follows Node's message */
export function connectFailure(
  code: "ETIMEDOUT" | "EMFILE" | "ECONNABORTED",
  target: Pick<NetworkFailure, "address" | "port">,
  why: string,
): NetworkFailure {
  const { address, port } = target;
  const where = [address, port].filter((part) => part !== undefined).join(":");
  const message = `connect ${code} ${where} - ${why}`;
  return { message, code, errno: -constants.errno[code], syscall: "connect", ...target };
}

/** @param why follows Node's message */
export function lookupFailure(hostname: string, why: string): NetworkFailure {
  const [code, syscall] = ["EAI_AGAIN", "getaddrinfo"];
  const message = `${syscall} ${code} ${hostname} - ${why}`;
  return { message, code, errno: -3001, syscall, hostname }; // UV_EAI_AGAIN
}
