import { Buffer } from "node:buffer";

/** Instructions of classic BPF (linux/filter.h, linux/bpf_common.h). */
const LOAD_WORD = 0x20;
const JUMP_IF_EQUAL = 0x15;
const JUMP_IF_GREATER_OR_EQUAL = 0x35;
const JUMP_IF_BITS_SET = 0x45;
const RETURN = 0x06;
const INSTRUCTION_BYTES = 8;

/** Offsets in `struct seccomp_data` (linux/seccomp.h). The low word of an argument comes first. */
const CALL_NUMBER = 0;
const ARCHITECTURE = 4;
const FIRST_ARGUMENT = 16;
const SECOND_ARGUMENT = 24;

/** Outcomes (linux/seccomp.h), with the errors of errno(3). */
const ALLOW = 0x7fff0000;
const FAIL_WITH = 0x00050000;
const EPERM = 1;
const EAFNOSUPPORT = 97;
const ENOSYS = 38;

/** Flags of clone(2) that make namespaces: cgroup, uts, ipc, user, pid, net and mount. */
const NEW_NAMESPACES = 0x7e020000;
/** Requests of ioctl(2) that type into a terminal (TIOCSTI, TIOCLINUX). */
const TERMINAL_INPUT = [0x5412, 0x541c];
/** Address families of socket(2) that reach kernel services or the machine's hypervisor (AF_ALG, AF_VSOCK). */
const REFUSED_FAMILIES = [38, 40];
/** System calls of the x32 ABI carry this bit (x86-64 only). */
const X32 = 0x40000000;

interface Architecture {
  /** AUDIT_ARCH_* of linux/audit.h. */
  readonly id: number;
  /** The column of its numbers in {@link DENIED}. */
  readonly column: 0 | 1 | 2;
  readonly clone: number;
  readonly ioctl: number;
  readonly socket: number;
}

/** Numbers from the kernel's tables: arch/x86/entry/syscalls, asm-generic/unistd.h, arch/arm/tools. */
const ARCHITECTURES: Partial<Record<NodeJS.Architecture, Architecture>> = {
  x64: { id: 0xc000003e, column: 0, clone: 56, ioctl: 16, socket: 41 },
  arm64: { id: 0xc00000b7, column: 1, clone: 220, ioctl: 29, socket: 198 },
  arm: { id: 0x40000028, column: 2, clone: 120, ioctl: 54, socket: 281 },
};

/**
 * System calls that a plugin never needs and that affect other processes, mounts, namespaces, keys or the
 * kernel itself: their numbers on x64, arm64 and arm.
 */
const DENIED: Readonly<Record<string, readonly [number, number, number]>> = {
  ptrace: [101, 117, 26],
  process_vm_readv: [310, 270, 376],
  process_vm_writev: [311, 271, 377],
  kcmp: [312, 272, 378],
  mount: [165, 40, 21],
  umount2: [166, 39, 52],
  pivot_root: [155, 41, 218],
  chroot: [161, 51, 61],
  unshare: [272, 97, 337],
  setns: [308, 268, 375],
  keyctl: [250, 219, 311],
  add_key: [248, 217, 309],
  request_key: [249, 218, 310],
  bpf: [321, 280, 386],
  perf_event_open: [298, 241, 364],
  userfaultfd: [323, 282, 388],
  kexec_load: [246, 104, 347],
  kexec_file_load: [320, 294, 401],
  init_module: [175, 105, 128],
  finit_module: [313, 273, 379],
  delete_module: [176, 106, 129],
  open_by_handle_at: [304, 265, 371],
  name_to_handle_at: [303, 264, 370],
  swapon: [167, 224, 87],
  swapoff: [168, 225, 115],
  reboot: [169, 142, 88],
  sethostname: [170, 161, 74],
  setdomainname: [171, 162, 121],
  settimeofday: [164, 170, 79],
  clock_settime: [227, 112, 262],
  adjtimex: [159, 171, 124],
  clock_adjtime: [305, 266, 372],
  acct: [163, 89, 51],
  quotactl: [179, 60, 131],
  syslog: [103, 116, 103],
  personality: [135, 92, 136],
};

/** Newer calls have the same number everywhere: open_tree to fspick, pidfd_getfd, mount_setattr, quotactl_fd. */
const DENIED_EVERYWHERE = [428, 429, 430, 431, 432, 433, 438, 442, 443];
/** These fail as if the kernel lacked them, so that libraries use older calls: io_uring_*, clone3. */
const ABSENT_EVERYWHERE = [425, 426, 427, 435];

/**
 * A seccomp filter as `bwrap --seccomp` reads it: an array of `struct sock_filter` (seccomp(2)).
 * `undefined` for an architecture without a table.
 */
export function seccompFilter(
  architecture: NodeJS.Architecture = process.arch,
): Buffer | undefined {
  const table = ARCHITECTURES[architecture];
  if (!table) return undefined;
  const program = new Program();
  program.load(ARCHITECTURE);
  program.failUnlessEqual(table.id, ENOSYS); // such as 32-bit calls of a 64-bit process
  program.load(CALL_NUMBER);
  if (architecture === "x64") program.failIf(JUMP_IF_GREATER_OR_EQUAL, X32, ENOSYS);
  const denied = Object.values(DENIED).map((numbers) => numbers[table.column]);
  for (const number of [...denied, ...DENIED_EVERYWHERE]) {
    program.failIf(JUMP_IF_EQUAL, number, EPERM);
  }
  for (const number of ABSENT_EVERYWHERE) program.failIf(JUMP_IF_EQUAL, number, ENOSYS);
  program.ofCall(table.clone, FIRST_ARGUMENT, (argument) =>
    argument.failIf(JUMP_IF_BITS_SET, NEW_NAMESPACES, EPERM),
  );
  program.ofCall(table.ioctl, SECOND_ARGUMENT, (argument) => {
    for (const request of TERMINAL_INPUT) argument.failIf(JUMP_IF_EQUAL, request, EPERM);
  });
  program.ofCall(table.socket, FIRST_ARGUMENT, (argument) => {
    for (const family of REFUSED_FAMILIES) argument.failIf(JUMP_IF_EQUAL, family, EAFNOSUPPORT);
  });
  program.allow();
  return program.bytes();
}

/** A filter program under construction. */
class Program {
  readonly #instructions: Buffer[] = [];

  load(offset: number): void {
    this.#add(LOAD_WORD, 0, 0, offset);
  }

  failUnlessEqual(value: number, error: number): void {
    this.#add(JUMP_IF_EQUAL, 1, 0, value);
    this.#add(RETURN, 0, 0, FAIL_WITH | error);
  }

  failIf(jump: number, value: number, error: number): void {
    this.#add(jump, 0, 1, value);
    this.#add(RETURN, 0, 0, FAIL_WITH | error);
  }

  /** Checks an argument of one call. Calls that pass are allowed. */
  ofCall(number: number, offset: number, check: (argument: Program) => void): void {
    const argument = new Program();
    argument.load(offset);
    check(argument);
    argument.allow();
    this.#add(JUMP_IF_EQUAL, 0, argument.#instructions.length, number);
    this.#instructions.push(...argument.#instructions);
  }

  allow(): void {
    this.#add(RETURN, 0, 0, ALLOW);
  }

  bytes(): Buffer {
    return Buffer.concat(this.#instructions);
  }

  #add(code: number, ifTrue: number, ifFalse: number, value: number): void {
    const instruction = Buffer.alloc(INSTRUCTION_BYTES);
    instruction.writeUInt16LE(code, 0);
    instruction.writeUInt8(ifTrue, 2);
    instruction.writeUInt8(ifFalse, 3);
    instruction.writeUInt32LE(value >>> 0, 4);
    this.#instructions.push(instruction);
  }
}
