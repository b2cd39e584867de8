/** Functions of Node that sleep in a system call. */
const EXAMPLES = {
  wait: "Atomics.wait",
  file: "readFileSync of a pipe",
  program: "execSync",
} as const;

type Kind = keyof typeof EXAMPLES;

/** Numbers of system calls (syscall(2)): futex, read, openat. Programs are waited for in all others. */
const KINDS: Readonly<Partial<Record<NodeJS.Architecture, Readonly<Record<number, Kind>>>>> = {
  x64: { 0: "file", 202: "wait", 257: "file" },
  arm64: { 56: "file", 63: "file", 98: "wait" },
  arm: { 3: "file", 240: "wait", 322: "file" },
};

/** A function of Node that sleeps in the system call with this number. */
export function exampleOf(syscall: number | undefined, architecture = process.arch): string {
  const kind = syscall === undefined ? undefined : KINDS[architecture]?.[syscall];
  return EXAMPLES[kind ?? "program"];
}
